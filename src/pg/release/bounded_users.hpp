#pragma once

#include "pg/release/release_call.hpp"
#include "pg/release/sorted_answers.hpp"

namespace dpquantile {

// How many users each group has, if each user is left in at most as many groups as the call of
// dp_keep_group says. `states` has the states of all groups, in an order of their keys; `slot` is a
// slot of virtual tuples for them. The result has a number for each group in this order, and lives
// in the current memory context. ereports if memory is short, for a cancel, and as
// make_group_identity() does.
uint64* bounded_users(const ReleaseCall& call, const ReleasePlan& plan, const SortedAnswers& states,
                      TupleTableSlot* slot, RandomStream* random);

}  // namespace dpquantile
