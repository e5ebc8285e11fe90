#pragma once

#include "pg/ledger/charge_request.hpp"
#include "pg/ledger/statement.hpp"

// Exact sums over the charges of a request, as PostgreSQL numerics. The worker computes them
// itself, because aggregates in the statements would have to be planned by each new worker.
namespace dpquantile {

// What one charge costs a budget with these neighbours, all its times together. palloc'd.
// epsilon_of() is null for a query stated in rho alone.
Amount epsilon_of(const ChargeItem& item, BudgetNeighbours neighbours);
Amount delta_of(const ChargeItem& item, BudgetNeighbours neighbours);
Amount rho_of(const ChargeItem& item, BudgetNeighbours neighbours);

// The sums of the costs and the least of them. Those of epsilon are null if no charge has one.
struct ChargeTotals {
  Amount epsilon;
  Amount delta;
  Amount rho;
  Amount least_epsilon;
  Amount least_rho;
  bool has_rho_alone = false;  // whether a charge has no epsilon
};

// ereports if an amount of the request is not a number, or memory is short.
ChargeTotals totals_of(const ChargeRequest* request, BudgetNeighbours neighbours);

}  // namespace dpquantile
