#pragma once

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace dpquantile {

// Draws from the law of a release's noise, to forecast how large that noise usually is. The seed is
// fixed and public, so that everybody gets the same figures. It never sees data: noise that
// protects data comes only from RandomStream (core/privacy/random.hpp).
class SimulatedNoise {
 public:
  // Discrete Laplace: P[|y| >= k] = 2 e^(-k epsilon) / (1 + e^-epsilon) for k >= 1; epsilon > 0.
  double laplace(double epsilon) {
    const double excess = std::log(2 / (1 + std::exp(-epsilon)));
    const double magnitude = std::floor((exponential_(generator_) + excess) / epsilon);
    return (generator_() & 1) == 0 ? magnitude : -magnitude;
  }

  // Discrete Gaussian: P[y] proportional to e^(-y^2 / (2 sigma^2)). Like discrete_gaussian()
  // (core/privacy/noise.hpp) it keeps Laplace noise y with probability e^-gamma.
  double gaussian(double sigma_squared) {
    const double scale = std::floor(std::sqrt(sigma_squared)) + 1;
    for (;;) {
      const double y = laplace(1 / scale);
      const double excess = std::abs(y) - sigma_squared / scale;
      if (exponential_(generator_) >= excess * excess / (2 * sigma_squared)) return y;
    }
  }

  // The real Gaussian law of variance 1.
  double normal() { return normal_(generator_); }

  // One of 0 .. bound - 1, all with nearly the same probability; bound >= 1.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(generator_() % bound); }

 private:
  static constexpr std::uint64_t kSeed = 20140808;

  std::mt19937_64 generator_{kSeed};
  boost::random::exponential_distribution<double> exponential_;
  boost::random::normal_distribution<double> normal_;
};

}  // namespace dpquantile
