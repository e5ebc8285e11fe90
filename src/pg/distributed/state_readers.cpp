#include "pg/distributed/state_readers.hpp"

#include "pg/distributed/plan_nodes.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
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

struct Reading {
  const StateAggregates* own;
  bool in_expression;  // that computes something
};

// For expression_tree_walker(). `context` is a Reading*. A state may be passed on as it is.
bool check_readers(Node* node, void* context) {
  if (node == nullptr) return false;
  Reading below = *static_cast<const Reading*>(context);
  const Oid state = below.own->state;
  if (IsA(node, Var)) {
    if (below.in_expression && as<Var>(node)->vartype == state) {
      refuse_reader(InvalidOid);
    }
    return false;
  }
  if (IsA(node, Aggref)) {
    auto* call = as<Aggref>(node);
    if (reads_state(call, state)) use_own_combination(call, *below.own);
    const bool is_own =
        call->aggfnoid == below.own->combine || call->aggfnoid == below.own->collect;
    if (call->aggtype == state && (!is_own || below.in_expression)) refuse_reader(call->aggfnoid);
    below.in_expression = false;
  } else if (!IsA(node, TargetEntry) && !IsA(node, List)) {
    below.in_expression = true;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(check_readers), &below);
}

// Aggregates are in target lists and conditions only. `context` is a StateAggregates*.
void check_node(const Plan* node, const void* context) {
  Reading reading = {static_cast<const StateAggregates*>(context), false};
  (void)check_readers(as<Node>(node->targetlist), &reading);
  (void)check_readers(as<Node>(node->qual), &reading);
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
