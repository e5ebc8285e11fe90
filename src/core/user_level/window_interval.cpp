#include "core/user_level/window_interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory_resource>
#include <numbers>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/privacy/weighted_sampler.hpp"
#include "core/user_level/budget_split.hpp"

namespace dpquantile {

namespace {

constexpr unsigned kCellBits = 13;
constexpr std::uint32_t kCells = 1U << kCellBits;
constexpr std::uint32_t kCellUnits = FixedPoint::kOne >> kCellBits;

constexpr unsigned kFinest = 10;
constexpr unsigned kCoarsest = 2;  // of the finest windows that are worth a draw

// With fewer parts the ends of the interval would scatter more than the parts save in noise.
constexpr unsigned kLeastParts = 7;

constexpr double kLeastPreference = 1;
constexpr double kMostPreference = 5;
constexpr double kPreferenceStep = 0.25;
constexpr double kMargin = 3;
constexpr double kClippedByNoise = 5;
constexpr double kMostClippedShare = 0.1;

// Pays for rounding: docs/privacy.md, Lemma 17.
constexpr double kRoundingSlack = 1.0 / 1024;
// Weights below e^-kFarthest of the largest are left out.
constexpr double kFarthest = 120;

// ln of the weight of all windows, in units of that of one window of the whole range.
double log_weight_of_windows(unsigned finest, double preference) {
  const double exponent = 1 + preference;
  const double of_narrowest = kStartsPerWidth / (1 - std::exp2(-exponent / kWidthsPerOctave));
  return finest * exponent * std::numbers::ln2 + std::log(of_narrowest);
}

// The largest theta for which the need is at most `room`, as it grows with theta; 0 if there is
// none.
double largest_preference(unsigned finest, double room) {
  double largest = 0;
  double next = kLeastPreference;
  while (next <= kMostPreference && log_weight_of_windows(finest, next) <= room) {
    largest = next;
    next += kPreferenceStep;
  }
  return largest;
}

// The mean of a width with a density proportional to w^(-theta - 1) for w = narrowest .. 1, in
// units of the narrowest. Requires theta >= 1.
double mean_width(double theta, double narrowest) {
  const double within = 1 - std::pow(narrowest, theta);
  if (theta == 1) return -std::log(narrowest) / within;
  return theta / (theta - 1) * (1 - std::pow(narrowest, theta - 1)) / within;
}

struct Window {
  std::uint32_t begin;  // in cells
  std::uint32_t end;
  unsigned width;  // j
};

template <class Visit>
void for_each_window(unsigned finest, Visit visit) {
  for (unsigned j = 0; j <= kWidthsPerOctave * finest; ++j) {
    const double exact = kCells * std::exp2(-static_cast<double>(j) / kWidthsPerOctave);
    const auto width = static_cast<std::uint32_t>(std::lround(exact));
    const std::uint32_t last = kCells - width;
    for (std::uint32_t i = 0;; ++i) {
      const std::uint32_t begin = std::min(i * width / kStartsPerWidth, last);
      visit(Window{begin, begin + width, j});
      if (begin == last) break;
    }
  }
}

// How many array means lie before each cell.
std::pmr::vector<std::uint32_t> means_before(std::span<const FilledArray> arrays,
                                             const Workspace& work) {
  std::pmr::vector<std::uint32_t> before(kCells + 1, work.memory);
  for (const FilledArray& array : arrays) {
    work.cancel.tick();
    const std::uint64_t cell = array.sum / array.rows / kCellUnits;
    ++before[as_size(std::min<std::uint64_t>(cell, kCells - 1)) + 1];
  }
  for (std::uint32_t cell = 0; cell < kCells; ++cell) before[cell + 1] += before[cell];
  return before;
}

// The windows of a plan and their weights for one dataset.
class WeightedWindows {
 public:
  WeightedWindows(std::span<const FilledArray> arrays, const WindowPlan& plan, double epsilon,
                  const Workspace& work)
      : plan_(plan),
        lambda_(epsilon * (1 - kRoundingSlack) / 2),
        all_(static_cast<std::int64_t>(arrays.size())),
        before_(means_before(arrays, work)),
        work_(work) {
    for_each_window(plan.finest, [&](const Window& window) {
      least_cost_ = std::min(least_cost_, cost(window));
    });
    fill_costs();
    fill_preferences();
    for_each_window(plan.finest, [&](const Window& window) { total_ += weight(window); });
  }

