#pragma once

#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/release/release_execution.hpp"

// Whether the answers of a release node over borrowed relations are kept, and which executions have
// the same. What is shown again was shown to the same role before, and paid for.
namespace dpquantile {

// Defines the setting with which a session asks for fresh answers. Call it once, when the library
// is loaded.
void install_answer_reuse();

// Whether the grants of the current user on all these relations (BorrowedRelation) let answers be
// kept.
bool answers_are_kept(const List* borrowed);

// Whether the session asks for new answers even if there are kept ones.
bool wants_fresh_answers();

// Whether the answers of the node may be shown again: its query has an identity, and no parameter
// comes from the plan around it or from a subquery.
bool is_same_whenever_asked(const ReleaseNode* node);

// The key of this execution: the identity of the query level with the columns of its answers, the
// parameters of its calls, what its tables protect, the values of the query's own parameters, and
// what depends on the clock or on settings.
AnswerKey key_of(const ReleaseNode* node, const BorrowedPlan& mark);

}  // namespace dpquantile
