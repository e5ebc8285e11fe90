#pragma once

#include "pg/ledger/charge_request.hpp"

// What a refused charge tells its session. Nothing was charged.
namespace dpquantile {

inline constexpr const char* kLockedHint =
    "This call was not charged. Another session, or this transaction, has locked the budget; end "
    "it or try again.";

// The amounts of a charge and of its role's budget, as decimals.
struct BudgetAmounts {
  const char* epsilon_asked;
  const char* epsilon_left;
  const char* delta_asked;
  const char* delta_left;
  const char* rho_asked;
  const char* rho_left;
  const char* accountant;
};

// Refuses a charge whose role has no budget.
void refuse_without_budget(ChargeRequest* request);

// Refuses a charge for a verdict of check_budget() (budget_statements.hpp) other than "fits";
// returns false if the verdict is unknown.
bool refuse_by_verdict(ChargeRequest* request, const char* verdict, const BudgetAmounts& amounts);

// Refuses what was aborted because of an error.
void refuse_with_error(ChargeRequest* request, const ErrorData* error);

}  // namespace dpquantile
