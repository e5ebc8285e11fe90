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

// The role's general budget and whether the charges of a request fit in it together.
struct BudgetCheck {
  bool found;           // false: the role has no budget, or it is locked and LockWait is kNever
  bool revoked;         // the role has no general budget; it has none at all, or some for tables
  const char* verdict;  // "fits", or why they do not fit; null: the terms of the budget are corrupt
  BudgetNeighbours neighbours;  // they decide which amounts count
};

// The same of the role's budget for a protected table.
struct TableBudgetCheck {
  bool found;
  bool revoked;
  const char* verdict;
  const char* accountant;
};

// Locks the row of the role's general budget, which each charge of the role and each grant locks
// before the rows of its other budgets, and decides whether the charges fit together.
BudgetCheck check_budget(const ChargeRequest* request, TimestampTz now, LockWait wait);

// Whether the role has a general budget, also a revoked one. Takes no lock on its row.
bool budget_exists(const ChargeRequest* request, TimestampTz now);

// Locks the row of the role's budget for the table, if there is one, and decides whether the
// charges fit together. All budgets of a role have the same neighbours. Call it after
// check_budget(), for the tables in the order of the request.
TableBudgetCheck check_table_budget(const ChargeRequest* request, Oid table, TimestampTz now,
                                    BudgetNeighbours neighbours);

// The totals that the request asks for and the amounts that are left in the role's budget for the
// table, or in its general budget for InvalidOid. ereports if there is no such budget.
BudgetAmounts read_amounts(const ChargeRequest* request, Oid table, TimestampTz now,
                           BudgetNeighbours neighbours);

// Moves the role's budgets to their periods, and deducts the totals from them: from its general
// budget, which has the sum of all charges even if it is revoked, and from those that were found
// for the request's tables. Enters each charge in the ledger, under its number among the charges of
// the role, with the names of the tables and the query's text, which is stored once for a role.
// Returns whether exactly one row was added for each charge, and so whether the budgets were
// changed; then the request gets the number of the first. The budgets, locked, have these
// neighbours.
bool deduct_and_enter(ChargeRequest* request, std::span<const TableBudgetCheck> tables,
                      TimestampTz now, BudgetNeighbours neighbours);

}  // namespace dpquantile
