#pragma once

#include <optional>

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The cost of one execution of an aggregate, or of one group of a user-level aggregate, and what
// the ledger records about it. Plain data.
struct Charge {
  const char* function;           // the SQL function
  const char* mechanism;          // for example "approximate"
  const char* neighbours;         // the neighbour relation, for example "add or remove one row"
  std::optional<double> epsilon;  // for one grouping set; none for a query stated in rho alone
  double delta;                   // for one grouping set; 0 for pure and zCDP mechanisms
  std::optional<double> rho;      // for one grouping set, an upper bound; none with a delta
  int grouping_sets;              // the charge is (epsilon, delta, rho) times this
  int groups;                     // the number of groups if it is public, otherwise -1
};

// Deducts the charge from the budget of the outer user (session user or SET ROLE, not the owner of
// a SECURITY DEFINER function), by the rules of the budget's accountant, and enters it in the
// ledger. after_first_group: another call has charged the first group. It changes the hint of a
// refusal and nothing else.
//
// When this returns, the charge is durably committed, even if the calling transaction rolls back.
// In every other case it ereports; then nothing may be released, and the charge may have been made
// or not.
void charge_budget(const Charge& charge, bool after_first_group);

}  // namespace dpquantile
