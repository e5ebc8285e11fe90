#include "core/cdf/cdf_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

namespace {

// The least budgets of a level for which noise can be drawn.
constexpr double kLeastLevelEpsilon = 0x1p-30;
constexpr double kLeastLevelRho = 0x1p-50;
// A number counts as a grid value if it lies at most this many steps from it.
constexpr double kSameValue = 0x1p-24;

// The ranges of a plan's privacy parameter and of the levels' parts of it.
struct BudgetRange {
  double least;
  double least_of_level;
  double most;
};

BudgetRange budget_range(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::kPure
             ? BudgetRange{kMinEpsilon, kLeastLevelEpsilon, kMaxEpsilon}
             : BudgetRange{kMinRho, kLeastLevelRho, kMaxRho};
}

void check_domain(const CdfDomain& domain) {
  const bool discrete = domain.granularity > 0;
  if (!discrete && domain.granularity != 0) throw CorruptInput("invalid granularity");
  try {
    const CdfDomain made =
        discrete ? CdfDomain::create(domain.lower, domain.upper, std::nullopt, domain.granularity)
                 : CdfDomain::create(domain.lower, domain.upper, domain.bins, std::nullopt);
    if (made.bins == domain.bins) return;
  } catch (const ParameterError& error) {
    throw CorruptInput(error.what());
  }
  throw CorruptInput("bins and granularity do not agree");
}

void check_levels(const CdfPlan& plan) {
  if (plan.method == CdfMethod::kFactorization) {
    if (plan.privacy.measure != PrivacyMeasure::kZcdp) throw CorruptInput("the method needs a rho");
    if (plan.levels != 0) throw CorruptInput("the method has no tree");
    return;
  }
  if (plan.levels > LevelTree::kMaxLevels || !LevelTree::is_valid(plan.bins, plan.branching())) {
    throw CorruptInput("the tree does not fit the bins");
  }
}

void check_plan(const CdfPlan& plan, std::uint32_t bins) {
  if (plan.bins != bins) throw CorruptInput("the tree does not fit the bins");
  check_levels(plan);
  const std::string name = parameter_name(plan.privacy.measure);
  const BudgetRange range = budget_range(plan.privacy.measure);
  const auto parts = plan.level_budget();
  const bool drawable = std::ranges::all_of(
      parts, [&](double budget) { return budget >= range.least_of_level && budget <= range.most; });
  if (!(plan.privacy.value >= range.least && plan.privacy.value <= range.most) || !drawable) {
    throw CorruptInput(name + " or a level's part of it is out of range");
  }
  if (std::accumulate(parts.begin(), parts.end(), 0.0) > plan.privacy.value) {
    throw CorruptInput("the levels spend more than " + name);
  }
}

void check_counts(std::span<const std::int64_t> cumulative, std::uint32_t bins) {
  if (cumulative.size() != bins) throw CorruptInput("there must be one count a bin");
  if (cumulative.front() < 0 || cumulative.back() > CdfCurve::kMostRows ||
      !std::ranges::is_sorted(cumulative)) {
    throw CorruptInput("the counts must be non-decreasing from 0 to 2^53");
  }
}

void check_value(const char* name, double value) {
  if (!std::isnan(value)) return;
  throw ParameterError(std::string(name) + " must be a number, got NaN",
                       "Infinity and -Infinity are allowed.");
}

}  // namespace

CdfCurve::CdfCurve(const CdfDomain& domain, const CdfPlan& plan,
                   std::pmr::vector<std::int64_t> cumulative)
    : domain_(domain), plan_(plan), cumulative_(std::move(cumulative)) {
  // The text form does not keep the sign of a negative zero.
  for (double* number : {&domain_.lower, &domain_.upper, &domain_.granularity}) *number += 0.0;
  check_domain(domain_);
  check_plan(plan_, domain_.bins);
  check_counts(cumulative_, domain_.bins);
}

double CdfCurve::rows_up_to(double x) const {
  if (!(x >= domain_.lower - domain_.granularity * kSameValue)) return 0;
  if (x >= domain_.upper) return static_cast<double>(rows());
  if (domain_.discrete()) {
    const double steps = std::floor((x - domain_.lower) / domain_.granularity + kSameValue);
    const double last = domain_.bins - 1;
    return static_cast<double>(cumulative_[static_cast<std::size_t>(std::clamp(steps, 0.0, last))]);
  }
  const double position = (x - domain_.lower) / (domain_.upper - domain_.lower) * domain_.bins;
  const auto bin = static_cast<std::size_t>(std::min<double>(position, domain_.bins - 1));
  const auto before = static_cast<double>(bin == 0 ? 0 : cumulative_[bin - 1]);
  const auto after = static_cast<double>(cumulative_[bin]);
  return before + (after - before) * std::min(position - static_cast<double>(bin), 1.0);
}

