#pragma once

#include "pg/ledger/charge_refusal.hpp"

// The SQL statements of a charge, run by SPI inside its transaction. Their plans are kept for the
// session. Each ereports what its statement does.
namespace dpquantile {

struct BudgetCheck {
  bool found;           // false: the role has no budget, or it is locked and nobody waits
  const char* verdict;  // "fits", or what stands in the way
  Datum budget_id;
  Datum accountant;
};

// Locks the role's budget and tells whether the charge fits.
BudgetCheck check_budget(const ChargeRequest* request, Waiting waiting);

// Whether the role has a budget, locked or not.
bool budget_exists(const ChargeRequest* request);

// The amounts asked for and left, of a role that has a budget.
BudgetAmounts read_amounts(const ChargeRequest* request);

// Deducts the charge from the role's budget; returns whether that changed one row.
bool deduct(const ChargeRequest* request);

// Enters the charge in the ledger; returns whether that added one row.
bool enter_in_ledger(const ChargeRequest* request, const BudgetCheck& budget);

}  // namespace dpquantile
