#pragma once

#include "pg/ledger/charge_refusal.hpp"

// The SQL statements of a charge. SPI runs them in the charge's transaction, which must be open and
// connected to SPI. The worker keeps their plans. Every function ereports the errors of its
// statement.
namespace dpquantile {

// The role's budget and whether the charge fits in it.
struct BudgetCheck {
  bool found;           // false: the role has no budget, or it is locked and LockWait is kNever
  const char* verdict;  // "fits", or why the charge does not fit; null: unknown accountant
  Datum budget_id;      // uuid
  Datum accountant;     // text: pure or zcdp
};

// Locks the row of the role's budget and decides whether the charge fits.
BudgetCheck check_budget(const ChargeRequest* request, LockWait wait);

// Whether the role has a budget. Takes no lock on its row.
bool budget_exists(const ChargeRequest* request);

// The amounts that the charge asks for and that are left in the role's budget. ereports if the role
// has no budget.
BudgetAmounts read_amounts(const ChargeRequest* request);

// Deducts the charge from the role's budget. Returns whether exactly one row changed.
bool deduct(const ChargeRequest* request);

// Enters the charge in the ledger. Returns whether exactly one row was added.
bool enter_in_ledger(const ChargeRequest* request, const BudgetCheck& budget);

}  // namespace dpquantile
