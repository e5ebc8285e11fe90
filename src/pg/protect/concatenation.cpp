#include "pg/protect/concatenation.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A function of texts with the collation of the call
Node* text_call(const FuncExpr* of, Oid function, Oid result, Node* first, Node* second) {
  const Oid collation = OidIsValid(of->inputcollid) ? of->inputcollid : DEFAULT_COLLATION_OID;
  List* arguments = second == nullptr ? list_make1(first) : list_make2(first, second);
  FuncExpr* call =
      makeFuncExpr(function, result, arguments, result == TEXTOID ? collation : InvalidOid,
                   collation, COERCE_EXPLICIT_CALL);
  call->location = of->location;
  return as<Node>(call);
}

Node* empty_text() {
  return as<Node>(
      makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(""), false, false));
}

Node* one() {
  return as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

// As the output function of the type writes it: of a boolean 't'.
Node* as_text(const FuncExpr* of, Node* value) {
  const Oid collation = OidIsValid(of->inputcollid) ? of->inputcollid : DEFAULT_COLLATION_OID;
  if (exprType(value) == TEXTOID) return value;
  if (getBaseType(exprType(value)) == VARCHAROID) {
    return as<Node>(makeRelabelType(as<Expr>(value), TEXTOID, -1, collation, COERCE_EXPLICIT_CAST));
  }
  CoerceViaIO* cast = makeNode(CoerceViaIO);
  cast->arg = as<Expr>(value);
  cast->resulttype = TEXTOID;
  cast->resultcollid = collation;
  cast->coerceformat = COERCE_EXPLICIT_CAST;
  cast->location = exprLocation(value);
  return as<Node>(cast);
}

Node* or_empty(Node* text) {
  CoalesceExpr* coalesce = makeNode(CoalesceExpr);
  coalesce->coalescetype = TEXTOID;
  coalesce->coalescecollid = exprCollation(text);
  coalesce->args = list_make2(text, empty_text());
  coalesce->location = exprLocation(text);
  return as<Node>(coalesce);
}

// All that is not NULL, each after the separator if there is one.
Node* joined(const FuncExpr* call, const List* values, Node* separator) {
  Node* text = nullptr;
  for (auto* value : each<Node>(values)) {
    Node* part = as_text(call, static_cast<Node*>(copyObjectImpl(value)));
    if (separator != nullptr) part = text_call(call, F_TEXTCAT, TEXTOID, separator, part);
    part = or_empty(part);
    text = text == nullptr ? part : text_call(call, F_TEXTCAT, TEXTOID, text, part);
  }
  return text;
}

// Without the separator before the first one
Node* joined_by(const FuncExpr* call) {
  auto* separator = static_cast<Node*>(linitial(call->args));
  Node* length = text_call(call, F_LENGTH_TEXT, INT4OID, separator, nullptr);
  FuncExpr* begin = makeFuncExpr(F_INT4PL, INT4OID, list_make2(length, one()), InvalidOid,
                                 InvalidOid, COERCE_EXPLICIT_CALL);
  return text_call(call, F_SUBSTR_TEXT_INT4, TEXTOID,
                   joined(call, list_copy_tail(call->args, 1), separator), as<Node>(begin));
}

}  // namespace

Node* without_concatenation(const Node* node) {
  if (!IsA(node, FuncExpr) || as<FuncExpr>(node)->funcvariadic) return nullptr;
  const auto* call = as<FuncExpr>(node);
  if (call->funcid == F_CONCAT) return joined(call, call->args, nullptr);
  if (call->funcid != F_CONCAT_WS || list_length(call->args) < 2) return nullptr;
  return reads_columns(static_cast<Node*>(linitial(call->args))) ? nullptr : joined_by(call);
}

}  // namespace dpquantile
