#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

Oid own_function(const char* name, const oidvector* arguments) {
  const Oid schema = get_namespace_oid("dpquantile", true);
  if (!OidIsValid(schema)) return InvalidOid;
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                         PointerGetDatum(arguments), ObjectIdGetDatum(schema));
}

Const* oid_constant(Oid oid) {
  return makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(oid), false, true);
}

Const* empty_array(Oid type) {
  const Oid array = get_array_type(type);
  return makeConst(array, -1, get_typcollation(array), -1,
                   PointerGetDatum(construct_empty_array(type)), false, false);
}

}  // namespace dpquantile
