#include "pg/restricted/counts_in_pg_class.hpp"

extern "C" {
#include "access/multixact.h"
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
}

namespace dpquantile {

namespace {

constexpr AttrNumber kCounts[] = {
    Anum_pg_class_relpages,
    Anum_pg_class_reltuples,
    Anum_pg_class_relallvisible,
#ifdef Anum_pg_class_relallfrozen
    Anum_pg_class_relallfrozen,
#endif
    // A new table gets the number of the next multixact. Each row that two transactions lock raises
    // this number by one.
    Anum_pg_class_relminmxid,
};

bool is_read(AttrNumber column, const Bitmapset* columns) {
  return bms_is_member(column - FirstLowInvalidHeapAttributeNumber, columns);
}

}  // namespace

bool is_count(AttrNumber column) {
  for (const AttrNumber count : kCounts) {
    if (column == count) return true;
  }
  return false;
}

Const* count_of_new_table(AttrNumber column) {
  if (column == Anum_pg_class_reltuples) {
    return makeConst(FLOAT4OID, -1, InvalidOid, sizeof(float4), Float4GetDatum(-1), false, true);
  }
  if (column == Anum_pg_class_relminmxid) {
    return makeConst(XIDOID, -1, InvalidOid, sizeof(MultiXactId),
                     TransactionIdGetDatum(FirstMultiXactId), false, true);
  }
  return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
}

bool reads_counts(const Bitmapset* columns) {
  if (is_read(InvalidAttrNumber, columns)) return true;
  for (const AttrNumber count : kCounts) {
    if (is_read(count, columns)) return true;
  }
  return false;
}

}  // namespace dpquantile
