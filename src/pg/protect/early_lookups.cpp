#include "pg/protect/early_lookups.hpp"

#include "pg/protect/allowed_nodes.hpp"
#include "pg/protect/borrowed_relations.hpp"
#include "pg/server/collation.hpp"

extern "C" {
#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/varlena.h"
}

namespace dpquantile {

namespace {

// Keys and users are compared by the collation of their expression.
bool may_be_compared(const Node* node) {
  return is_allowed_inside(node) && !IsA(node, List) && !IsA(node, CaseWhen);
}

// For query_tree_walker() and expression_tree_walker(). `collations` is a List**.
bool add_collations(Node* node, void* collations) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    return query_tree_walker(reinterpret_cast<Query*>(node), DPQ_TREE_WALKER(add_collations),
                             collations, QTW_IGNORE_JOINALIASES);
  }
  auto** found = static_cast<List**>(collations);
  *found = list_append_unique_oid(*found, exprInputCollation(node));
  if (may_be_compared(node)) *found = list_append_unique_oid(*found, exprCollation(node));
  return expression_tree_walker(node, DPQ_TREE_WALKER(add_collations), collations);
}

Oid collation_of_users(const BorrowedRelation* relation) {
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(relation->permissions->relid, relation->user_column, &type, &modifier,
                        &collation);
  return collation;
}

// The first comparison may open more than the collation, such as a converter of ICU.
void compare_by(Oid collation) {
  open_collation(collation);
  (void)varstr_cmp("a", 1, "b", 1, collation);
}

const char* ordinary_value(Oid type) {
  switch (type) {
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
      return "1";
    case DATEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return "2000-01-01";
    case TIMEOID:
    case TIMETZOID:
      return "00:00";
    case INTERVALOID:
      return "1 day";
    default:
      ereport(ERROR,
              (errcode(ERRCODE_INTERNAL_ERROR),
               errmsg("a function over rows has an argument of the unexpected type %u", type),
               errhint("Ask without this function.")));
  }
}

Const* ordinary_constant(const Node* argument) {
  const Oid type = getBaseType(exprType(argument));
  Oid input;
  Oid parameter;
  getTypeInputInfo(type, &input, &parameter);
  const Datum value =
      OidInputFunctionCall(input, const_cast<char*>(ordinary_value(type)), parameter, -1);
  return makeConst(type, -1, InvalidOid, get_typlen(type), value, false, get_typbyval(type));
}

void lock_long_values_of(Relation table) {
  const Oid stored = table->rd_rel->reltoastrelid;
  if (!OidIsValid(stored)) return;
  Relation relation = table_open(stored, AccessShareLock);
  const ListCell* cell;
  foreach (cell, RelationGetIndexList(relation)) {
    index_close(index_open(lfirst_oid(cell), AccessShareLock), NoLock);
  }
  table_close(relation, NoLock);
}

}  // namespace

void open_collations(Query* query, const List* borrowed) {
  List* collations = NIL;
  (void)add_collations(reinterpret_cast<Node*>(query), &collations);
  const ListCell* cell;
  foreach (cell, borrowed) {
    const auto* relation = static_cast<const BorrowedRelation*>(lfirst(cell));
    if (relation->user_column == 0) continue;
    collations = list_append_unique_oid(collations, collation_of_users(relation));
  }
  foreach (cell, collations) {
    if (OidIsValid(lfirst_oid(cell))) compare_by(lfirst_oid(cell));
  }
}

Node* sample_call(const FuncExpr* call, unsigned public_arguments) {
  FuncExpr* sample = makeFuncExpr(call->funcid, call->funcresulttype, NIL, call->funccollid,
                                  call->inputcollid, COERCE_EXPLICIT_CALL);
  const ListCell* cell;
  foreach (cell, call->args) {
    void* argument = lfirst(cell);
    const bool is_public = (public_arguments >> foreach_current_index(cell) & 1) != 0;
    if (!is_public) argument = ordinary_constant(static_cast<const Node*>(argument));
    sample->args = lappend(sample->args, argument);
  }
  return reinterpret_cast<Node*>(sample);
}

void make_sample_calls(const List* samples, const EState* state) {
  if (samples == NIL) return;
  ExprContext* context = CreateStandaloneExprContext();
  context->ecxt_param_list_info = state->es_param_list_info;
  const ListCell* cell;
  foreach (cell, samples) {
    bool is_null;
    ExprState* call =
        ExecInitExprWithParams(static_cast<Expr*>(lfirst(cell)), state->es_param_list_info);
    (void)ExecEvalExprSwitchContext(call, context, &is_null);
  }
  FreeExprContext(context, true);
}

void lock_long_values(const EState* state) {
  for (Index i = 0; i < state->es_range_table_size; ++i) {
    if (state->es_relations[i] != nullptr) lock_long_values_of(state->es_relations[i]);
  }
}

}  // namespace dpquantile