  // The window's weight, of which the heaviest have 1 to 2^(theta J), and the sum of all.
  double weight(const Window& window) const {
    work_.cancel.tick();
    const auto excess = static_cast<std::size_t>(cost(window) - least_cost_);
    return excess < by_cost_.size() ? preferences_[window.width] * by_cost_[excess] : 0;
  }
  double total() const { return total_; }

 private:
  std::int64_t cost(const Window& window) const {
    const auto target = static_cast<std::int64_t>(plan_.clipped);
    const std::int64_t low = before_[window.begin] - target;
    const std::int64_t high = all_ - before_[window.end] - target;
    return std::max({std::abs(low), std::abs(high), std::abs(low + high)});
  }

  void fill_costs() {
    const double most = std::min(kFarthest / lambda_, static_cast<double>(2 * all_));
    by_cost_.reserve(static_cast<std::size_t>(most) + 1);
    for (double excess = 0; excess <= most; ++excess) {
      work_.cancel.tick();
      by_cost_.push_back(std::exp(-lambda_ * excess));
    }
  }

  void fill_preferences() {
    for (unsigned j = 0; j <= kWidthsPerOctave * plan_.finest; ++j) {
      preferences_.push_back(std::exp2(plan_.narrow_preference * j / kWidthsPerOctave));
    }
  }

  const WindowPlan& plan_;
  double lambda_;
  std::int64_t all_;
  std::pmr::vector<std::uint32_t> before_;
  Workspace work_;
  std::int64_t least_cost_ = std::numeric_limits<std::int64_t>::max();
  std::pmr::vector<double> by_cost_{work_.memory};
  std::pmr::vector<double> preferences_{work_.memory};
  double total_ = 0;
};

}  // namespace

double clipped_target(UserMethod method, const PrivacyParameter& privacy) {
  const double multiple = method == UserMethod::kQuantileAdaptive ? 1 : kClippedByNoise;
  return multiple * expected_noise(privacy);
}

WindowPlan plan_windows(std::uint64_t arrays, double clipped, const PrivacyParameter& privacy) {
  const auto count = static_cast<double>(arrays);
  const double target = std::floor(std::min(clipped, count * kMostClippedShare));
  const double margin = kMargin + std::log(std::max(1.0, count / expected_noise(privacy)));
  const auto room = [&](unsigned parts) {
    return interval_epsilon(privacy, parts) / 2 * (count - target) - margin;
  };
  WindowPlan best{0, 0, 0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned finest = kFinest; finest >= kCoarsest && best.parts == 0; --finest) {
    for (unsigned parts = kLeastParts; parts <= kMostIntervalParts; ++parts) {
      const double preference = largest_preference(finest, room(parts));
      if (preference == 0) continue;
      const double noise = expected_noise(share_of(privacy, kBudgetParts - parts)) *
                           mean_width(preference, std::exp2(-0.5 * finest));
      if (noise >= least) continue;
      least = noise;
      best = {parts, static_cast<std::uint64_t>(target), finest, preference};
    }
  }
  return best;
}

ClippingInterval draw_window_interval(std::span<const FilledArray> arrays, const WindowPlan& plan,
                                      double epsilon, const MechanismContext& context) {
  const WeightedWindows windows(arrays, plan, epsilon, context);
  ClippingInterval drawn{};
  for (bool taken = false; !taken;) {
    WeightedSampler sampler(context.random);
    for_each_window(plan.finest, [&](const Window& window) {
      if (taken || !sampler.takes(windows.weight(window) / windows.total())) return;
      drawn = {window.begin * kCellUnits, window.end * kCellUnits};
      taken = true;
    });
  }
  return drawn;
}

}  // namespace dpquantile
