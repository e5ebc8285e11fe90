#pragma once

#include "pg/ledger/charge_request.hpp"

// The replies to charges that are refused: SQLSTATE, message, detail and hint. Each refuse
// function writes the reply and sets the outcome kRefused. Nothing was charged.
namespace dpquantile {

// How the hint for a request of which nothing was charged begins.
const char* not_charged(const ChargeRequest* request);

// The hint for a request that a lock prevented, palloc'd.
char* locked_hint(const ChargeRequest* request);

// The amounts of a charge and what is left in its role's budget, as decimals for messages. Null
// where there is no such amount.
struct BudgetAmounts {
  const char* epsilon_asked;
  const char* epsilon_left;
  const char* delta_asked;
  const char* delta_left;
  const char* rho_asked;
  const char* rho_left;
  const char* accountant;
};

// Refuses the charge of a role that has no budget.
void refuse_without_budget(ChargeRequest* request);

// Refuses a charge because of a verdict of check_budget() (budget_statements.hpp). Returns false,
// and does not refuse, if the verdict is null, "fits" or unknown.
bool refuse_by_verdict(ChargeRequest* request, const char* verdict, const BudgetAmounts& amounts);

// Refuses a charge because this error aborted its transaction.
void refuse_with_error(ChargeRequest* request, const ErrorData* error);

}  // namespace dpquantile
