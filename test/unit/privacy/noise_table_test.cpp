#include "core/privacy/noise_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/noise.hpp"
#include "support/chi_square.hpp"
#include "support/noise_testing.hpp"
#include "support/random_testing.hpp"

// Every statistical check has the false-alarm probability kFalseAlarm (see chi_square.hpp). That
// the cells have exactly their law is in cell_table_test.cpp.
namespace dpquantile {
namespace {

using test::expect_parameter_error;
using test::FailingSource;
using test::GaussianLaw;
using test::inverse;
using test::kFalseAlarm;
using test::laplace_probability;
using test::magnitude_p_value;
using test::mean_magnitude_p_value;
using test::noise_p_value;
using test::sampled_p_value;
using test::sign_p_value;
using test::to_double;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kScaleLimit = std::uint64_t{1} << 56;

class NoiseTables : public ::testing::Test {
 protected:
  auto draws_of(const NoiseTable& table) {
    return [&] { return table.draw(random_); };
  }

  CsprngSource source_;
  RandomStream random_{source_};
};

// Draws one by one of a table that draws many at once.
class DrawsAtOnce {
 public:
  DrawsAtOnce(const NoiseTable& table, RandomStream& random) : table_(table), random_(random) {}

  std::int64_t operator()() {
    if (next_ == noise_.size()) {
      table_.draw(noise_, random_);
      next_ = 0;
    }
    return noise_[next_++];
  }

 private:
  const NoiseTable& table_;
  RandomStream& random_;
  std::array<std::int64_t, 777> noise_{};
  std::size_t next_ = noise_.size();
};

// Scales without low bits, with few, and with more than half a word has beside a coin.
TEST_F(NoiseTables, FollowTheirLawInDrawsAtOnce) {
  for (const Rational scale : {Rational{10, 3}, Rational{65, 2}}) {
    const double s = to_double(scale);
    const NoiseTable table = NoiseTable::laplace(scale);
    const auto probability = [&](std::int64_t y) { return laplace_probability(s, y); };
    const std::int64_t radius = std::lround(20 * s) + 5;
    EXPECT_GT(noise_p_value(DrawsAtOnce(table, random_), probability, radius), kFalseAlarm) << s;
    EXPECT_GT(mean_magnitude_p_value(DrawsAtOnce(table, random_), probability, 2 * radius),
              kFalseAlarm)
        << s;
    EXPECT_GT(sign_p_value(DrawsAtOnce(table, random_)), kFalseAlarm) << s;
  }
  const auto half_normal_cdf = [](double x) { return std::erf(x / std::sqrt(2.0)); };
  for (const int bits : {50, 52, 90}) {
    const NoiseTable table = NoiseTable::gaussian(uint128_t{1} << bits);
    const double sigma = std::exp2(bits / 2.0);
    EXPECT_GT(magnitude_p_value(DrawsAtOnce(table, random_), sigma, half_normal_cdf), kFalseAlarm)
        << bits;
  }
}

// Each has a correlation of 0 with the one before; the standard deviation of the sample's is
// 1/1000.
TEST_F(NoiseTables, AreIndependentInDrawsAtOnce) {
  constexpr int kDraws = 1'000'000;
  for (const NoiseTable& table : {NoiseTable::laplace({3, 1}), NoiseTable::laplace({100, 1})}) {
    DrawsAtOnce draw(table, random_);
    double before = static_cast<double>(draw());
    double product = 0;
    double square = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto noise = static_cast<double>(draw());
      product += before * noise;
      square += noise * noise;
      before = noise;
    }
    EXPECT_LT(std::abs(product / square), 7e-3) << "false alarm below 1e-11";
  }
}

// Scales without low bits, and with up to six.
TEST_F(NoiseTables, FollowTheLaplaceLaw) {
  for (const Rational scale :
       {Rational{1, 10}, Rational{1, 1}, Rational{10, 3}, Rational{20, 6}, Rational{63, 2},
        Rational{65, 2}, Rational{1000, 1}, inverse(rational_epsilon(0.1))}) {
    const double s = to_double(scale);
    const NoiseTable table = NoiseTable::laplace(scale);
    const auto probability = [&](std::int64_t y) { return laplace_probability(s, y); };
    const std::int64_t radius = std::lround(20 * s) + 5;
    EXPECT_GT(noise_p_value(draws_of(table), probability, radius), kFalseAlarm) << s;
    EXPECT_GT(mean_magnitude_p_value(draws_of(table), probability, 2 * radius), kFalseAlarm) << s;
  }
}

TEST_F(NoiseTables, FollowTheGaussianLaw) {
  for (const Rational sigma_squared :
       {Rational{1, 4}, Rational{7, 3}, Rational{1023, 1}, Rational{4097, 1}, Rational{40000, 3},
        gaussian_variance(0.003), Rational{kLargest - 1, kLargest}}) {
    const GaussianLaw law(to_double(sigma_squared));
    const NoiseTable table = NoiseTable::gaussian(sigma_squared);
    const double p_value = noise_p_value(draws_of(table), law, law.radius());
    EXPECT_GT(p_value, kFalseAlarm) << to_double(sigma_squared);
    EXPECT_GT(mean_magnitude_p_value(draws_of(table), law, law.radius()), kFalseAlarm)
        << to_double(sigma_squared);
  }
}

TEST_F(NoiseTables, AreSymmetric) {
  for (const NoiseTable& table : {NoiseTable::laplace({1, 1}), NoiseTable::laplace({50, 1}),
                                  NoiseTable::gaussian(Rational{9, 1})}) {
    EXPECT_GT(sign_p_value(draws_of(table)), kFalseAlarm);
  }
}

TEST_F(NoiseTables, FollowTheirLawUpToTheLargestParameter) {
  const auto exponential_cdf = [](double x) { return -std::expm1(-x); };
  for (const Rational scale : {Rational{kScaleLimit - 1, 1}, Rational{kLargest, 256}}) {
    const NoiseTable table = NoiseTable::laplace(scale);
    EXPECT_GT(magnitude_p_value(draws_of(table), to_double(scale), exponential_cdf), kFalseAlarm);
  }
  const auto half_normal_cdf = [](double x) { return std::erf(x / std::sqrt(2.0)); };
  for (const int bits : {40, 64, 90, 109}) {
    const NoiseTable table = NoiseTable::gaussian(uint128_t{1} << bits);
    const double sigma = std::exp2(bits / 2.0);
    EXPECT_GT(magnitude_p_value(draws_of(table), sigma, half_normal_cdf), kFalseAlarm) << bits;
  }
}

// --- Beyond the cells ----------------------------------------------------------------------------

// The CSPRNG after a first word that says "beyond the cells".
class BeyondSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override {
    source_.fill(out);
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) out[i] = std::byte{0xff};
  }

 private:
  CsprngSource source_;
};

