#pragma once

#include <span>

#include "core/privacy/mechanism.hpp"
#include "pg/ledger/charge_request.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace dpquantile {

// What one private aggregate of a query costs, and what the ledger records about it. The charge is
// one of the costs, by the neighbours of the budget, times `times`: the number of grouping sets, or
// of groups for an aggregate that is charged for each group. Plain data.
struct Charge {
  const char* function;    // the SQL function
  const char* mechanism;   // for example "approximate"
  const char* neighbours;  // the relation of costs.own, for example "add or remove one row"
  ReleaseCosts costs;      // for one time
  int times;               // 1 or more
  int grouping_sets;       // for the ledger
  int groups;              // for the ledger: their number if it is public, otherwise -1
};

// Deducts the charges from the budget of the outer user (session user or SET ROLE, not the owner of
// a SECURITY DEFINER function), by the rules of the budget's accountant, and enters each of them in
// the ledger, all in one transaction or none. They are the charges of the private aggregates of one
// query level. There must be at least one; with more than kMaxCharges it ereports and makes none.
// tables: OIDs of the protected tables that the rows are of. Budgets of the role for these tables
// are charged the same, too.
// after_first_group: another call has charged the first group before the query's rows were read,
// and these charges are for the other groups. It changes the hint of a refusal and nothing else.
//
// When this returns, the charges are durably committed, even if the calling transaction rolls back.
// In every other case it ereports; then nothing may be released, and the charges may have been made
// or not. Returns the number of the first among the charges of the budget, in the ledger.
int64 charge_budget(std::span<const Charge> charges, const List* tables, bool after_first_group);

}  // namespace dpquantile
