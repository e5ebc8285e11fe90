#include "expected_mean_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <numbers>

#include "core/user_level/auto_method.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_noise.hpp"
#include "support/interval_law.hpp"

namespace dpquantile::bench {

namespace {

constexpr double kOne = FixedPoint::kOne;
constexpr std::uint32_t kCellUnits = FixedPoint::kOne / test::kWindowCells;
// Windows of less than this share of the largest weight so far change no printed digit.
constexpr double kLeastShare = 1e-12;

// P[Z > z] for a standard normal Z.
double above(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

double density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

// E |Y| for a normal Y.
double mean_magnitude(double mean, double sd) {
  if (sd == 0) return std::abs(mean);
  return mean * (1 - 2 * above(mean / sd)) + 2 * sd * density(mean / sd);
}

// P[Z > z] / density(z) by its continued fraction. Requires z >= 3.
double mills_ratio(double z) {
  double fraction = z;
  for (int i = 12; i > 0; --i) fraction = z + i / fraction;
  return 1 / fraction;
}

// E [e^-Y; Y > 0] for a normal Y.
double exponential_above(double mean, double sd) {
  const double z = sd - mean / sd;
  if (z < 3) return std::exp(sd * sd / 2 - mean) * above(z);
  return density(mean / sd) * mills_ratio(z);
}

// E e^-|Y| for a normal Y.
double mean_exponential(double mean, double sd) {
  if (sd == 0) return std::exp(-std::abs(mean));
  return exponential_above(mean, sd) + exponential_above(-mean, sd);
}

// The noise of noisy_statistic() for a query of this sensitivity, as a continuous law.
class Noise {
 public:
  Noise(double sensitivity, const PrivacyParameter& privacy)
      : gaussian_(privacy.measure == PrivacyMeasure::kZcdp),
        scale_(gaussian_ ? sensitivity / std::sqrt(2 * privacy.value)
                         : std::max(sensitivity, double{kLeastSensitivity}) / privacy.value) {}

  // E |clamp(centre + noise, 0, kOne) - truth|.
  double error(double centre, const TrueMean& truth) const {
    const double at_truth = shortfall(truth.expected - centre, truth.sd);
    return 2 * at_truth - shortfall(-centre) - shortfall(kOne - centre) + kOne - truth.expected;
  }

 private:
  // E max(0, Y - noise) for a normal Y with this mean.
  double shortfall(double mean, double sd = 0) const {
    if (gaussian_) return (mean_magnitude(mean, std::hypot(sd, scale_)) + mean) / 2;
    const double magnitude =
        mean_magnitude(mean, sd) + scale_ * mean_exponential(mean / scale_, sd / scale_);
    return (magnitude + mean) / 2;
  }

  bool gaussian_;
  double scale_;
};

double in_units(double speed) {
  return speed / kHighestSpeed * kOne;
}

double in_km_per_hour(double units) {
  return units / kOne * kHighestSpeed;
}

}  // namespace

ClippedArrays::ClippedArrays(std::vector<FilledArray> arrays) : arrays_(std::move(arrays)) {
  means_below_.resize(test::kWindowCells + 1);
  rows_below_.resize(test::kWindowCells + 1);
  sums_below_.resize(test::kWindowCells + 1);
  for (const FilledArray& array : arrays_) {
    const std::uint64_t cell =
        std::min<std::uint64_t>(array.sum / array.rows / kCellUnits, test::kWindowCells - 1);
    ++means_below_[cell + 1];
    rows_below_[cell + 1] += static_cast<double>(array.rows);
    sums_below_[cell + 1] += static_cast<double>(array.sum);
    fullest_ = std::max(fullest_, static_cast<double>(array.rows));
  }
  for (std::size_t cell = 0; cell < test::kWindowCells; ++cell) {
    means_below_[cell + 1] += means_below_[cell];
    rows_below_[cell + 1] += rows_below_[cell];
    sums_below_[cell + 1] += sums_below_[cell];
  }
}

double ClippedArrays::clipped_sum(std::uint32_t begin, std::uint32_t end) const {
  const double rows_above = rows_below_.back() - rows_below_[end];
  return rows_below_[begin] * begin * kCellUnits + sums_below_[end] - sums_below_[begin] +
         rows_above * end * kCellUnits;
}

double ExpectedMeanErrors::of(const UserQuery& asked) {
  const UserQuery query = chosen_mean_query(asked, counts_);
  const std::uint64_t bound = mean_contribution_bound(query, counts_);
  if (query.method == UserMethod::kBounded) return of_draw(query);
  if (query.method == UserMethod::kLevy) return of_levy(query, bound);
  return clips_array_means(query.method) ? of_quantile(query, bound) : of_kept(query, bound);
}

double ExpectedMeanErrors::of_draw(const UserQuery& query) const {
  CancelPoll cancel(nullptr);
  const std::uint32_t units =
      user_mean(data_.rows(), query, {random_, cancel, std::pmr::new_delete_resource()});
  return std::abs(in_km_per_hour(units) - data_.mean());
}

double ExpectedMeanErrors::of_kept(const UserQuery& query, std::uint64_t bound) const {
  CancelPoll cancel(nullptr);
  const IntegerQuery kept = kept_mean(data_.rows(), bound, cancel);
  const Noise noise(static_cast<double>(kept.sensitivity), query.privacy);
  const auto mean = static_cast<double>(kept.answer);
  return in_km_per_hour(noise.error(mean, true_mean(mean, bound)));
}

double ExpectedMeanErrors::of_levy(const UserQuery& query, std::uint64_t bound) {
  const ClippedArrays& clipped = arrays(bound);
  const PrivacyParameter& budget = query.privacy;
  const std::uint32_t half_width = levy_half_width(clipped.arrays().size(), bound);
  const unsigned parts = levy_interval_parts(half_width, clipped.arrays().size(), budget);
  test::IntervalLaw law;
  if (parts == 0) {
    law[{0, FixedPoint::kOne}] = 1;
  } else {
    law = test::law_of_levy(clipped.arrays(), half_width, interval_epsilon(budget, parts));
  }
  const TrueMean truth = true_mean(clipped.mean(), bound);
  double error = 0;
  for (const auto& [interval, probability] : law) {
    const IntegerQuery mean = clipped_mean(clipped.arrays(), {interval.first, interval.second});
    const Noise noise(static_cast<double>(mean.sensitivity),
                      share_of(budget, kBudgetParts - parts));
    error +=
        static_cast<double>(probability) * noise.error(static_cast<double>(mean.answer), truth);
  }
  return in_km_per_hour(error);
}

double ExpectedMeanErrors::of_quantile(const UserQuery& query, std::uint64_t bound) {
  const ClippedArrays& clipped = arrays(bound);
  const PrivacyParameter& budget = query.privacy;
  const WindowPlan plan =
      plan_windows(clipped.arrays().size(), clipped_target(query.method, budget), budget);
  const PrivacyParameter rest = share_of(budget, kBudgetParts - plan.parts);
  const TrueMean truth = true_mean(clipped.mean(), bound);
  const auto error_of = [&](std::uint32_t begin, std::uint32_t end) {
    const double width = static_cast<double>(end - begin) * kCellUnits;
    const Noise noise(width * clipped.fullest() / clipped.rows(), rest);
    return noise.error(clipped.clipped_sum(begin, end) / clipped.rows(), truth);
  };
  if (plan.parts == 0) return in_km_per_hour(error_of(0, test::kWindowCells));
  double weights = 0;
  double errors = 0;
  double largest = 0;
  test::for_each_weighted_window(clipped.means_below(), plan, interval_epsilon(budget, plan.parts),
                                 [&](std::uint32_t begin, std::uint32_t end, double weight) {
                                   weights += weight;
                                   largest = std::max(largest, weight);
                                   if (weight > kLeastShare * largest)
                                     errors += weight * error_of(begin, end);
                                 });
  return in_km_per_hour(errors / weights);
}

TrueMean ExpectedMeanErrors::true_mean(double kept, std::uint64_t bound) const {
  if (!law_) return {in_units(data_.mean()), 0};
  const auto kept_rows = static_cast<double>(counts_.kept(bound));
  const auto rows = static_cast<double>(counts_.rows());
  double variance = law_->variance_within * (1 / kept_rows - 1 / rows);
  for (const UsersWithRows& run : counts_.runs()) {
    const auto of_user = static_cast<double>(std::min(run.rows, bound)) / kept_rows -
                         static_cast<double>(run.rows) / rows;
    variance += law_->variance_between * static_cast<double>(run.users) * of_user * of_user;
  }
  return {kept, in_units(std::sqrt(std::max(0.0, variance)))};
}

const ClippedArrays& ExpectedMeanErrors::arrays(std::uint64_t bound) {
  auto found = arrays_.find(bound);
  if (found == arrays_.end()) {
    CancelPoll cancel(nullptr);
    const auto filled = fill_arrays(data_.rows(), bound, {cancel, std::pmr::new_delete_resource()});
    found =
        arrays_.try_emplace(bound, std::vector<FilledArray>(filled.begin(), filled.end())).first;
  }
  return found->second;
}

}  // namespace dpquantile::bench
