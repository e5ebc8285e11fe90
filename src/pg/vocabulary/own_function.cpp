#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "utils/syscache.h"
}

namespace dpquantile {

Oid own_function(const char* name, const oidvector* arguments) {
  const Oid schema = get_namespace_oid("dpquantile", true);
  if (!OidIsValid(schema)) return InvalidOid;
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                         PointerGetDatum(arguments), ObjectIdGetDatum(schema));
}

}  // namespace dpquantile
