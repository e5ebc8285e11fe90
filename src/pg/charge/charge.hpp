#pragma once

#include <optional>

#include "pg/server/postgres.hpp"

namespace dpquantile {

// What one execution of an aggregate, or one group of a user-level one, costs, and what the ledger
// says of it. Plain data.
struct Charge {
  const char* function;           // the SQL function
  const char* mechanism;          // for example "approximate"
  const char* neighbours;         // the neighbour relation, for example "add or remove one row"
  std::optional<double> epsilon;  // of one grouping set; none for a query stated in rho alone
  double delta;                   // of one grouping set; 0 for pure and zCDP mechanisms
  std::optional<double> rho;      // of one grouping set, an upper bound; none with a delta
  int grouping_sets;              // the charge is (epsilon, delta, rho) times this
  bool for_one_group;             // of several groups that are charged one by one
  int groups;                     // the number of groups where it is public, else -1
};

// Deducts the charge, by the budget's accountant, from the budget of the outer user (session user
// or SET ROLE, not the owner of a SECURITY DEFINER function) and enters it in the ledger. When this
// returns, the charge is durably committed whatever becomes of the calling transaction. In every
// other case it ereports, and nothing may be released; the charge may then have been made or not.
void charge_budget(const Charge& charge);

}  // namespace dpquantile