// The p-value of the magnitudes from `from` on against weights that fall to nothing within `width`.
template <class Weight>
double tail_p_value(const NoiseTable& table, std::int64_t from, std::int64_t width, Weight weight) {
  std::vector<double> law;
  double total = 0;
  for (std::int64_t y = from; y < from + width; ++y) total += weight(y) / weight(from);
  for (std::int64_t y = from; y < from + width; ++y)
    law.push_back(weight(y) / weight(from) / total);
  BeyondSource source;
  return sampled_p_value(law, 10'000, [&] {
    for (;;) {
      RandomStream random(source);
      const std::int64_t magnitude = std::abs(table.draw(random));
      if (magnitude >= from) return magnitude - from;
    }
  });
}

TEST(NoiseTableTails, GoOnBeyondTheCells) {
  for (const Rational scale : {Rational{3, 1}, Rational{64, 1}}) {
    const double s = to_double(scale);
    const auto weight = [&](std::int64_t y) { return std::exp(-static_cast<double>(y) / s); };
    EXPECT_GT(tail_p_value(NoiseTable::laplace(scale), std::lround(10 * s) + 8, std::lround(40 * s),
                           weight),
              kFalseAlarm)
        << s;
  }
  for (const Rational sigma_squared : {Rational{16, 1}, Rational{40000, 1}}) {
    const double sigma = std::sqrt(to_double(sigma_squared));
    const auto weight = [&](std::int64_t y) {
      const double x = static_cast<double>(y) / sigma;
      return std::exp(-x * x / 2);
    };
    EXPECT_GT(tail_p_value(NoiseTable::gaussian(sigma_squared), std::lround(4.5 * sigma) + 4,
                           std::lround(5 * sigma), weight),
              kFalseAlarm)
        << sigma;
  }
}

// --- Limits --------------------------------------------------------------------------------------

// A non-zero value has a probability below e^-(2^63).
TEST_F(NoiseTables, AreZeroAtTheSmallestScale) {
  const NoiseTable table = NoiseTable::laplace({1, kLargest});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(table.draw(random_), 0);
}

// A value beyond 40 sigma + 1 has a probability below e^-800.
TEST_F(NoiseTables, HaveAPlausibleMagnitudeForEveryVariance) {
  constexpr std::array<std::uint64_t, 7> kExtremes = {
      1, 2, 3, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 63, kLargest - 1, kLargest};
  for (const std::uint64_t numerator : kExtremes) {
    for (const std::uint64_t denominator : kExtremes) {
      const Rational sigma_squared{numerator, denominator};
      const NoiseTable table = NoiseTable::gaussian(sigma_squared);
      const double limit = 40 * std::sqrt(to_double(sigma_squared)) + 1;
      for (int i = 0; i < 1000; ++i) {
        ASSERT_LE(std::abs(static_cast<double>(table.draw(random_))), limit)
            << numerator << "/" << denominator;
      }
    }
  }
}

TEST(NoiseTableParameters, AreRefusedOutOfRange) {
  for (const Rational value : {Rational{0, 1}, Rational{1, 0}, Rational{0, 0}}) {
    expect_parameter_error([&] { NoiseTable::laplace(value); });
    expect_parameter_error([&] { NoiseTable::gaussian(value); });
  }
  expect_parameter_error([&] { NoiseTable::laplace({kScaleLimit, 1}); });
  expect_parameter_error([&] { NoiseTable::gaussian(uint128_t{0}); });
  expect_parameter_error([&] { NoiseTable::gaussian(uint128_t{1} << 110); });
}

TEST(NoiseTableSources, MustNotFail) {
  FailingSource source;
  RandomStream random(source);
  EXPECT_THROW(NoiseTable::laplace({10, 3}).draw(random), RandomnessUnavailable);
  EXPECT_THROW(NoiseTable::gaussian(Rational{7, 3}).draw(random), RandomnessUnavailable);
  std::array<std::int64_t, 2> noise{};
  EXPECT_THROW(NoiseTable::gaussian(Rational{7, 3}).draw(noise, random), RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
