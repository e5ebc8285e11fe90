#include "pg/reuse/catalog_version.hpp"

extern "C" {
#include "access/htup_details.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

uint64 version_of(SysCacheIdentifier cache, Oid object) {
  const HeapTuple row = SearchSysCache1(cache, ObjectIdGetDatum(object));
  if (!HeapTupleIsValid(row)) return 0;
  const TransactionId writer = HeapTupleHeaderGetRawXmin(row->t_data);
  ReleaseSysCache(row);
  return writer;
}

void add_object(Fields* fields, SysCacheIdentifier cache, Oid object) {
  add_number(fields, object);
  add_number(fields, version_of(cache, object));
}

void add_relation(Fields* fields, Oid relation) {
  add_number(fields, relation);
  add_object(fields, TYPEOID, get_rel_type_id(relation));
}

}  // namespace dpquantile
