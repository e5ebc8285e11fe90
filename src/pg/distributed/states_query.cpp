#include "pg/distributed/states_query.hpp"

#include "pg/distributed/plan_nodes.hpp"
#include "pg/parameters/call_arguments.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/release/value_cast.hpp"
#include "pg/server/trees.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr char kPlaceholder[] = "distributed_groups";

[[noreturn]] void refuse(const char* what, const char* hint) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("%s in a query level with private aggregates over distributed tables", what),
           errdetail("Nothing was charged."), errhint("%s", hint)));
}

constexpr char kTemporaryTable[] =
    "CREATE TEMP TABLE ... AS SELECT ... makes the rows a table of the coordinator.";

// What is taken out of a level, and what stands for it there.
struct Taken {
  Query* states;
  List* keys;        // expressions of GROUP BY; the first columns
  List* aggregates;  // Aggref as the query has them; the columns after the keys
  StateAggregates own;
};

Oid own_schema() {
  return get_namespace_oid(kExtension, false);
}

// Without the rights that a lookup by name asks for: analysts need none on the schema.
Oid function_in(Oid schema, const char* name, int count, const Oid* types) {
  const Oid function =
      GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                      PointerGetDatum(buildoidvector(types, count)), ObjectIdGetDatum(schema));
  if (OidIsValid(function)) return function;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("the extension %s has no function %s", kExtension, name),
                  errhint("Create the extension again.")));
}

// ---- What is supported ---------------------------------------------------------------------

void require_supported(const Level* level) {
  const Query* query = level->query;
  if (query->groupingSets != NIL) {
    refuse("GROUPING SETS, ROLLUP and CUBE are not supported",
           "Ask a query for each grouping set.");
  }
  if (query->hasModifyingCTE || query->rowMarks != NIL) {
    refuse("changing or locking rows is not supported", kTemporaryTable);
  }
  if (level->outer_values > 0 || level->outer_ctes > 0) refuse_outer_query();
}

void require_plain_call(const Aggref* call) {
  if (call->aggkind != AGGKIND_NORMAL || call->aggorder != NIL) {
    refuse("aggregates of ordered rows are not supported", kTemporaryTable);
  }
}

void require_supported_call(const Aggref* call, const FamilyRow& family) {
  if (family.hashes_first_argument()) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("%s is not supported over distributed tables", get_func_name(call->aggfnoid)),
             errdetail("It hashes persons or values with a key, and each server has its own key. "
                       "Nothing was charged."),
             errhint("%s", kTemporaryTable)));
  }
  if (family.has(Argument::kX)) {
    refuse(psprintf("%s is not supported, because a shard adds one value of each row",
                    get_func_name(call->aggfnoid)),
           kTemporaryTable);
  }
  if (call->aggdistinct != NIL) {
    refuse("private aggregates with DISTINCT are not supported",
           "Write FROM (SELECT DISTINCT ... ) AS s.");
  }
  check_constant_parameters(call, family);
  check_value(call, family);
}

// ---- The columns of the new query ----------------------------------------------------------

Const* bytes_constant(const bytea* bytes) {
  const Datum value = bytes == nullptr ? 0 : PointerGetDatum(bytes);
  return makeConst(BYTEAOID, -1, InvalidOid, -1, value, bytes == nullptr, false);
}

// The argument that comes from rows; for a call without one any value.
Expr* collected_value(const Aggref* call, const FamilyRow& family) {
  if (family.arguments_from_rows() == 0) {
    return as<Expr>(makeBoolConst(true, false));
  }
  return static_cast<Expr*>(copyObjectImpl(uncast_value(call, family)));
}

Aggref* collecting_call(const Taken& taken, const Aggref* call, const FamilyRow& family) {
  Expr* value = collected_value(call, family);
  Aggref* collect = makeNode(Aggref);
  collect->aggfnoid = taken.own.collect;
  collect->aggtype = taken.own.state;
  collect->inputcollid = call->inputcollid;
  collect->aggargtypes = list_make2_oid(exprType(as<Node>(value)), BYTEAOID);
  collect->args = list_make2(makeTargetEntry(value, 1, nullptr, false),
                             makeTargetEntry(as<Expr>(bytes_constant(nullptr)), 2, nullptr, false));
  collect->aggfilter = static_cast<Expr*>(copyObjectImpl(call->aggfilter));
  collect->aggkind = AGGKIND_NORMAL;
  collect->aggsplit = AGGSPLIT_SIMPLE;
  collect->aggno = -1;
  collect->aggtransno = -1;
  collect->location = -1;
  return collect;
}

