#include "core/privacy/noise_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace dpquantile {

namespace {

constexpr int kMostSteps = 40;
constexpr double kSettled = 1 - 0x1p-20;

// Gaussian noise of so large a sigma has the mean of the real law within 0.1 %, whether it is
// rounded or discrete. What is beyond so many sigmas does not count.
constexpr double kManySteps = 20;
constexpr double kFarthest = 40;

struct Tail {
  double probability;
  double slope;
};

// Where a tail with a concave logarithm is `level`, from above. Each tangent of the logarithm lies
// above it, so where a tangent reaches log(level) the tail is at most `level`: every step but the
// start is a bound, and after the first they only fall. Requires a positive tail at `start`.
template <class TailAt>
double least_at_most(double level, double start, TailAt tail_at) {
  const auto next = [&](double t) {
    const Tail tail = tail_at(t);
    return t - std::log(tail.probability / level) * tail.probability / tail.slope;
  };
  double bound = next(start);
  for (int i = 0; i < kMostSteps; ++i) {
    const double lower = next(bound);
    const bool last = !(lower < kSettled * bound);
    if (lower < bound) bound = lower;
    if (last) break;
  }
  return bound;
}

// erfc(x) is at most e^(-x^2) and has a concave logarithm.
double normal_quantile(double tail) {
  const double slope_at_zero = -2 / std::sqrt(std::numbers::pi);
  return std::numbers::sqrt2 * least_at_most(tail, std::sqrt(-std::log(tail)), [&](double x) {
           return Tail{std::erfc(x), slope_at_zero * std::exp(-x * x)};
         });
}

double joint_sigma(std::span<const double> sigmas) {
  double squares = 0;
  for (const double sigma : sigmas) squares += sigma * sigma;
  return std::sqrt(squares);
}

// The law of a sum of independent Laplace noises, whose density is a weighted sum of Laplace
// densities.
class LaplaceSum {
 public:
  explicit LaplaceSum(std::span<const double> scales) : terms_(scales.size()) {
    std::transform(scales.begin(), scales.end(), scale_.begin(),
                   [](double scale) { return std::abs(scale); });
    // Zeros fill the rest of the array, and come first.
    std::ranges::sort(scale_);
    std::rotate(scale_.begin(), scale_.end() - static_cast<std::ptrdiff_t>(terms_), scale_.end());
    separate();
    for (std::size_t i = 0; i < terms_; ++i) weight_[i] = weight(i);
  }

  double largest() const { return scale_[terms_ - 1]; }
  // Densities of sums of Laplace noises have a concave logarithm, and so have their tails.
  Tail tail(double t) const {
    Tail tail{0, 0};
    for (std::size_t i = 0; i < terms_; ++i) {
      const double part = weight_[i] * std::exp(-t / scale_[i]);
      tail.probability += part;
      tail.slope -= part / scale_[i];
    }
    return tail;
  }
  double mean_magnitude() const {
    double sum = 0;
    for (std::size_t i = 0; i < terms_; ++i) sum += weight_[i] * scale_[i];
    return sum;
  }
  // The sum of the tails at 1/2, 3/2, 5/2, ...
  double mean_rounded() const {
    double sum = 0;
    for (std::size_t i = 0; i < terms_; ++i) {
      sum += weight_[i] / (2 * std::sinh(0.5 / scale_[i]));
    }
    return sum;
  }

 private:
  using Values = std::array<double, kMostNoiseTerms>;

  // The weights have rounding errors of about 2^-52 * kApart^-2.
  void separate() {
    constexpr double kApart = 0x1p-9;
    constexpr double kLeastPart = 0x1p-6;
    const double least = kLeastPart * largest();
    for (std::size_t i = 0; i < terms_; ++i) {
      const double floor = i == 0 ? least : scale_[i - 1] * (1 + kApart);
      scale_[i] = std::max(scale_[i], floor);
    }
  }

  double weight(std::size_t i) const {
    double product = 1;
    for (std::size_t j = 0; j < terms_; ++j) {
      if (j == i) continue;
      const double ratio = scale_[j] / scale_[i];
      product /= (1 - ratio) * (1 + ratio);
    }
    return product;
  }

  std::size_t terms_;
  Values scale_{};
  Values weight_{};
};

}  // namespace

double noise_quantile(PrivacyMeasure measure, std::span<const double> spreads, double tail) {
  if (measure == PrivacyMeasure::kZcdp) return joint_sigma(spreads) * normal_quantile(tail);
  const LaplaceSum sum(spreads);
  if (sum.largest() == 0) return 0;
  // The largest noise alone exceeds this with the probability `tail`.
  const double start = -std::log(tail) * sum.largest();
  return least_at_most(tail, start, [&](double t) { return sum.tail(t); });
}

double mean_noise(PrivacyMeasure measure, std::span<const double> spreads) {
  if (measure == PrivacyMeasure::kZcdp) {
    return joint_sigma(spreads) * std::sqrt(2 / std::numbers::pi);
  }
  const LaplaceSum sum(spreads);
  return sum.largest() == 0 ? 0 : sum.mean_magnitude();
}

double mean_rounded_noise(PrivacyMeasure measure, std::span<const double> spreads) {
  if (measure == PrivacyMeasure::kPure) {
    const LaplaceSum sum(spreads);
    return sum.largest() == 0 ? 0 : std::max(sum.mean_rounded(), 0.0);
  }
  const double sigma = joint_sigma(spreads);
  if (sigma == 0) return 0;
  if (sigma > kManySteps) return mean_noise(measure, spreads);
  double sum = 0;
  for (double t = 0.5; t < kFarthest * sigma; ++t) {
    sum += std::erfc(t / (std::numbers::sqrt2 * sigma));
  }
  return sum;
}

double mean_integer_noise(PrivacyMeasure measure, double spread) {
  if (measure == PrivacyMeasure::kPure) return 1 / std::sinh(1 / spread);
  if (spread > kManySteps) return spread * std::sqrt(2 / std::numbers::pi);
  double weights = 1;
  double magnitudes = 0;
  for (double k = 1; k < kFarthest * spread; ++k) {
    const double both = 2 * std::exp(-k * k / (2 * spread * spread));
    weights += both;
    magnitudes += k * both;
  }
  return magnitudes / weights;
}

// Laplace noise of scale s has P(|Y| > t) = 2 e^(-(t + 1) / s) / (1 + e^(-1 / s)). Gaussian noise
// has P(Y >= t + 1) <= P(N >= t) for a normal N of the same sigma.
std::uint64_t integer_noise_quantile(PrivacyMeasure measure, double spread, double tail) {
  const double t = measure == PrivacyMeasure::kZcdp
                       ? spread * normal_quantile(tail)
                       : spread * (std::log(2 / tail) - std::log1p(std::exp(-1 / spread))) - 1;
  return static_cast<std::uint64_t>(std::max(std::ceil(t), 0.0));
}

}  // namespace dpquantile
