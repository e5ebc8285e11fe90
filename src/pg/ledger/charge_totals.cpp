#include "pg/ledger/charge_totals.hpp"

extern "C" {
#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

Amount times(const char* decimal, int32 times) {
  if (decimal[0] == '\0') return {};
  const Datum once = DirectFunctionCall3(numeric_in, CStringGetDatum(decimal),
                                         ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
  return {DirectFunctionCall2(numeric_mul, once, NumericGetDatum(int64_to_numeric(times))), false};
}

// Combines two amounts by a function of PostgreSQL. A missing amount leaves the other.
Amount combined(PGFunction function, const Amount& total, const Amount& amount) {
  if (total.is_null) return amount;
  if (amount.is_null) return total;
  return {DirectFunctionCall2(function, total.value, amount.value), false};
}

void add(Amount& total, const Amount& amount) {
  total = combined(numeric_add, total, amount);
}

void take_less(Amount& least, const Amount& amount) {
  least = combined(numeric_smaller, least, amount);
}

}  // namespace

Amount epsilon_of(const ChargeItem& item, BudgetNeighbours neighbours) {
  return times(charged_amounts(item, neighbours).epsilon, item.times);
}

Amount delta_of(const ChargeItem& item, BudgetNeighbours neighbours) {
  return times(charged_amounts(item, neighbours).delta, item.times);
}

Amount rho_of(const ChargeItem& item, BudgetNeighbours neighbours) {
  return times(charged_amounts(item, neighbours).rho, item.times);
}

ChargeTotals totals_of(const ChargeRequest* request, BudgetNeighbours neighbours) {
  ChargeTotals totals;
  for (const ChargeItem& item : items_of(request)) {
    const Amount epsilon = epsilon_of(item, neighbours);
    const Amount rho = rho_of(item, neighbours);
    add(totals.epsilon, epsilon);
    add(totals.delta, delta_of(item, neighbours));
    add(totals.rho, rho);
    take_less(totals.least_epsilon, epsilon);
    take_less(totals.least_rho, rho);
    totals.has_rho_alone = totals.has_rho_alone || epsilon.is_null;
  }
  return totals;
}

}  // namespace dpquantile
