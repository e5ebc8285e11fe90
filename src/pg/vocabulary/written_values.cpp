#include "pg/vocabulary/written_values.hpp"

#include "pg/server/bytewise_type.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

Node* text_call(const Writing& of, Oid function, Oid result, Node* first, Node* second) {
  const Oid collation = of.collation;
  List* arguments = second == nullptr ? list_make1(first) : list_make2(first, second);
  FuncExpr* call =
      makeFuncExpr(function, result, arguments, result == TEXTOID ? collation : InvalidOid,
                   collation, COERCE_EXPLICIT_CALL);
  call->location = of.location;
  return as<Node>(call);
}

Node* text_constant(const char* text) {
  return as<Node>(
      makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false));
}

Node* as_text(const Writing& of, Node* value) {
  if (exprType(value) == TEXTOID) return value;
  if (getBaseType(exprType(value)) == VARCHAROID) {
    return as<Node>(
        makeRelabelType(as<Expr>(value), TEXTOID, -1, of.collation, COERCE_EXPLICIT_CAST));
  }
  CoerceViaIO* cast = makeNode(CoerceViaIO);
  cast->arg = as<Expr>(value);
  cast->resulttype = TEXTOID;
  cast->resultcollid = of.collation;
  cast->coerceformat = COERCE_EXPLICIT_CAST;
  cast->location = exprLocation(value);
  return as<Node>(cast);
}

Node* text_or(Node* text, const char* other) {
  CoalesceExpr* coalesce = makeNode(CoalesceExpr);
  coalesce->coalescetype = TEXTOID;
  coalesce->coalescecollid = exprCollation(text);
  coalesce->args = list_make2(text, text_constant(other));
  coalesce->location = exprLocation(text);
  return as<Node>(coalesce);
}

namespace {

Const* float_constant(Oid type, double value) {
  return type == FLOAT8OID ? makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
                                       Float8GetDatum(value), false, FLOAT8PASSBYVAL)
                           : makeConst(FLOAT4OID, -1, InvalidOid, sizeof(float4),
                                       Float4GetDatum(static_cast<float4>(value)), false, true);
}

// WHEN value = constant THEN constant
CaseWhen* replacing(Node* value, Const* constant) {
  CaseWhen* when = makeNode(CaseWhen);
  when->expr = make_opclause(lookup_type_cache(constant->consttype, TYPECACHE_EQ_OPR)->eq_opr,
                             BOOLOID, false, static_cast<Expr*>(copyObjectImpl(value)),
                             as<Expr>(constant), InvalidOid, InvalidOid);
  when->result = static_cast<Expr*>(copyObjectImpl(constant));
  when->location = -1;
  return when;
}

}  // namespace

Node* with_one_of_equals(Node* value) {
  const Oid type = exprType(value);
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = type;
  choice->args = list_make2(replacing(value, float_constant(type, 0)),
                            replacing(value, float_constant(type, get_float8_nan())));
  choice->defresult = as<Expr>(value);
  choice->location = -1;
  return as<Node>(choice);
}

namespace {

Node* call_of(Oid function, Oid result, List* arguments) {
  return as<Node>(makeFuncExpr(function, result, arguments, InvalidOid, DEFAULT_COLLATION_OID,
                               COERCE_EXPLICIT_CALL));
}

// The text of a float has as many digits as a setting says. Its 64 bits, mixed without a key, are
// the same for equal floats.
Node* bits_of_float(Node* value, Oid function) {
  Const* seed =
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL);
  return call_of(function, INT8OID, list_make2(value, seed));
}

// The same value for all equal ones, whose text depends on no setting in what it tells. Null if
// none is known.
Node* one_of_equals(const Node* value) {
  auto* copy = static_cast<Node*>(copyObjectImpl(value));
  Node* one = copy;
  switch (exprType(value)) {
    case BPCHAROID:
      one = as<Node>(makeFuncExpr(F_TEXT_BPCHAR, TEXTOID, list_make1(copy), exprCollation(value),
                                  exprCollation(value), COERCE_EXPLICIT_CALL));
      break;
    case FLOAT4OID:
      one = bits_of_float(copy, F_HASHFLOAT4EXTENDED);
      break;
    case FLOAT8OID:
      one = bits_of_float(copy, F_HASHFLOAT8EXTENDED);
      break;
    case TIMESTAMPTZOID:  // two times may have one text in a zone with summer time
      one = call_of(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID,
                    list_make2(text_constant("UTC"), copy));
      break;
    case NUMERICOID:
      one = call_of(F_TRIM_SCALE, NUMERICOID, list_make1(copy));
      break;
    default:
      break;
  }
  return looks_like_its_equals(one) ? one : nullptr;
}

// With its length before it, so that it is told where it ends; a NULL is no text with a length.
Node* delimited(const Writing& of, Node* value) {
  Node* text = as_text(of, value);
  Node* bytes = text_call(of, F_OCTET_LENGTH_TEXT, INT4OID,
                          static_cast<Node*>(copyObjectImpl(text)), nullptr);
  Node* begin = text_call(of, F_TEXTCAT, TEXTOID, as_text(of, bytes), text_constant(":"));
  return text_or(text_call(of, F_TEXTCAT, TEXTOID, begin, text), "-");
}

Node* text_of_row(const RowExpr* row, const Node** unknown) {
  const Writing writing = {DEFAULT_COLLATION_OID, row->location};
  Node* text = text_constant("");
  for (const auto* value : each<const Node>(row->args)) {
    Node* one = one_of_equals(value);
    if (one == nullptr) {
      *unknown = value;
      return nullptr;
    }
    text = text_call(writing, F_TEXTCAT, TEXTOID, text, delimited(writing, one));
  }
  return text;
}

}  // namespace

const Node* put_text_for_row(Aggref* call) {
  auto* value = static_cast<TargetEntry*>(linitial(call->args));
  if (!IsA(value->expr, RowExpr) || as<RowExpr>(value->expr)->row_typeid != RECORDOID) {
    return nullptr;
  }
  const Node* unknown = nullptr;
  Node* text = text_of_row(as<RowExpr>(value->expr), &unknown);
  if (unknown != nullptr) return unknown;
  value->expr = as<Expr>(text);
  linitial_oid(call->aggargtypes) = TEXTOID;
  call->inputcollid = DEFAULT_COLLATION_OID;
  return nullptr;
}

}  // namespace dpquantile
