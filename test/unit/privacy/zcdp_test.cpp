#include "core/privacy/zcdp.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "gtest/gtest.h"

namespace dpquantile {
namespace {

constexpr double kEpsilons[] = {1e-9, 1e-6, 1e-3, 0.05, 0.3, 1, 2, 5, 20, 1000};
constexpr double kRhos[] = {1e-12, 1e-8, 1e-5, 3.125e-4, 0.0243, 0.2, 1, 7, 100, 1000};
constexpr double kDeltas[] = {1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9};
constexpr double kAlphas[] = {1.0001, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 1000, 1e5, 1e8};

// ln cosh without overflow.
long double log_cosh(long double x) {
  x = std::abs(x);
  if (x < 1e-3L) return x * x / 2 - x * x * x * x / 12;
  return x + std::log1p(std::exp(-2 * x)) - std::log(2.0L);
}

// The Renyi divergence of order alpha of randomized response, which tells the truth with
// probability e^epsilon / (1 + e^epsilon). It follows the definition, in logarithms.
long double randomized_response_divergence(long double epsilon, long double alpha) {
  const long double log_truth = -std::log1p(std::exp(-epsilon));
  const long double log_lie = log_truth - epsilon;
  const long double a = alpha * log_truth + (1 - alpha) * log_lie;
  const long double b = alpha * log_lie + (1 - alpha) * log_truth;
  const long double larger = std::max(a, b);
  return (larger + std::log1p(std::exp(std::min(a, b) - larger))) / (alpha - 1);
}

TEST(RhoOfPure, IsTheTanhFormulaRoundedUp) {
  for (const double epsilon : kEpsilons) {
    const long double exact =
        static_cast<long double>(epsilon) * std::tanh(static_cast<long double>(epsilon) / 2);
    EXPECT_GE(rho_of_pure(epsilon), exact) << epsilon;
    EXPECT_LE(rho_of_pure(epsilon), exact * (1 + 1e-12L)) << epsilon;
    EXPECT_LE(rho_of_pure(epsilon), epsilon * epsilon / 2 * (1 + 1e-12)) << epsilon;
    EXPECT_LE(rho_of_pure(epsilon), epsilon * (1 + 1e-12)) << epsilon;
  }
  EXPECT_EQ(rho_of_pure(0), 0);
}

// docs/privacy.md, Lemma Z1: randomized response is the worst epsilon-DP mechanism, and no smaller
// rho suffices for it.
TEST(RhoOfPure, BoundsRandomizedResponseAtEveryOrder) {
  for (const double epsilon : {1e-3, 0.05, 0.3, 1.0, 2.0, 5.0, 20.0}) {
    for (const double alpha : kAlphas) {
      const long double divergence = randomized_response_divergence(epsilon, alpha);
      // The reference subtracts nearly equal numbers for small epsilon and alpha - 1.
      const long double error = 1e-17L / (static_cast<long double>(alpha) - 1);
      EXPECT_LE(divergence, alpha * rho_of_pure(epsilon) + error) << epsilon << " " << alpha;
      EXPECT_NEAR(
          static_cast<double>(divergence),
          static_cast<double>((log_cosh((alpha - 0.5L) * epsilon) - log_cosh(0.5L * epsilon)) /
                              (static_cast<long double>(alpha) - 1)),
          1e-9 * epsilon)
          << epsilon << " " << alpha;
    }
    const long double near_one = randomized_response_divergence(epsilon, 1.0001L);
    EXPECT_GE(near_one, 0.99L * rho_of_pure(epsilon)) << epsilon;
  }
}

// The worst mechanism of this range has two outcomes, of privacy loss t and t - epsilon. Their
// probabilities follow because both laws have mass 1.
long double two_point_divergence(long double epsilon, long double t, long double alpha) {
  // P[loss = t] = p with p e^-t + (1 - p) e^(epsilon - t) = 1.
  const long double p = (std::exp(epsilon) - std::exp(t)) / std::expm1(epsilon);
  const long double moment =
      p * std::exp((alpha - 1) * t) + (1 - p) * std::exp((alpha - 1) * (t - epsilon));
  return std::log(moment) / (alpha - 1);
}

TEST(RhoOfBoundedRange, BoundsTheWorstTwoPointLossAtEveryOrder) {
  for (const double epsilon : {0.05, 0.3, 1.0, 2.0, 5.0, 20.0}) {
    long double worst = 0;
    for (const double alpha : {1.0001, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0}) {
      for (int step = 1; step < 400; ++step) {
        const long double t = epsilon * static_cast<long double>(step) / 400;
        const long double ratio = two_point_divergence(epsilon, t, alpha) / alpha;
        worst = std::max(worst, ratio);
        EXPECT_LE(ratio, rho_of_bounded_range(epsilon) + 1e-14L)
            << epsilon << " " << alpha << " " << step;
      }
    }
    // No smaller rho suffices for small ranges.
    if (epsilon <= 0.3) {
      EXPECT_GE(worst, 0.99L * rho_of_bounded_range(epsilon)) << epsilon;
    }
  }
}

TEST(RhoOfBoundedRange, IsAnEighthOfTheSquare) {
  for (const double epsilon : kEpsilons) {
    const long double exact = static_cast<long double>(epsilon) * epsilon / 8;
    EXPECT_GE(rho_of_bounded_range(epsilon), exact);
    EXPECT_LE(rho_of_bounded_range(epsilon), exact * (1 + 1e-12L));
    // A quarter of the pure bound for small ranges. For large ranges the pure bound is smaller.
    if (epsilon <= 1e-3) {
      EXPECT_NEAR(rho_of_bounded_range(epsilon) / rho_of_pure(epsilon), 0.25, 1e-6);
    }
  }
  EXPECT_EQ(rho_of_bounded_range(0), 0);
}

TEST(BoundedRangeOfRho, IsTheLargestRangeWithinRho) {
  for (const double rho : kRhos) {
    const double epsilon = bounded_range_of_rho(rho);
    EXPECT_LE(static_cast<long double>(epsilon) * epsilon / 8, rho);
    EXPECT_LE(rho_of_bounded_range(epsilon), rho) << rho;
    EXPECT_GE(static_cast<long double>(epsilon) * epsilon / 8, rho * (1 - 1e-12L));
  }
  EXPECT_EQ(bounded_range_of_rho(0), 0);
}

// Proposition 12 of Canonne, Kamath, Steinke 2020 at one order, in long double.
long double bound_at(long double rho, long double delta, long double excess) {
  const long double alpha = 1 + excess;
  const long double log_share = excess < 1 ? std::log(excess / alpha) : std::log1p(-1 / alpha);
  return alpha * rho + (-std::log(delta) + alpha * log_share - std::log(excess)) / excess;
}

// The least bound, searched over very many orders.
long double least_bound(long double rho, long double delta) {
  long double least = std::numeric_limits<long double>::infinity();
  long double at = 0;
  for (long double log_excess = -30; log_excess <= 50; log_excess += 0.01L) {
    const long double bound = bound_at(rho, delta, std::exp(log_excess));
    if (bound < least) {
      least = bound;
      at = log_excess;
    }
  }
  long double low = at - 0.02L;
  long double high = at + 0.02L;
  for (int step = 0; step < 200; ++step) {
    const long double third = (high - low) / 3;
    const bool falls =
        bound_at(rho, delta, std::exp(low + third)) > bound_at(rho, delta, std::exp(high - third));
    (falls ? low : high) += falls ? third : -third;
  }
  least = std::min(least, bound_at(rho, delta, std::exp(low)));
  return std::max(least, 0.0L);
}

TEST(EpsilonOfZcdp, IsTheLeastBoundOverAllOrders) {
  for (const double rho : kRhos) {
    for (const double delta : kDeltas) {
      const long double least = least_bound(rho, delta);
      const double epsilon = epsilon_of_zcdp(rho, delta);
      EXPECT_GE(epsilon, least) << rho << " " << delta;
      EXPECT_LE(epsilon, least * (1 + 1e-9L) + 1e-15L) << rho << " " << delta;
    }
  }
}

double normal_cdf(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// The exact delta of a Gaussian mechanism with this rho: mu^2 / 2 = rho (Balle, Wang 2018).
double gaussian_delta(double rho, double epsilon) {
  const double mu = std::sqrt(2 * rho);
  return normal_cdf(mu / 2 - epsilon / mu) -
         std::exp(epsilon + std::log(normal_cdf(-mu / 2 - epsilon / mu)));
}

TEST(EpsilonOfZcdp, HoldsForGaussianNoiseAndIsCloseToIt) {
  for (const double rho : {1e-5, 3.125e-4, 0.0243, 0.2, 1.0, 7.0, 30.0}) {
    for (const double delta : {1e-12, 1e-9, 1e-6, 1e-3, 0.1}) {
      const double epsilon = epsilon_of_zcdp(rho, delta);
      EXPECT_LE(gaussian_delta(rho, epsilon), delta) << rho << " " << delta;
      if (delta <= 1e-6 && rho >= 0.02) {
        EXPECT_GE(gaussian_delta(rho, 0.9 * epsilon), delta) << rho << " " << delta;
      }
    }
  }
}

TEST(EpsilonOfZcdp, IsSharperThanTheUsualFormula) {
  for (const double rho : {1e-5, 3.125e-4, 0.0243, 0.2, 1.0, 7.0}) {
    for (const double delta : {1e-12, 1e-6, 1e-3}) {
      EXPECT_LT(epsilon_of_zcdp(rho, delta), rho + 2 * std::sqrt(-rho * std::log(delta)));
    }
  }
}

TEST(EpsilonOfZcdp, HasKnownValues) {
  EXPECT_NEAR(epsilon_of_zcdp(0.5, 1e-6), static_cast<double>(least_bound(0.5L, 1e-6L)), 1e-12);
  // 77 medians, or 311 times nine quantiles, of epsilon 0.05.
  EXPECT_LE(epsilon_of_zcdp(77 * 0.05 * 0.05 / 8, 1e-6), 1);
  EXPECT_GT(epsilon_of_zcdp(78 * 0.05 * 0.05 / 8, 1e-6), 1);
  EXPECT_LE(epsilon_of_zcdp(311 * 0.05 * 0.05 / 32, 1e-6), 1);
  EXPECT_GT(epsilon_of_zcdp(312 * 0.05 * 0.05 / 32, 1e-6), 1);
}

TEST(EpsilonOfZcdp, GrowsWithRhoAndFallsWithDelta) {
  for (const double delta : kDeltas) {
    double before = 0;
    for (const double rho : kRhos) {
      const double epsilon = epsilon_of_zcdp(rho, delta);
      EXPECT_GE(epsilon, before) << rho << " " << delta;
      before = epsilon;
    }
  }
  for (const double rho : kRhos) {
    double before = std::numeric_limits<double>::infinity();
    for (const double delta : kDeltas) {
      const double epsilon = epsilon_of_zcdp(rho, delta);
      EXPECT_LE(epsilon, before) << rho << " " << delta;
      before = epsilon;
    }
  }
}

TEST(EpsilonOfZcdp, HandlesTheEdgesOfItsDomain) {
  EXPECT_EQ(epsilon_of_zcdp(0, 1e-6), 0);
  EXPECT_EQ(epsilon_of_zcdp(0, 1 - 0x1p-53), 0);
  EXPECT_GT(epsilon_of_zcdp(1e300, 1e-6), 1e300 * 0.99);
  EXPECT_TRUE(std::isfinite(epsilon_of_zcdp(1, 5e-324)));
  for (const double delta : {0.0, 1.0, -1e-6, 2.0, std::nan("")}) {
    EXPECT_THROW(epsilon_of_zcdp(1, delta), std::invalid_argument) << delta;
    EXPECT_THROW(rho_within(1, delta), std::invalid_argument) << delta;
  }
  for (const double bad : {-1e-300, -1.0, std::nan("")}) {
    EXPECT_THROW(epsilon_of_zcdp(bad, 1e-6), std::invalid_argument) << bad;
    EXPECT_THROW(rho_within(bad, 1e-6), std::invalid_argument) << bad;
  }
}

TEST(RhoWithin, IsTheLargestRhoWithinEpsilon) {
  for (const double epsilon : {1e-6, 1e-3, 0.05, 0.3, 1.0, 2.0, 5.0, 20.0, 1000.0}) {
    for (const double delta : kDeltas) {
      const double rho = rho_within(epsilon, delta);
      EXPECT_GT(rho, 0) << epsilon << " " << delta;
      EXPECT_LE(epsilon_of_zcdp(rho, delta), epsilon) << epsilon << " " << delta;
      EXPECT_GT(epsilon_of_zcdp(rho * (1 + 1e-9), delta), epsilon * (1 - 1e-12))
          << epsilon << " " << delta;
    }
  }
}

TEST(RhoWithin, HandlesTheEdgesOfItsDomain) {
  EXPECT_LE(epsilon_of_zcdp(rho_within(0, 1e-6), 1e-6), 0);
  EXPECT_GT(rho_within(1e300, 1e-6), 9e8);
  EXPECT_EQ(rho_within(1e300, 1e-6), rho_within(1e9, 1e-6));
  EXPECT_TRUE(std::isfinite(rho_within(std::numeric_limits<double>::max(), 1e-6)));
  EXPECT_GT(rho_within(1, 1e-300), 0);
}

// The Renyi divergence of order alpha of discrete Laplace laws of scale 1 / v whose centres differ
// by `shift`: the sum of the definition, with the geometric tails in closed form.
long double laplace_divergence(long double v, int shift, long double alpha) {
  long double sum = std::exp((alpha - 1) * v * shift) + std::exp(-alpha * v * shift);
  for (int z = 1; z < shift; ++z) {
    sum += -std::expm1(-v) * std::exp(-alpha * v * z - (1 - alpha) * v * (shift - z));
  }
  return std::log(sum / (1 + std::exp(-v))) / (alpha - 1);
}

TEST(RhoOfLaplace, BoundsAllDivergencesOfTheNoise) {
  for (const double epsilon : {0.02, 0.3, 1.0, 4.0, 12.0}) {
    for (const int sensitivity : {1, 2, 7, 256}) {
      const double rho = rho_of_laplace(epsilon, sensitivity);
      for (const long double alpha : {1.001L, 1.2L, 2.0L, 5.0L, 30.0L}) {
        for (int shift = 1; shift <= sensitivity; shift += 1 + sensitivity / 5) {
          const long double v = static_cast<long double>(epsilon) / sensitivity;
          EXPECT_LE(laplace_divergence(v, shift, alpha), alpha * rho * (1 + 1e-12L))
              << epsilon << " " << sensitivity << " " << alpha;
        }
      }
    }
  }
}

// At alpha near 1 the noise costs what is charged, up to the excess over the exact formula.
TEST(RhoOfLaplace, IsNearlyReached) {
  for (const double epsilon : {0.3, 1.0, 4.0}) {
    const double rho = rho_of_laplace(epsilon, 256);
    EXPECT_GT(laplace_divergence(epsilon / 256, 256, 1 + 1e-6L), rho * (1 - 1e-3));
    EXPECT_NEAR(rho, epsilon + std::expm1(-epsilon), 1e-4 * rho);
    EXPECT_LT(rho, rho_of_pure(epsilon));
  }
}

TEST(RhoOfLaplace, KeepsItsDigitsForSmallEpsilons) {
  for (const double epsilon : {1e-9, 1e-6, 1e-3, 0.0099999, 0.0100001}) {
    const double series = epsilon * epsilon * (0.5 - epsilon / 6);
    EXPECT_GE(rho_of_laplace(epsilon, 1e9), series);
    EXPECT_NEAR(rho_of_laplace(epsilon, 1e9), series, 1e-5 * series);
  }
}

}  // namespace
}  // namespace dpquantile
