#pragma once

#include "pg/ledger/charge_refusal.hpp"

extern "C" {
#include "datatype/timestamp.h"
#include "utils/uuid.h"
}

// The SQL statements of a request. SPI runs them in its transaction, which must be open and
// connected to SPI. The worker keeps their plans. Every function ereports the errors of its
// statement.
//
// `now` is the time of the request, the same for all its statements. A budget that is renewed is in
// the later of two periods: the one with `now`, and that of its latest charge. So a clock that goes
// back never begins a period a second time.
namespace dpquantile {

// A budget of the role, and whether the charges of a request fit in it together
// (dpquantile.verdict).
struct BudgetCheck {
  bool found;    // false: the role has no such budget, or it is locked and LockWait is kNever
  bool revoked;  // a general one: the role has none, or only some for tables
  const char* verdict;  // "fits", or why they do not fit; null: the terms of the budget are corrupt
  const char* accountant;
  BudgetNeighbours neighbours;  // they decide which amounts count
  pg_uuid_t id;
  bool is_named;  // of a table: its present name is known to be one of its names
};

// Notes what is published of a table (RequestKind::kPublished). ereports if no row was added.
void note_published(const ChargeRequest* request, TimestampTz now);

// Locks the row of the role's general budget, which each charge of the role and each grant locks
// before the rows of its other budgets, and decides whether the charges fit together.
BudgetCheck check_budget(const ChargeRequest* request, TimestampTz now, LockWait wait);

// Whether the role has a general budget, also a revoked one. Takes no lock on its row.
bool budget_exists(const ChargeRequest* request, TimestampTz now);

// Likewise for the role's budgets for the request's tables, in the order of their OIDs. Writes one
// for each table, in the order of the request. All budgets of a role have the same neighbours: it
// ereports if one has others. Call it after check_budget().
void check_table_budgets(const ChargeRequest* request, TimestampTz now, BudgetNeighbours neighbours,
                         BudgetCheck* budgets);

// The totals that the request asks for and the amounts that are left in a budget that was found:
// the one for the table, or the general one for InvalidOid.
BudgetAmounts read_amounts(const ChargeRequest* request, const BudgetCheck& budget, Oid table,
                           TimestampTz now);

// Moves the role's budgets to their periods, and deducts the totals from them: from its general
// budget, which has the sum of all charges even if it is revoked, and from those that were found
// for the request's tables. Enters each charge in the ledger, under its number among the charges of
// the role, with the names of the tables and the query's text, which is stored once for a role.
// Returns whether exactly one row was added for each charge, and so whether the budgets were
// changed; then the request gets the number of the first. The budgets are locked.
bool deduct_and_enter(ChargeRequest* request, const BudgetCheck& general,
                      std::span<const BudgetCheck> tables, TimestampTz now);

}  // namespace dpquantile
