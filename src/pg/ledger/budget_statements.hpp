#pragma once

#include "pg/ledger/charge_refusal.hpp"

// The SQL statements of a request. SPI runs them in its transaction, which must be open and
// connected to SPI. The worker keeps their plans. Every function ereports the errors of its
// statement.
namespace dpquantile {

// The role's budget and whether the charges of a request fit in it together.
struct BudgetCheck {
  bool found;           // false: the role has no budget, or it is locked and LockWait is kNever
  const char* verdict;  // "fits", or why they do not fit; null: the terms of the budget are corrupt
  BudgetNeighbours neighbours;  // they decide which amounts count
};

// Locks the row of the role's budget and decides whether the charges fit together.
BudgetCheck check_budget(const ChargeRequest* request, LockWait wait);

// Whether the role has a budget. Takes no lock on its row.
bool budget_exists(const ChargeRequest* request);

// The totals that the request asks for and the amounts that are left in the role's budget, which
// has these neighbours. ereports if the role has no budget.
BudgetAmounts read_amounts(const ChargeRequest* request, BudgetNeighbours neighbours);

// Deducts the totals from the role's budget and enters each charge in the ledger, under its number
// among the charges of the budget, with the query's text, which is stored once for a budget.
// Returns whether exactly one row was added for each charge, and so whether the budget was changed;
// then the request gets the number of the first. The budget, locked, has these neighbours.
bool deduct_and_enter(ChargeRequest* request, BudgetNeighbours neighbours);

}  // namespace dpquantile
