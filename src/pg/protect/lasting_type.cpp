#include "pg/protect/lasting_type.hpp"

extern "C" {
#include "access/table.h"
#include "access/transam.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// Arrays, the elements of arrays and the base types of domains stay with the type of a column.
bool stays_with(Oid type, Oid column_type) {
  for (Oid kept = column_type; kept >= FirstNormalObjectId;) {
    if (type == kept || type == get_array_type(kept)) return true;
    const Oid base = getBaseType(kept);
    kept = base != kept ? base : get_element_type(kept);
  }
  return false;
}

bool is_of_column(Oid type, Oid table) {
  Relation relation = table_open(table, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(relation);
  bool is = false;
  for (int i = 0; i < columns->natts && !is; ++i) {
    const auto* column = TupleDescAttr(columns, i);
    is = !column->attisdropped && stays_with(type, column->atttypid);
  }
  table_close(relation, NoLock);
  return is;
}

}  // namespace

bool is_lasting_type(const JudgedLevel* level, Oid type) {
  if (type < FirstNormalObjectId) return true;
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const JudgedEntry& entry = entry_of(level, i);
    const bool is_table = entry.relation != nullptr || entry.is_joined_table;
    const RangeTblEntry* table = rt_fetch(i, level->query->rtable);
    if (is_table && table->rtekind == RTE_RELATION && is_of_column(type, table->relid)) return true;
    if (entry.source != nullptr && is_lasting_type(entry.source, type)) return true;
    if (entry.public_level != nullptr && is_lasting_type(entry.public_level->level, type)) {
      return true;
    }
  }
  return false;
}

}  // namespace dpquantile
