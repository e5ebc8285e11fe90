#pragma once

#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/release/release_execution.hpp"

namespace dpquantile {

// The check of an execution of a release node, before it charges (release_execution.hpp). For a
// node of a plan with borrowed rights it ereports unless the plan was made for the current user,
// who may still borrow all its relations, every charge is from the smallest to the largest epsilon
// of the grants, only readers may write the joined tables, and no mechanism treats the numbers of
// rows of persons as public. In a restricted session rows are read quietly. The answers may be
// shown again for as long as all grants say.
ReleaseTerms check_borrowed_release(ReleaseNode* node, std::span<const Charge> charges);

// The part of this check that the charges alone decide, for a node whose execution has not begun.
void check_borrowed_prices(const ReleaseNode* node, std::span<const Charge> charges);

// Starts and ends an execution of a plan without a row of it: ereports what its private aggregates
// would be refused for, as far as the statement and these parameters decide it. Charges nothing.
void check_execution(PlannedStmt* plan, const char* text, ParamListInfo parameters,
                     QueryEnvironment* environment);

// Why the grants refuse a private aggregate of a plan with borrowed rights for its price, as
// sentences for dp_explain; null if they do not.
const char* problem_of_price(const BorrowedPlan& mark, const char* function,
                             const PrivacyCost& cost);

// The same for its method.
const char* problem_of_method(const char* function, const MethodRow& method);

// ereports if the access of the session's role to one of the relations has closed after queries
// that failed (pg/release/trip_wire.hpp). The release looks again.
void require_open_access(const BorrowedPlan& mark);

}  // namespace dpquantile
