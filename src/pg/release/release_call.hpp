#pragma once

#include "pg/charge/charge.hpp"
#include "pg/parameters/call_arguments.hpp"
#include "pg/parameters/prepared_mechanism.hpp"
#include "pg/release/release_plan.hpp"

// One private aggregate of a release node.
namespace dpquantile {

struct ReleaseCall {
  const Aggref* aggref;
  const char* name;  // of the SQL function
  int column;        // of its states and answers, from 1
  int error_column;  // of the errors of its answers, which are noted with them; 0 if none are
  const FamilyRow* family;
  List* parameters;  // expressions
  PreparedArguments arguments;
  int most_rows;  // of a user, whom the call protects with all of them (row_limit.hpp); otherwise 0
  // Those of the last execution; null before the first.
  AggregateParameters* checked;
  AggregateParameters* drawn;  // the same with the guarantee for one row, if most_rows is not 0
  Method method;  // that answers the call; another than that of `checked` if the budget decides
  PreparedMechanism mechanism;  // of `drawn`
  ReleaseCosts costs;           // of `checked`
  const uint64* bounded_users;  // of the next group; null unless users are left in few groups
  FmgrInfo final_function;
};

// The call in a column of the plan. The node will evaluate its parameters. Everything lives in the
// current memory context, which must live as long as the query.
ReleaseCall make_release_call(const CustomScan* plan, int column, PlanState* node);

// Whether the call is charged for each group, if there are group keys. Other calls are charged once
// for all groups.
inline bool is_charged_by_group(const ReleaseCall& call) {
  return call.family->charged == ChargeRule::kOncePerGroup;
}

// Evaluates and checks the parameters for an execution, and prepares the mechanism in a context
// below `lasting`. Both stay until the next call of prepare_call(). It uses the current memory
// context as scratch memory. ereports what an expression reports, if a parameter is out of range,
// and if users cannot be hashed (make_user_hash).
void prepare_call(ReleaseCall* call, ExprContext* expressions, MemoryContext lasting);

// What a charge depends on besides the call.
struct ChargedRows {
  bool have_keys;     // whether they are in groups
  bool are_joined;    // of several protected tables, or of person groups: one row may be a part of
                      // all rows of a user
  bool have_persons;  // whether all rows of a user are protected together
};

// The charge of a prepared call, `times` as in Charge. Its texts live in the current memory context
// or longer.
Charge charge_for(const ReleaseCall& call, const ChargedRows& rows, int times);

// Draws the answer of a group of a prepared call, in the current memory context. Puts its error
// into *error, if the call has an error_column. Requires that the call has been charged. ereports
// as the final function does.
NullableDatum answer_call(ReleaseCall* call, RandomStream* random, NullableDatum state,
                          double* error);

}  // namespace dpquantile
