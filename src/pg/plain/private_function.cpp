#include "pg/plain/private_function.hpp"

#include "pg/server/nodes.hpp"
#include "pg/server/own_objects.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_collate.h"
#include "parser/parse_func.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
}

namespace dpquantile {

namespace {

// PostgreSQL names the schema, and says nothing of why a query needs it that does not name it.
void require_usage(Oid schema, const char* name) {
  const Datum may_use = DirectFunctionCall2(has_schema_privilege_id, ObjectIdGetDatum(schema),
                                            CStringGetTextDatum("USAGE"));
  if (DatumGetBool(may_use)) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for schema %s", name),
           errdetail("The extension that answers private queries is in this schema."),
           errhint("Ask its owner: GRANT USAGE ON SCHEMA %s TO %s.", quote_identifier(name),
                   quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}

Node* call_named(const char* name, List* arguments, int location) {
  const Oid of_extension = schema_of_extension();
  const char* schema = get_namespace_name(of_extension);
  if (schema != nullptr) require_usage(of_extension, schema);
  List* qualified =
      list_make2(makeString(pstrdup(schema == nullptr ? "" : schema)), makeString(pstrdup(name)));
  ParseState* state = make_parsestate(nullptr);
  state->p_expr_kind = EXPR_KIND_SELECT_TARGET;
  FuncCall* call = makeFuncCall(qualified, NIL, COERCE_EXPLICIT_CALL, location);
  Node* made = ParseFuncOrColumn(state, qualified, arguments, nullptr, call, false, location);
  assign_expr_collations(state, made);
  free_parsestate(state);
  return made;
}

Oid function_of(const Node* call) {
  if (IsA(call, Aggref)) return as<Aggref>(call)->aggfnoid;
  return IsA(call, FuncExpr) ? as<FuncExpr>(call)->funcid : InvalidOid;
}

// Whoever may create functions in the schema of the extension may have made one of the same name,
// whose arguments fit better.
Node* call_own(const char* name, List* arguments, int location) {
  Node* call = call_named(name, arguments, location);
  const Oid function = function_of(call);
  if (is_own_object(ProcedureRelationId, function)) return call;
  ereport(ERROR, (errcode(ERRCODE_AMBIGUOUS_FUNCTION),
                  errmsg("function %s hides the function of extension %s",
                         OidIsValid(function) ? format_procedure(function) : name, kExtension),
                  errhint("Have its owner drop it, and let no role create functions in the schema "
                          "of the extension.")));
}

}  // namespace

Aggref* call_private_aggregate(const char* name, List* arguments, int location) {
  return castNode(Aggref, call_own(name, arguments, location));
}

Node* call_function(const char* name, List* arguments) {
  return call_own(name, arguments, -1);
}

Node* select_field(Node* composite, const char* field) {
  ParseState* state = make_parsestate(nullptr);
  Node* made = ParseFuncOrColumn(state, list_make1(makeString(pstrdup(field))),
                                 list_make1(composite), nullptr, nullptr, false, -1);
  free_parsestate(state);
  return made;
}

Node* element_of(Node* array, Node* number) {
  auto* element = makeNode(SubscriptingRef);
  element->refcontainertype = exprType(array);
  element->refelemtype = get_element_type(exprType(array));
  element->refrestype = element->refelemtype;
  element->reftypmod = -1;
  element->refcollid = exprCollation(array);
  element->refupperindexpr = list_make1(number);
  element->refexpr = as<Expr>(array);
  return as<Node>(element);
}

Node* without_implicit_cast(Node* expression) {
  while (IsA(expression, FuncExpr) &&
         as<FuncExpr>(expression)->funcformat == COERCE_IMPLICIT_CAST) {
    expression = static_cast<Node*>(linitial(as<FuncExpr>(expression)->args));
  }
  return expression;
}

Node* float8_constant(double value) {
  return as<Node>(makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false,
                            FLOAT8PASSBYVAL));
}

Node* bool_constant(bool value) {
  return makeBoolConst(value, false);
}

Node* constant_of_text(Oid type, int32 modifier, Oid collation, const char* text) {
  // The input function of a domain would evaluate its CHECK, which may be anybody's function.
  int32 base_modifier = modifier;
  const Oid base = getBaseTypeAndTypmod(type, &base_modifier);
  Oid input;
  Oid element;
  getTypeInputInfo(base, &input, &element);
  const Datum value = OidInputFunctionCall(input, pstrdup(text), element, base_modifier);
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  return as<Node>(makeConst(type, modifier, collation, length, value, false, by_value));
}

}  // namespace dpquantile
