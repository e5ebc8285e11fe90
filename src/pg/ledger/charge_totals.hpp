#pragma once

#include "pg/ledger/charge_request.hpp"
#include "pg/ledger/statement.hpp"

// Exact sums over the charges of a request, as PostgreSQL numerics. The worker computes them
// itself, because aggregates in the statements would have to be planned by each new worker.
namespace dpquantile {

// What one charge costs a budget with these neighbours, all its times together. palloc'd.
// epsilon_of() is null for a query stated in rho alone, rho_of() for a charge with a delta.
Amount epsilon_of(const ChargeItem& item, BudgetNeighbours neighbours);
Amount delta_of(const ChargeItem& item, BudgetNeighbours neighbours);
Amount rho_of(const ChargeItem& item, BudgetNeighbours neighbours);

// The sums of the costs and the least of them. Null if no charge has the amount.
struct ChargeTotals {
  Amount epsilon;
  Amount delta;
  Amount rho;
  Amount least_epsilon;
  Amount least_rho;
  bool has_rho_alone = false;  // whether a charge has no epsilon
  int32 item_without_rho = 0;  // the number of the first charge, from 1, without a rho; 0: none
};

// ereports if an amount of the request is not a number, or memory is short.
ChargeTotals totals_of(const ChargeRequest* request, BudgetNeighbours neighbours);

}  // namespace dpquantile
