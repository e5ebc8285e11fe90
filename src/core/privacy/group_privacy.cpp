#include "core/privacy/group_privacy.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile {

namespace {

// What the parameter of a guarantee is multiplied with for this many rows.
double factor_of(PrivacyMeasure measure, std::uint32_t rows) {
  const double number = rows;
  return measure == PrivacyMeasure::kPure ? number : number * number;
}

double quotient_below(double value, double factor) {
  double quotient = value / factor;
  while (product_above(quotient, factor) > value) quotient = std::nextafter(quotient, 0.0);
  return quotient;
}

PrivacyCost cost_of_rows(const PrivacyCost& of_row, std::uint32_t rows) {
  if (of_row.delta != 0) {
    throw ParameterError(
        "an aggregate with a delta cannot be asked of a table that limits the rows of a person",
        "For dp_iqr use dp_options(method => 'quantiles').");
  }
  PrivacyCost cost = of_row;
  if (cost.epsilon) {
    cost.epsilon = product_above(*cost.epsilon, factor_of(PrivacyMeasure::kPure, rows));
  }
  if (cost.rho) cost.rho = product_above(*cost.rho, factor_of(PrivacyMeasure::kZcdp, rows));
  return cost;
}

// An epsilon has a rho besides, which group privacy may make larger than that of any mechanism.
void lower_rho(PrivacyCost* cost) {
  if (cost->epsilon && cost->rho) cost->rho = std::min(*cost->rho, rho_of_pure(*cost->epsilon));
}

}  // namespace

PrivacyParameter guarantee_of_row(const PrivacyParameter& stated, std::uint32_t rows) {
  const PrivacyParameter of_row = {stated.measure,
                                   quotient_below(stated.value, factor_of(stated.measure, rows))};
  const double least = stated.measure == PrivacyMeasure::kPure ? kMinEpsilon : kMinRho;
  if (of_row.value >= least) return of_row;
  throw ParameterError(std::string(parameter_name(stated.measure)) + " " +
                           shortest_decimal(stated.value) + " is too small for a person with " +
                           std::to_string(rows) + " rows",
                       "Each row gets a part of it, which must be at least " +
                           shortest_decimal(least) + ". Ask for more.");
}

ReleaseCosts costs_of_person(const ReleaseCosts& of_row, const PrivacyParameter& stated,
                             std::uint32_t rows) {
  ReleaseCosts costs = {cost_of_rows(of_row.own, rows), cost_of_rows(of_row.replacing, rows)};
  std::optional<double>& own =
      stated.measure == PrivacyMeasure::kPure ? costs.own.epsilon : costs.own.rho;
  own = std::max(own.value_or(0), stated.value);
  lower_rho(&costs.own);
  lower_rho(&costs.replacing);
  return costs;
}

}  // namespace dpquantile
