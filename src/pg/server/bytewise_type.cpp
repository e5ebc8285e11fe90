#include "pg/server/bytewise_type.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/datum.h"
#include "utils/float.h"
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

namespace {

// WHEN x = constant THEN constant, of a float8 or real with these bits.
bool replaces(const CaseWhen* when, const Node* value, double constant) {
  if (!IsA(when->expr, OpExpr) || !IsA(when->result, Const)) return false;
  const auto* test = as<OpExpr>(when->expr);
  const auto* result = as<Const>(when->result);
  const Oid function = get_opcode(test->opno);
  if ((function != F_FLOAT8EQ && function != F_FLOAT4EQ) || result->constisnull) return false;
  const Datum bits = result->consttype == FLOAT8OID ? Float8GetDatum(constant)
                                                    : Float4GetDatum(static_cast<float4>(constant));
  return equal(linitial(test->args), value) && equal(lsecond(test->args), result) &&
         datumIsEqual(result->constvalue, bits, result->constbyval, result->constlen);
}

// CASE WHEN x = 0 THEN 0 WHEN x = 'NaN' THEN 'NaN' ELSE x END is no -0, and no NaN of other bits.
bool has_one_of_equals(const CaseExpr* choice) {
  if (choice->arg != nullptr || list_length(choice->args) != 2) return false;
  const auto* value = as<Node>(choice->defresult);
  return replaces(static_cast<const CaseWhen*>(linitial(choice->args)), value, 0) &&
         replaces(static_cast<const CaseWhen*>(lsecond(choice->args)), value, get_float8_nan());
}

// Types of which equal values are written alike, whatever their bytes are: those of a name after
// its end do not count.
bool is_written_alike(Oid type, Oid collation) {
  switch (type) {
    case INETOID:
    case CIDROID:
    case MACADDROID:
    case MACADDR8OID:
      return true;
    case NAMEOID:
      return get_collation_isdeterministic(collation);
    default:
      return is_bytewise(type, collation);
  }
}

}  // namespace

bool looks_like_its_equals(const Node* expression) {
  if (IsA(expression, Const)) return true;
  if (IsA(expression, FuncExpr) && as<FuncExpr>(expression)->funcid == F_TRIM_SCALE) return true;
  const bool is_float = exprType(expression) == FLOAT8OID || exprType(expression) == FLOAT4OID;
  if (IsA(expression, CaseExpr) && is_float) {
    return has_one_of_equals(as<CaseExpr>(expression));
  }
  const Oid collation = exprCollation(expression);
  int32 modifier = exprTypmod(expression);
  const Oid base = getBaseTypeAndTypmod(exprType(expression), &modifier);
  const bool is_fixed = modifier >= 0;
  if (base == NUMERICOID) return is_fixed;
  if (base == BPCHAROID) return is_fixed && get_collation_isdeterministic(collation);
  return is_written_alike(base, collation);
}

}  // namespace dpquantile
