// Functions that the SQL views and functions of the budget call.
#include <cmath>
#include <limits>
#include <string_view>

#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/zcdp.hpp"
#include "pg/parameters/prepared_mechanism.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// The budget table holds decimals. Rounding to a double may have made an amount larger.
double just_below(double decimal) {
  return decimal * (1 - 0x1p-50);
}

void require_not_negative(const char* name, double value) {
  if (value >= 0) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s must be 0 or more, got %s", name, decimal_text(value)),
                  errhint("A budget with limits epsilon 1 and delta 1e-6 has a rho of 0.024.")));
}

void require_probability(double delta) {
  if (delta > 0 && delta < 1) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("delta must be above 0 and below 1, got %s", decimal_text(delta)),
                  errhint("A useful delta is far below one over the number of rows.")));
}

// The parameters of a call of a family with default options and evenly spaced quantiles.
AggregateParameters* ordinary_call(Family family, double epsilon, uint32 quantile_count,
                                   QuantilesMethod method = QuantilesMethod::kApproximate) {
  auto* quantiles = static_cast<double*>(palloc((quantile_count + 1) * sizeof(double)));
  for (uint32 i = 0; i < quantile_count; ++i) quantiles[i] = (i + 1.0) / (quantile_count + 1);
  GivenParameters given{};
  given.family = family;
  given.privacy = pure(epsilon);
  given.lower = -1;
  given.upper = 1;
  given.options = default_options(row_of(family));
  if (family == Family::kQuantiles) given.options.method = static_cast<Method>(method);
  given.quantiles = {quantiles, quantile_count};
  return make_parameters(given);
}

AggregateParameters* call_named(std::string_view name, double epsilon) {
  constexpr uint32 kSeveral = 9;
  if (name == "one quantile") return ordinary_call(Family::kQuantiles, epsilon, 1);
  if (name == "nine quantiles") return ordinary_call(Family::kQuantiles, epsilon, kSeveral);
  if (name == "nine quantiles, auto") {
    return ordinary_call(Family::kQuantiles, epsilon, kSeveral, QuantilesMethod::kAuto);
  }
  if (name == "dp_cdf") return ordinary_call(Family::kCdf, epsilon, 0);
  // No epsilon-differentially private call costs more than a sum with such bounds.
  return ordinary_call(Family::kSum, epsilon, 0);
}

// (query text, epsilon float8, neighbours text): the cost of a query of this kind, charged to a
// budget with these neighbours.
PrivacyCost cost_of_arguments(FunctionCallInfo fcinfo) {
  const text* query = PG_GETARG_TEXT_PP(0);
  const std::string_view name(VARDATA_ANY(query), VARSIZE_ANY_EXHDR(query));
  const ReleaseCosts costs = costs_of_call(call_named(name, stated_amount(PG_GETARG_FLOAT8(1))));
  const text* neighbours = PG_GETARG_TEXT_PP(2);
  const std::string_view relation(VARDATA_ANY(neighbours), VARSIZE_ANY_EXHDR(neighbours));
  return relation == "replace" ? costs.replacing : costs.own;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// The role whose budget this session spends: the outer user, not the owner of a SECURITY DEFINER
// function.
DPQ_FUNCTION(dpq_charged_role) {
  PG_RETURN_OID(GetOuterUserId());
}

// () returns void: ereports unless library and SQL objects are of the same version.
DPQ_FUNCTION(dpq_check_version) {
  require_matching_sql();
  PG_RETURN_VOID();
}

// (float8) returns numeric: the decimal of a stated amount.
DPQ_FUNCTION(dpq_decimal) {
  PG_RETURN_DATUM(decimal_numeric(stated_amount(PG_GETARG_FLOAT8(0))));
}

// (epsilon float8, delta float8) returns numeric: the largest rho, rounded down, that rho_within()
// finds to imply (epsilon, delta)-differential privacy.
DPQ_FUNCTION(dpq_rho_within) {
  require_not_negative("epsilon", PG_GETARG_FLOAT8(0));
  require_probability(PG_GETARG_FLOAT8(1));
  const float8 epsilon = just_below(PG_GETARG_FLOAT8(0));
  const float8 delta = just_below(PG_GETARG_FLOAT8(1));
  float8 rho = 0;
  report(guarded([&] { rho = rho_within(epsilon, delta); }));
  PG_RETURN_DATUM(decimal_numeric_below(rho));
}

// (rho float8, delta float8) returns numeric: the smallest epsilon, rounded up, that
// epsilon_of_zcdp() finds rho to imply at this delta.
DPQ_FUNCTION(dpq_epsilon_of_rho) {
  const float8 rho = PG_GETARG_FLOAT8(0);
  require_not_negative("rho", rho);
  require_probability(PG_GETARG_FLOAT8(1));
  const float8 delta = just_below(PG_GETARG_FLOAT8(1));
  if (rho == 0) PG_RETURN_DATUM(decimal_numeric(0));
  float8 epsilon = 0;
  report(guarded([&] {
    epsilon = epsilon_of_zcdp(std::nextafter(rho, std::numeric_limits<double>::infinity()), delta);
  }));
  PG_RETURN_DATUM(epsilon == 0 ? decimal_numeric(0) : decimal_numeric_above(epsilon));
}

// Returns numeric: the rho of cost_of_arguments().
DPQ_FUNCTION(dpq_charged_rho) {
  PG_RETURN_DATUM(decimal_numeric_above(*cost_of_arguments(fcinfo).rho));
}

// Returns numeric: the epsilon of cost_of_arguments().
DPQ_FUNCTION(dpq_charged_epsilon) {
  PG_RETURN_DATUM(decimal_numeric(*cost_of_arguments(fcinfo).epsilon));
}