TargetEntry* add_state_column(Taken* taken, Expr* expression) {
  List** columns = &taken->states->targetList;
  const auto number = static_cast<AttrNumber>(list_length(*columns) + 1);
  TargetEntry* column = makeTargetEntry(expression, number, psprintf("c%d", number), false);
  *columns = lappend(*columns, column);
  return column;
}

// ---- What stands for them in the level -----------------------------------------------------

constexpr Index kPlaceholderIndex = 1;

Var* placeholder_var(int column, Oid type, int32 modifier, Oid collation) {
  return makeVar(kPlaceholderIndex, static_cast<AttrNumber>(column), type, modifier, collation, 0);
}

Node* var_of_key(int column, const Node* key) {
  return as<Node>(placeholder_var(column, exprType(key), exprTypmod(key), exprCollation(key)));
}

// Numbers keep the type that they have in the rows.
void forget_arguments(Aggref* call, const FamilyRow* family) {
  const int from_rows = family != nullptr ? family->arguments_from_rows() : list_length(call->args);
  const Node* uncast = family != nullptr ? uncast_value(call, *family) : nullptr;
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<TargetEntry*>(lfirst(cell));
    if (foreach_current_index(cell) >= from_rows) return;
    const bool is_value = uncast != nullptr && foreach_current_index(cell) == from_rows - 1;
    const Node* value = is_value ? uncast : as<Node>(argument->expr);
    argument->expr =
        as<Expr>(makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)));
    argument->ressortgroupref = 0;
  }
}

// The column of an aggregate, from 1. The same call twice is one.
int column_of_aggregate(Taken* taken, const Aggref* call, const FamilyRow* family) {
  const ListCell* cell;
  foreach (cell, taken->aggregates) {
    if (equal(lfirst(cell), call)) {
      return list_length(taken->keys) + foreach_current_index(cell) + 1;
    }
  }
  taken->aggregates = lappend(taken->aggregates, copyObjectImpl(call));
  auto* column = family != nullptr ? as<Expr>(collecting_call(*taken, call, *family))
                                   : static_cast<Expr*>(copyObjectImpl(call));
  return add_state_column(taken, column)->resno;
}

Node* take_aggregate(Taken* taken, const Aggref* call) {
  const FamilyRow* family = private_family(call);
  require_plain_call(call);
  if (family != nullptr) require_supported_call(call, *family);
  const int column = column_of_aggregate(taken, call, family);
  auto* left = static_cast<Aggref*>(copyObjectImpl(call));
  forget_arguments(left, family);
  left->aggfilter = as<Expr>(placeholder_var(column, BOOLOID, -1, InvalidOid));
  left->aggdistinct = NIL;
  return as<Node>(left);
}

// The level was cut, and read again: its rows and WITH queries are gone with the states.
void require_independent_subqueries(const Level* level) {
  for (const auto* below : each<const Level>(level->below)) {
    if (below->outer_values == 0 && below->outer_ctes == 0) continue;
    refuse("a subquery in SELECT or HAVING cannot use columns of the rows or WITH queries",
           kTemporaryTable);
  }
}

// What stands for a key or an aggregate, or null.
Node* take_node(Taken* taken, Node* node) {
  const ListCell* cell;
  foreach (cell, taken->keys) {
    if (!IsA(node, Const) && equal(lfirst(cell), node)) {
      return var_of_key(foreach_current_index(cell) + 1, node);
    }
  }
  if (IsA(node, Aggref)) return take_aggregate(taken, as<Aggref>(node));
  if (IsA(node, Var) || IsA(node, GroupingFunc)) {
    refuse("columns other than group keys, and GROUPING(), cannot be shown", kTemporaryTable);
  }
  return IsA(node, Query) ? node : nullptr;
}

// Takes what the expression, of SELECT or HAVING, needs of the states.
Node* take_expression(Node* expression, Taken* taken) {
  return mapped(expression, [=](Node* node) { return take_node(taken, node); });
}

