#include "pg/release/charged_tables.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/makefuncs.h"
}

namespace dpquantile {

namespace {

constexpr char kMark[] = "dpquantile charged tables";

// A VALUES list that a user writes may have the same alias. It has values.
bool is_mark(const RangeTblEntry* entry) {
  return entry->rtekind == RTE_VALUES && entry->values_lists == NIL &&
         strcmp(entry->eref->aliasname, kMark) == 0;
}

}  // namespace

// The column types of a VALUES entry have room for OIDs.
void mark_charged_tables(Query* query, List* tables) {
  RangeTblEntry* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_VALUES;
  entry->eref = makeAlias(kMark, NIL);
  entry->coltypes = tables;
  query->rtable = lappend(query->rtable, entry);
}

bool find_charged_tables(const Query* query, List** tables) {
  for (const auto* entry : each<const RangeTblEntry>(query->rtable)) {
    if (!is_mark(entry)) continue;
    *tables = entry->coltypes;
    return true;
  }
  return false;
}

}  // namespace dpquantile
