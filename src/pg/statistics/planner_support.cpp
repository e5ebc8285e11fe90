// The planner support function of the final functions and of dp_error_of.
#include "pg/server/postgres.hpp"

extern "C" {
#include "access/transam.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// dp_error_of of a standard aggregate over protected tables is rewritten before a query is planned.
// One that is left is over tables that the role may read, or over answers.
[[noreturn]] void refuse_error_of_others(const FuncExpr* call) {
  const auto* answer = call == nullptr ? nullptr : static_cast<const Node*>(linitial(call->args));
  const bool is_exact = answer != nullptr && IsA(answer, Aggref) &&
                        reinterpret_cast<const Aggref*>(answer)->aggfnoid < FirstUnpinnedObjectId;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("dp_error_of is for standard aggregates over protected tables"),
       is_exact ? errdetail("This one reads tables that you may read, or answers, and is exact.")
                : 0,
       is_exact ? errhint("Leave dp_error_of out, or ask as a role without SELECT on the table.")
                : errhint("Write dp_error_of(count(*)) or dp_error_of(avg(salary)). dp_stats shows "
                          "the errors of private aggregates.")));
}

bool is_call_of_error(const Node* request) {
  if (!IsA(request, SupportRequestSimplify)) return false;
  const auto* call = reinterpret_cast<const SupportRequestSimplify*>(request)->fcall;
  const char* name = get_func_name(call->funcid);
  return name != nullptr && strcmp(name, "dp_error_of") == 0;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (internal) returns internal
// PostgreSQL calls it while it plans a query with a private aggregate. The call loads this library
// and so installs the hook of pg/release before the hook is needed. A null pointer is no answer:
// PostgreSQL uses the declared cost of the final function. What is left of dp_error_of when a query
// is planned would fail after the charge, so it fails here.
DPQ_FUNCTION(dpq_planner_support) {
  auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (is_call_of_error(request)) {
    refuse_error_of_others(reinterpret_cast<SupportRequestSimplify*>(request)->fcall);
  }
  PG_RETURN_POINTER(static_cast<void*>(nullptr));
}

// (answer anyelement) returns float8
DPQ_FUNCTION(dpq_error_of) {
  (void)fcinfo;
  refuse_error_of_others(nullptr);
}