// Differs from rows_up_to() on a discrete curve only: a continuous one has no rows at a single
// value.
double CdfCurve::rows_before(double x) const {
  if (!domain_.discrete()) return rows_up_to(x);
  if (!(x > domain_.lower)) return 0;
  if (x > domain_.upper + domain_.granularity * kSameValue) return static_cast<double>(rows());
  const double steps = std::ceil((x - domain_.lower) / domain_.granularity - kSameValue);
  const double bins = domain_.bins;
  return steps < 1 ? 0
                   : static_cast<double>(
                         cumulative_[static_cast<std::size_t>(std::min(steps, bins)) - 1]);
}

double CdfCurve::count(double from, double to) const {
  check_value("from_value", from);
  check_value("to_value", to);
  if (from > to) {
    throw ParameterError("from_value must not be greater than to_value, got " +
                             shortest_decimal(from) + " and " + shortest_decimal(to),
                         "The arguments come in the order from_value, to_value.");
  }
  return std::max(0.0, rows_up_to(to) - rows_before(from));
}

std::optional<double> CdfCurve::probability(double x) const {
  check_value("x", x);
  if (rows() == 0) return std::nullopt;
  return rows_up_to(x) / static_cast<double>(rows());
}

std::optional<double> CdfCurve::quantile(double q) const {
  if (!(q >= 0 && q <= 1)) {
    throw ParameterError("a quantile must be from 0 to 1, got " + shortest_decimal(q),
                         "0.5 is the median.");
  }
  if (rows() == 0) return std::nullopt;
  const double target = q * static_cast<double>(rows());
  const auto reached = std::ranges::partition_point(cumulative_, [&](std::int64_t count) {
    return !(count > 0 && static_cast<double>(count) / static_cast<double>(rows()) >= q);
  });
  const auto bin = static_cast<std::uint32_t>(reached - cumulative_.begin());
  if (domain_.discrete()) return domain_.point(bin);
  const auto before = static_cast<double>(bin == 0 ? 0 : cumulative_[bin - 1]);
  const double part = (target - before) / (static_cast<double>(*reached) - before);
  const double from = domain_.point(bin);
  const double to = domain_.point(bin + 1);
  // from + (to - from) may be the double above `to`.
  return std::min(from + (to - from) * std::clamp(part, 0.0, 1.0), to);
}

std::optional<double> CdfCurve::quantile_error(double q, double error_rows) const {
  const std::optional<double> answer = quantile(q);
  if (!answer) return std::nullopt;
  const double share = error_rows / static_cast<double>(rows());
  const double width =
      domain_.discrete() ? domain_.granularity / 2 : domain_.point(1) - domain_.point(0);
  const double low = q > share ? *quantile(q - share) - width : domain_.lower;
  const double high = q + share <= 1 ? *quantile(q + share) + width : domain_.upper;
  return std::max(*answer - std::max(low, domain_.lower), std::min(high, domain_.upper) - *answer);
}

std::pmr::vector<CdfPoint> CdfCurve::points(double band_rows,
                                            std::pmr::memory_resource* memory) const {
  std::pmr::vector<CdfPoint> points(memory);
  points.reserve(std::size_t{domain_.bins} + 1);
  const auto all = static_cast<double>(rows());
  const auto add = [&](double x, double count, double error) {
    if (rows() == 0) {
      points.push_back({x, std::numeric_limits<double>::quiet_NaN(), 0, 1});
    } else {
      points.push_back({x, count / all, std::max(0.0, (count - error) / all),
                        std::min(1.0, (count + error) / all)});
    }
  };
  // No rows lie before the first bin and all rows lie up to the last: the ends have no error.
  if (!domain_.discrete()) add(domain_.lower, 0, 0);
  for (std::uint32_t i = 0; i < domain_.bins; ++i) {
    const bool last = i + 1 == domain_.bins;
    add(domain_.point(domain_.discrete() ? i : i + 1), static_cast<double>(cumulative_[i]),
        last ? 0 : band_rows);
  }
  return points;
}

}  // namespace dpquantile
