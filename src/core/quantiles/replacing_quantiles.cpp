#include "core/quantiles/replacing_quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/quantiles/independent_quantiles.hpp"

namespace dpquantile {

namespace {

// Adds up draws. A sum of 4096 doubles is off by less than 2^-40 of it.
class ReplacedDraws {
 public:
  explicit ReplacedDraws(const PrivacyParameter& privacy) : privacy_(privacy) {}

  void add(double bounded_range, double multiple) {
    const double range = product_above(bounded_range, multiple);
    range_ += range;
    rho_ += rho_of_bounded_range(range);
    least_ = std::min(least_, multiple);
    most_ = std::max(most_, multiple);
  }

  PrivacyCost cost() const {
    const double rho = rho_ * kAbove;
    if (privacy_.measure == PrivacyMeasure::kZcdp) return {std::nullopt, 0, rho_within_bounds(rho)};
    const double epsilon = epsilon_within_bounds();
    return {epsilon, 0, std::min(rho, rho_of_pure(epsilon))};
  }

 private:
  static constexpr double kAbove = 1 + 0x1p-40;

  double epsilon_within_bounds() const {
    return std::clamp(range_ * kAbove, least_ * privacy_.value,
                      product_above(privacy_.value, most_));
  }
  double rho_within_bounds(double rho) const {
    // Rounding may put the lower bound above the upper one.
    return std::min(std::max(rho, least_ * least_ * privacy_.value),
                    product_above(product_above(privacy_.value, most_), most_));
  }

  PrivacyParameter privacy_;
  double range_ = 0;
  double rho_ = 0;
  double least_ = 2;
  double most_ = 1;
};

}  // namespace

double replacing_multiple(double quantile) {
  const double larger_side = std::max(quantile, 1 - quantile);
  const double multiple = 1 / larger_side;
  if (std::fma(multiple, larger_side, -1) >= 0) return multiple;
  return std::nextafter(multiple, std::numeric_limits<double>::infinity());
}

PrivacyCost replacing_cost_of_plan(const PrivacyParameter& privacy, const RecursionPlan& plan,
                                   std::span<const double> distinct) {
  ReplacedDraws draws(privacy);
  const bool first_is_single = plan.front().quantiles == 1 || distinct.size() == 1;
  const double first = distinct[drawn_quantile(distinct.size(), 1, 0)];
  for (std::size_t i = 0; i < plan.size(); ++i) {
    draws.add(plan[i].epsilon, i == 0 && first_is_single ? replacing_multiple(first) : 2);
  }
  return draws.cost();
}

PrivacyCost replacing_cost_of_independent(const PrivacyParameter& privacy,
                                          std::span<const double> distinct) {
  ReplacedDraws draws(privacy);
  const double each = independent_epsilon(distinct.size(), privacy);
  for (const double quantile : distinct) draws.add(each, replacing_multiple(quantile));
  return draws.cost();
}

}  // namespace dpquantile
