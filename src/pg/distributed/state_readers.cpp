#include "pg/distributed/state_readers.hpp"

#include "pg/distributed/plan_nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_reader(Oid function) {
  const char* name = OidIsValid(function) ? get_func_name(function) : nullptr;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("the plan would give the states of private aggregates to %s",
                         name == nullptr ? "an expression" : name),
                  errdetail("Nothing was charged."),
                  errhint("Look for functions named %s that are not of this extension: "
                          "SELECT oid::regprocedure FROM pg_proc WHERE proname = '%s'.",
                          kCombiningAggregate, kCombiningAggregate)));
}

bool reads_state(const Aggref* call, Oid state) {
  for (const auto* argument : each<const TargetEntry>(call->args)) {
    if (exprType(as<Node>(argument->expr)) == state) return true;
  }
  return false;
}

// One argument and a state for a state: the same call of the own aggregate.
void use_own_combination(Aggref* call, const StateAggregates& own) {
  if (call->aggfnoid == own.combine) return;
  if (call->aggtype != own.state || list_length(call->args) != 1 ||
      call->aggkind != AGGKIND_NORMAL || call->aggsplit != AGGSPLIT_SIMPLE) {
    refuse_reader(call->aggfnoid);
  }
  call->aggfnoid = own.combine;
  call->aggtranstype = own.state;
  call->aggcollid = InvalidOid;
  call->inputcollid = InvalidOid;
}

// A state may be passed on as it is. `in_expression`: that computes something.
void check_readers(Node* node, const StateAggregates& own, bool in_expression) {
  if (IsA(node, Var) && in_expression && as<Var>(node)->vartype == own.state) {
    refuse_reader(InvalidOid);
  }
  bool is_in_expression = in_expression || !(IsA(node, TargetEntry) || IsA(node, List));
  if (IsA(node, Aggref)) {
    auto* call = as<Aggref>(node);
    if (reads_state(call, own.state)) use_own_combination(call, own);
    const bool is_own = call->aggfnoid == own.combine || call->aggfnoid == own.collect;
    if (call->aggtype == own.state && (!is_own || in_expression)) refuse_reader(call->aggfnoid);
    is_in_expression = false;
  }
  (void)any_child(node, [&](Node* below) {
    check_readers(below, own, is_in_expression);
    return false;
  });
}

// Aggregates are in target lists and conditions only. `context` is a StateAggregates*.
void check_node(const Plan* node, const void* context) {
  const auto& own = *static_cast<const StateAggregates*>(context);
  for (auto* column : each<Node>(node->targetlist)) check_readers(column, own, false);
  for (auto* condition : each<Node>(node->qual)) check_readers(condition, own, false);
}

// Finds a function with the name that is no aggregate; invalid if there is none.
Oid function_named_as_combination() {
  CatCList* functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(kCombiningAggregate));
  Oid found = InvalidOid;
  for (int i = 0; i < functions->n_members; ++i) {
    const auto* row =
        reinterpret_cast<const FormData_pg_proc*>(GETSTRUCT(&functions->members[i]->tuple));
    if (row->prokind != PROKIND_AGGREGATE) found = row->oid;
  }
  ReleaseSysCacheList(functions);
  return found;
}

}  // namespace

void require_no_function_named_as_combination() {
  const Oid function = function_named_as_combination();
  if (OidIsValid(function)) refuse_reader(function);
}

void require_own_state_readers(PlannedStmt* plan, const StateAggregates& own) {
  visit_plan(plan, check_node, &own);
}

}  // namespace dpquantile
