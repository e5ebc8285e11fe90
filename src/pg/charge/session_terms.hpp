#pragma once

#include "core/privacy/privacy_cost.hpp"

namespace dpquantile {

// The terms of the general budget that this session spends, or of its budgets for tables; the
// default ones without a budget. A grant may
// change them afterwards, before the charge: a charge has all costs of the mechanism that will run,
// so that it is right under any terms.
BudgetTerms session_terms();

}  // namespace dpquantile
