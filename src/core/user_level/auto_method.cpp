#include "core/user_level/auto_method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "core/user_level/budget_split.hpp"
#include "core/user_level/window_error.hpp"
#include "core/user_level/window_interval.hpp"

namespace dpquantile {

namespace {

// In units of U.
constexpr double kSpread = 1.0 / 6;
constexpr double kOffsets[] = {0, 1.0 / 12};

// An error for each of kOffsets.
using Errors = std::array<double, std::size(kOffsets)>;

double square(double x) {
  return x * x;
}

// The errors to expect with at most `bound` rows of each user, in units of U.
class ModelErrors {
 public:
  ModelErrors(const RowsPerUser& counts, std::uint64_t bound, const PrivacyParameter& budget)
      : budget_(budget),
        bound_(static_cast<double>(bound)),
        kept_(static_cast<double>(counts.kept(bound))),
        rows_(static_cast<double>(counts.rows())) {
    for (const UsersWithRows& run : counts.runs()) {
      const auto users = static_cast<double>(run.users);
      const auto kept = static_cast<double>(std::min(run.rows, bound));
      shift_ += users * square(kept / kept_ - static_cast<double>(run.rows) / rows_);
      kept_squares_ += users * square(kept);
    }
  }

  Errors of_array() const {
    return for_offsets([&](double) { return noise_of(budget_); });
  }

  // The same as of_array() where the interval would be public.
  Errors of_quantile() const {
    const double arrays = std::max(1.0, kept_ / bound_);
    const WindowPlan plan = plan_windows(static_cast<std::uint64_t>(arrays),
                                         clipped_target(UserMethod::kQuantile, budget_), budget_);
    if (plan.parts == 0) return of_array();
    const double epsilon = interval_epsilon(budget_, plan.parts);
    const double noise = noise_of(share_of(budget_, kBudgetParts - plan.parts));
    return for_offsets([&](double offset) {
      return expected_window_error({arrays, array_spread(offset)}, plan, epsilon, noise);
    });
  }

 private:
  // `of_mean` is the error of the mean of the kept rows, by the offset.
  template <class Error>
  Errors for_offsets(Error of_mean) const {
    Errors errors{};
    std::ranges::transform(kOffsets, errors.begin(), [&](double offset) {
      return std::sqrt(2 / std::numbers::pi * left_out(offset) + square(of_mean(offset)));
    });
    return errors;
  }

  // The expected noise of the mean if no array mean is clipped.
  double noise_of(const PrivacyParameter& privacy) const {
    return expected_noise(privacy) * bound_ / kept_;
  }
  double left_out(double offset) const {
    return square(offset) * shift_ + square(kSpread) * std::max(0.0, 1 / kept_ - 1 / rows_);
  }
  double array_spread(double offset) const {
    return std::sqrt(square(kSpread) / bound_ + square(offset) * kept_squares_ / (kept_ * bound_));
  }

  PrivacyParameter budget_;
  double bound_;
  double kept_;
  double rows_;
  double shift_ = 0;
  double kept_squares_ = 0;
};

class LeastRegret {
 public:
  LeastRegret(const UserQuery& query, const RowsPerUser& counts) : query_(query), counts_(counts) {
    least_.fill(std::numeric_limits<double>::infinity());
  }

  void consider(std::uint64_t bound) {
    const ModelErrors errors(counts_, bound, query_.privacy);
    consider({UserMethod::kArray, bound, errors.of_array()});
    consider({UserMethod::kQuantile, bound, errors.of_quantile()});
  }

  UserQuery chosen() const {
    const auto best =
        std::min_element(choices_.begin(), choices_.begin() + count_,
                         [&](const Choice& a, const Choice& b) { return regret(a) < regret(b); });
    return {best->method, ContributionRule::kFixed, best->bound, query_.privacy};
  }

 private:
  struct Choice {
    UserMethod method;
    std::uint64_t bound;
    Errors errors;
  };

  void consider(const Choice& choice) {
    choices_.at(count_++) = choice;
    for (std::size_t i = 0; i < least_.size(); ++i) {
      least_[i] = std::min(least_[i], choice.errors[i]);
    }
  }

  double regret(const Choice& choice) const {
    double largest = 0;
    for (std::size_t i = 0; i < least_.size(); ++i) {
      largest = std::max(largest, choice.errors[i] / least_[i]);
    }
    return largest;
  }

  // Two methods for each power of two below 2^32 and three other bounds.
  static constexpr std::size_t kMostChoices = 2 * (32 + 3);

  const UserQuery& query_;
  const RowsPerUser& counts_;
  std::array<Choice, kMostChoices> choices_{};
  std::size_t count_ = 0;
  Errors least_;
};

}  // namespace

UserQuery chosen_mean_query(const UserQuery& query, const RowsPerUser& counts) {
  if (query.method != UserMethod::kAuto) return query;
  if (counts.rows() == 0) {
    return {UserMethod::kArray, query.rule, query.max_contributions, query.privacy};
  }
  LeastRegret least(query, counts);
  if (query.rule == ContributionRule::kOptimal) {
    for (std::uint64_t bound = 1; bound < counts.most(); bound *= 2) least.consider(bound);
    least.consider(median_bound(counts));
    least.consider(array_concentration_bound(counts));
    least.consider(counts.most());
  } else {
    least.consider(query.rule == ContributionRule::kMedian
                       ? median_bound(counts)
                       : std::min(query.max_contributions, counts.most()));
  }
  return least.chosen();
}

}  // namespace dpquantile
