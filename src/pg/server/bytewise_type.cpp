#include "pg/server/bytewise_type.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
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

bool looks_like_its_equals(const Node* expression) {
  if (IsA(expression, FuncExpr) && as<FuncExpr>(expression)->funcid == F_TRIM_SCALE) return true;
  const Oid collation = exprCollation(expression);
  int32 modifier = exprTypmod(expression);
  const Oid base = getBaseTypeAndTypmod(exprType(expression), &modifier);
  const bool is_fixed = modifier >= 0;
  if (base == NUMERICOID) return is_fixed;
  if (base == BPCHAROID) return is_fixed && get_collation_isdeterministic(collation);
  return is_bytewise(base, collation);
}

}  // namespace dpquantile
