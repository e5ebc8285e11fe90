#pragma once

#include "pg/ledger/charge_refusal.hpp"

extern "C" {
#include "datatype/timestamp.h"
}

// The SQL statements of a request. SPI runs them in its transaction, which must be open and
// connected to SPI. The worker keeps their plans. Every function ereports the errors of its
// statement.
//
// `now` is the time of the request, the same for all its statements. A budget that is renewed is in
// the later of two periods: the one with `now`, and that of its latest charge. So a clock that goes
// back never begins a period a second time.
namespace dpquantile {

// The role's budget and whether the charges of a request fit in it together.
struct BudgetCheck {
  bool found;           // false: the role has no budget, or it is locked and LockWait is kNever
  const char* verdict;  // "fits", or why they do not fit; null: the terms of the budget are corrupt
  BudgetNeighbours neighbours;  // they decide which amounts count
};

// Locks the row of the role's budget and decides whether the charges fit together.
BudgetCheck check_budget(const ChargeRequest* request, TimestampTz now, LockWait wait);

// Whether the role has a budget. Takes no lock on its row.
bool budget_exists(const ChargeRequest* request, TimestampTz now);

// The totals that the request asks for and the amounts that are left in the role's budget, which
// has these neighbours. ereports if the role has no budget.
BudgetAmounts read_amounts(const ChargeRequest* request, TimestampTz now,
                           BudgetNeighbours neighbours);

// Moves the role's budget to its period, deducts the totals from it and enters each charge in the
// ledger, under its number among the charges of the budget, with the query's text, which is stored
// once for a budget. Returns whether exactly one row was added for each charge, and so whether the
// budget was changed; then the request gets the number of the first. The budget, locked, has these
// neighbours.
bool deduct_and_enter(ChargeRequest* request, TimestampTz now, BudgetNeighbours neighbours);

}  // namespace dpquantile