// ---- The two queries -----------------------------------------------------------------------

void take_keys(Query* level, Taken* taken) {
  for (const auto* key : each<const SortGroupClause>(level->groupClause)) {
    TargetEntry* entry = get_sortgroupref_tle(key->tleSortGroupRef, level->targetList);
    if (expression_returns_set(as<Node>(entry->expr))) {
      refuse("a function in GROUP BY that returns a set is not supported",
             "It would put a row into several groups. Write the function in FROM.");
    }
    taken->keys = lappend(taken->keys, entry->expr);
    TargetEntry* column = add_state_column(taken, static_cast<Expr*>(copyObjectImpl(entry->expr)));
    column->ressortgroupref = key->tleSortGroupRef;
  }
  taken->states->groupClause = static_cast<List*>(copyObjectImpl(level->groupClause));
}

int key_with_reference(const Query* level, Index reference) {
  if (reference == 0) return 0;
  const ListCell* cell;
  foreach (cell, level->groupClause) {
    if (static_cast<SortGroupClause*>(lfirst(cell))->tleSortGroupRef == reference) {
      return foreach_current_index(cell) + 1;
    }
  }
  return 0;
}

void take_expressions(Query* level, Taken* taken) {
  for (auto* entry : each<TargetEntry>(level->targetList)) {
    auto* expression = as<Node>(entry->expr);
    const int key = key_with_reference(level, entry->ressortgroupref);
    entry->expr =
        as<Expr>(key != 0 ? var_of_key(key, expression) : take_expression(expression, taken));
  }
  level->havingQual = take_expression(level->havingQual, taken);
}

Query* make_states_query(const Query* level) {
  Query* states = makeNode(Query);
  states->commandType = CMD_SELECT;
  states->canSetTag = true;
  states->rtable = level->rtable;
  DPQ_MOVE_PERMISSIONS(states, level);
  states->jointree = level->jointree;
  states->cteList = level->cteList;
  states->hasRecursive = level->hasRecursive;
  states->hasSubLinks = level->hasSubLinks;
  states->hasRowSecurity = level->hasRowSecurity;
  states->hasAggs = true;
  for (auto* table : each<RangeTblEntry>(states->rtable)) DPQ_FORGET_GROUP_ENTRY(table);
  return states;
}

Oid placeholder_function() {
  return function_in(own_schema(), kPlaceholder, 0, nullptr);
}

FuncExpr* placeholder_call() {
  FuncExpr* call = makeFuncExpr(placeholder_function(), RECORDOID, NIL, InvalidOid, InvalidOid,
                                COERCE_EXPLICIT_CALL);
  call->funcretset = true;
  return call;
}

// The placeholder has the columns of the new query, with a truth value for each aggregate.
RangeTblEntry* make_placeholder(const Taken& taken) {
  RangeTblFunction* function = makeNode(RangeTblFunction);
  function->funcexpr = as<Node>(placeholder_call());
  function->funccolcount = list_length(taken.states->targetList);
  List* names = NIL;
  for (int i = 0; i < function->funccolcount; ++i) {
    const bool is_key = i < list_length(taken.keys);
    const auto* key = is_key ? static_cast<const Node*>(list_nth(taken.keys, i)) : nullptr;
    names = lappend(names, makeString(psprintf("c%d", i + 1)));
    function->funccoltypes = lappend_oid(function->funccoltypes, is_key ? exprType(key) : BOOLOID);
    function->funccoltypmods = lappend_int(function->funccoltypmods, is_key ? exprTypmod(key) : -1);
    function->funccolcollations =
        lappend_oid(function->funccolcollations, is_key ? exprCollation(key) : InvalidOid);
  }
  function->funccolnames = names;
  RangeTblEntry* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_FUNCTION;
  entry->functions = list_make1(function);
  entry->eref = makeAlias(kPlaceholder, static_cast<List*>(copyObjectImpl(names)));
  entry->inFromCl = true;
  return entry;
}

