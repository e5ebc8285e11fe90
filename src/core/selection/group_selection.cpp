#include "core/selection/group_selection.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/base/wide_real.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

namespace {

// The proof in docs/privacy.md needs these margins.
constexpr double kSpent = 1 - 0x1p-20;
constexpr double kBelowTurn = 1 - 0x1p-30;
constexpr double kMostEpsilon = 16;

// More rows than any group needs to be kept always.
constexpr std::uint64_t kManyRows = std::uint64_t{1} << 40;

template <class Real>
Real exp_minus_one(const Real& x) {
  if constexpr (std::is_floating_point_v<Real>) {
    return std::expm1(x);
  } else {
    return exp(x) - 1;
  }
}

WideReal growth(double epsilon, std::uint64_t steps) {
  return exp_minus_one(WideReal(WideReal(epsilon) * WideReal(steps)));
}

// delta (e^(n epsilon) - 1) / (e^epsilon - 1): the first branch alone.
WideReal rising_probability(double epsilon, double delta, std::uint64_t rows) {
  return WideReal(delta) * growth(epsilon, rows) / growth(epsilon, 1);
}

// The two branches of the minimum are equal at (1 - delta) / (1 + e^epsilon).
WideReal turn(double epsilon, double delta) {
  return WideReal(kBelowTurn) * (1 - WideReal(delta)) / (2 + growth(epsilon, 1));
}

// The largest n with rising_probability(n - 1) <= turn().
std::uint64_t rising_rows(double epsilon, double delta) {
  const WideReal most = turn(epsilon, delta);
  std::uint64_t low = 1;
  std::uint64_t high = 2;
  const auto rises = [&](std::uint64_t rows) {
    return rising_probability(epsilon, delta, rows - 1) <= most;
  };
  while (rises(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (rises(middle) ? low : high) = middle;
  }
  return low;
}

void check_selection(double epsilon, double delta, std::uint64_t groups) {
  check_epsilon(epsilon);
  if (!(delta >= kMinSelectionDelta && delta <= kMaxSelectionDelta)) {
    throw ParameterError(Argument::kDelta,
                         "delta must be between 1e-290 and 0.5, got " + shortest_decimal(delta),
                         "Choose a delta far below 1 / (number of rows), for example 1e-06; "
                         "smaller is more private.");
  }
  const auto divisor = static_cast<double>(groups);
  if (groups >= 1 && epsilon / divisor >= kMinEpsilon && delta / divisor >= kMinSelectionDelta) {
    return;
  }
  throw ParameterError(
      "epsilon and delta do not suffice for persons in up to " + std::to_string(groups) + " groups",
      "Each group gets an equal part of both. Allow fewer groups of a person.");
}

}  // namespace

GroupSelection::GroupSelection(double epsilon, double delta, std::uint64_t groups_per_user) {
  check_selection(epsilon, delta, groups_per_user);
  const auto groups = static_cast<double>(groups_per_user);
  epsilon_ = kSpent * std::min(epsilon / groups, kMostEpsilon);
  delta_ = kSpent * (delta / groups);
  rising_ = rising_rows(epsilon_, delta_);
  top_ = static_cast<double>(rising_probability(epsilon_, delta_, rising_));
}

// Beyond rising_ rows the drop probability falls by d' = e^-epsilon (d - delta) a row.
GroupSelection::Odds GroupSelection::odds(std::uint64_t rows) const {
  if (rows <= rising_) {
    return {static_cast<double>(rising_probability(epsilon_, delta_, rows)), true};
  }
  using std::exp;
  const WideReal exponent = -(WideReal(epsilon_) * WideReal(rows - rising_));
  const WideReal rest = exp(exponent) * (1 - WideReal(top_));
  const WideReal drop = rest + WideReal(delta_) * exp_minus_one(exponent) / growth(epsilon_, 1);
  return {std::max(static_cast<double>(drop), 0.0), false};
}

double GroupSelection::keep_probability(std::uint64_t rows) const {
  const Odds law = odds(rows);
  return law.kept ? law.probability : 1 - law.probability;
}

// unit_real() is below a double with exactly the probability that the double states.
bool GroupSelection::draw_keep(std::uint64_t rows, RandomStream& random) const {
  const Odds law = odds(rows);
  return (random.unit_real() < law.probability) == law.kept;
}

namespace {

// The least number of rows for which a predicate holds that stays true from there on.
template <class Predicate>
std::uint64_t least_rows(Predicate holds) {
  std::uint64_t low = 0;
  std::uint64_t high = kManyRows;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::uint64_t GroupSelection::rows_kept_half_the_time() const {
  return least_rows([&](std::uint64_t rows) { return keep_probability(rows) >= 0.5; });
}

std::uint64_t GroupSelection::rows_always_kept() const {
  return least_rows([&](std::uint64_t rows) {
    const Odds law = odds(rows);
    return !law.kept && law.probability == 0;
  });
}

PrivacyCost selection_cost(double epsilon, double delta, std::uint64_t groups_per_user) {
  const auto groups = static_cast<double>(groups_per_user);
  return approximate_cost(epsilon, delta, product_above(rho_of_pure(epsilon / groups), groups));
}

}  // namespace dpquantile
