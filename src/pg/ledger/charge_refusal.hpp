#pragma once

#include "pg/ledger/charge_request.hpp"

// The replies to requests that are refused: SQLSTATE, message, detail and hint. Each refuse
// function writes the reply and sets the outcome kRefused. Nothing of the request was charged.
namespace dpquantile {

// How the hint for a request of which nothing was charged begins.
const char* not_charged(const ChargeRequest* request);

// The hint for a request that a lock prevented, palloc'd.
char* locked_hint(const ChargeRequest* request);

// The totals of a request and what is left in one of its role's budgets, as decimals for messages.
// Null where there is no such amount.
struct BudgetAmounts {
  const char* table;            // whose budget it is; null: the general budget
  BudgetNeighbours neighbours;  // for which the amounts that are asked for are
  const char* epsilon_asked;    // of the charges that state epsilon
  const char* epsilon_left;
  const char* delta_asked;
  const char* delta_left;
  const char* rho_asked;
  const char* rho_left;
  const char* accountant;
  const char* least_asked;      // the least charge, in the unit that the accountant adds
  const char* smallest_charge;  // the smallest charge that the role may make, in the same unit
  const char* renewed_at;       // the day in UTC on which the budget begins anew
};

// Refuses the request of a role that has no budget for it. table: the protected table without one,
// or null.
void refuse_without_budget(ChargeRequest* request, const char* table);

// Refuses a request because of a verdict of check_budget() (budget_statements.hpp). Returns false,
// and does not refuse, if the verdict is null, "fits" or unknown.
bool refuse_by_verdict(ChargeRequest* request, const char* verdict, const BudgetAmounts& amounts);

// Refuses a request because this error aborted its transaction.
void refuse_with_error(ChargeRequest* request, const ErrorData* error);

}  // namespace dpquantile