void read_placeholder(Query* level, const Taken& taken) {
  auto* reference = makeNode(RangeTblRef);
  reference->rtindex = kPlaceholderIndex;
  level->rtable = list_make1(make_placeholder(taken));
  DPQ_FORGET_PERMISSIONS(level);
  DPQ_FORGET_GROUP_KEYS(level);
  level->jointree = makeFromExpr(list_make1(reference), nullptr);
  level->cteList = NIL;
  level->hasRecursive = false;
  level->constraintDeps = NIL;
  level->hasSubLinks =
      checkExprHasSubLink(as<Node>(level->targetList)) || checkExprHasSubLink(level->havingQual);
}

// That of the first private aggregate.
Oid schema_of_aggregates(const Level* level) {
  for (const auto* call : each<const Aggref>(level->aggregates)) {
    if (private_family(call) != nullptr) return get_func_namespace(call->aggfnoid);
  }
  return InvalidOid;
}

Oid type_of_states() {
  return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum("records_state"),
                         ObjectIdGetDatum(own_schema()));
}

StateAggregates aggregates_in(Oid schema) {
  const Oid state = type_of_states();
  const Oid collected[] = {ANYOID, BYTEAOID};
  return {state, function_in(schema, kCollectingAggregate, 2, collected),
          function_in(schema, kCombiningAggregate, 1, &state)};
}

// For visit_plan(). `context` is the OID of the placeholder's function.
void refuse_placeholder(const Plan* node, const void* context) {
  if (!IsA(node, FunctionScan)) return;
  for (const auto* function : each<const RangeTblFunction>(as<FunctionScan>(node)->functions)) {
    const auto* call = as<FuncExpr>(function->funcexpr);
    if (!IsA(call, FuncExpr) || call->funcid != *static_cast<const Oid*>(context)) continue;
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("a query shows groups of distributed tables without private answers"),
             errdetail("What is left of it would show only the exact groups. Nothing was charged."),
             errhint("Show the private answers, or keep them first: CREATE TEMP TABLE answers AS "
                     "SELECT ....")));
  }
}

}  // namespace

void refuse_outer_query() {
  refuse("columns or WITH queries of an outer query cannot be used",
         "Write the subquery by itself, with its own WITH.");
}

StateAggregates state_aggregates(const Query* states) {
  for (const auto* column : each<const TargetEntry>(states->targetList)) {
    const auto* call = as<Aggref>(column->expr);
    if (!IsA(call, Aggref) || call->aggtype != type_of_states()) continue;
    return aggregates_in(get_func_namespace(call->aggfnoid));
  }
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the query collects no states"),
                  errhint("Report this to the maintainers of dpquantile.")));
}

void require_no_placeholder(const PlannedStmt* plan) {
  const Oid placeholder = placeholder_function();
  visit_plan(plan, refuse_placeholder, &placeholder);
}

Query* take_states_query(Level* level) {
  require_supported(level);
  Query* query = level->query;
  Taken taken{};
  taken.states = make_states_query(query);
  taken.own = aggregates_in(schema_of_aggregates(level));
  take_keys(query, &taken);
  take_expressions(query, &taken);
  read_placeholder(query, taken);
  read_again(level);
  require_independent_subqueries(level);
  return taken.states;
}

int placeholder_column(const Node* expression) {
  if (IsA(expression, Aggref)) {
    expression = as<Node>(as<Aggref>(expression)->aggfilter);
  }
  if (expression == nullptr || !IsA(expression, Var) ||
      as<Var>(expression)->varno != kPlaceholderIndex) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("a column of the query cannot be read from distributed tables"),
                    errdetail("Nothing was charged."), errhint("%s", kTemporaryTable)));
  }
  return as<Var>(expression)->varattno;
}

void set_parameters(Query* states, int column, const bytea* empty_state) {
  const auto* entry = static_cast<const TargetEntry*>(list_nth(states->targetList, column - 1));
  const auto* collect = castNode(Aggref, as<Node>(entry->expr));
  static_cast<TargetEntry*>(lsecond(collect->args))->expr = as<Expr>(bytes_constant(empty_state));
}

void leave_out_other_aggregates(Query* states, const List* columns) {
  for (auto* column : each<TargetEntry>(states->targetList)) {
    if (column->ressortgroupref != 0 || list_member_int(columns, column->resno)) continue;
    column->expr = as<Expr>(makeBoolConst(false, true));
  }
}

}  // namespace dpquantile
