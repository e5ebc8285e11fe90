#include "pg/server/bytewise_type.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

bool is_bytewise(Oid type, Oid collation) {
  const Oid base = getBaseType(type);
  switch (base) {
    case BOOLOID:
    case CHAROID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case PG_LSNOID:
    case XID8OID:
    case UUIDOID:
    case BYTEAOID:
      return true;
    case TEXTOID:
    case VARCHAROID:
      return get_collation_isdeterministic(collation);
    default:
      return get_typtype(base) == TYPTYPE_ENUM;
  }
}

bool is_bytewise(Oid type, int32 modifier, Oid collation) {
  const Oid base = getBaseTypeAndTypmod(type, &modifier);
  const bool is_fixed = modifier >= 0;
  if (base == NUMERICOID) return is_fixed;
  if (base == BPCHAROID) return is_fixed && get_collation_isdeterministic(collation);
  return is_bytewise(base, collation);
}

}  // namespace dpquantile
