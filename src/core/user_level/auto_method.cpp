#include "core/user_level/auto_method.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/user_level/budget_split.hpp"
#include "core/user_level/window_interval.hpp"

namespace dpquantile {

namespace {

// In units of U.
constexpr double kSpread = 1.0 / 6;
constexpr double kOffsets = 1.0 / 12;
constexpr double kIntervalPerSpread = 7;

double square(double x) {
  return x * x;
}

// The error to expect with at most `bound` rows of each user, in units of U.
class ModelError {
 public:
  ModelError(const RowsPerUser& counts, std::uint64_t bound, const PrivacyParameter& privacy)
      : budget_(privacy),
        bound_(static_cast<double>(bound)),
        kept_(static_cast<double>(counts.kept(bound))) {
    const auto rows = static_cast<double>(counts.rows());
    double shift = 0;
    double kept_squares = 0;
    for (const UsersWithRows& run : counts.runs()) {
      const auto users = static_cast<double>(run.users);
      const auto kept = static_cast<double>(std::min(run.rows, bound));
      shift += users * square(kept / kept_ - static_cast<double>(run.rows) / rows);
      kept_squares += users * square(kept);
    }
    left_out_ = square(kOffsets) * shift + square(kSpread) * (1 / kept_ - 1 / rows);
    array_spread_ =
        std::sqrt(square(kSpread) / bound_ + square(kOffsets) * kept_squares / (kept_ * bound_));
  }

  double of_array() const { return with_noise(expected_noise(budget_)); }

  // No less than of_array() where the interval would be public.
  double of_quantile() const {
    const auto arrays = static_cast<std::uint64_t>(std::max(1.0, kept_ / bound_));
    const WindowPlan plan =
        plan_windows(arrays, clipped_target(UserMethod::kQuantile, budget_), budget_);
    if (plan.parts == 0) return of_array();
    const double narrowest = std::exp2(-static_cast<double>(plan.finest));
    const double width = std::clamp(kIntervalPerSpread * array_spread_, narrowest, 1.0);
    return with_noise(width * expected_noise(share_of(budget_, kBudgetParts - plan.parts)));
  }

 private:
  double with_noise(double of_sensitivity_one) const {
    const double noise = of_sensitivity_one * bound_ / kept_;
    return std::sqrt(2 / std::numbers::pi * std::max(0.0, left_out_) + square(noise));
  }

  PrivacyParameter budget_;
  double bound_;
  double kept_;
  double left_out_ = 0;
  double array_spread_ = 0;
};

class LeastError {
 public:
  LeastError(const UserQuery& query, const RowsPerUser& counts) : query_(query), counts_(counts) {}

  void consider(std::uint64_t bound) {
    const ModelError error(counts_, bound, query_.privacy);
    consider(UserMethod::kArray, bound, error.of_array());
    consider(UserMethod::kQuantile, bound, error.of_quantile());
  }

  UserQuery chosen() const { return chosen_; }

 private:
  void consider(UserMethod method, std::uint64_t bound, double error) {
    if (error >= least_) return;
    least_ = error;
    chosen_ = {method, ContributionRule::kFixed, bound, query_.privacy};
  }

  const UserQuery& query_;
  const RowsPerUser& counts_;
  UserQuery chosen_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

UserQuery chosen_mean_query(const UserQuery& query, const RowsPerUser& counts) {
  if (query.method != UserMethod::kAuto) return query;
  if (counts.rows() == 0) {
    return {UserMethod::kArray, query.rule, query.max_contributions, query.privacy};
  }
  LeastError least(query, counts);
  if (query.rule == ContributionRule::kOptimal) {
    for (std::uint64_t bound = 1; bound < counts.most(); bound *= 2) least.consider(bound);
    least.consider(median_bound(counts));
    least.consider(counts.most());
  } else {
    least.consider(query.rule == ContributionRule::kMedian
                       ? median_bound(counts)
                       : std::min(query.max_contributions, counts.most()));
  }
  return least.chosen();
}

}  // namespace dpquantile
