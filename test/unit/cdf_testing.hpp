#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cdf.hpp"
#include "core/cdf_curve.hpp"
#include "core/random.hpp"

// Small pieces that all tests of CDFs need.
namespace dpquantile::test {

inline std::pmr::memory_resource* heap() {
  return std::pmr::new_delete_resource();
}

using Branching = std::vector<std::uint32_t>;
using Cumulative = std::vector<std::int64_t>;

inline constexpr std::array kCdfMethods = {CdfMethod::kTree, CdfMethod::kBinary,
                                           CdfMethod::kHistogram};

// A law of any tree, with its levels' parts of epsilon.
inline CdfLaw cdf_law(std::uint32_t bins, const Branching& branching,
                      const std::vector<double>& level_epsilons) {
  CdfLaw law{CdfMethod::kTree, bins, 0, static_cast<std::uint32_t>(branching.size()), {}, {}};
  std::ranges::copy(branching, law.branchings.begin());
  std::ranges::copy(level_epsilons, law.level_epsilons.begin());
  law.epsilon = std::accumulate(level_epsilons.begin(), level_epsilons.end(), 0.0);
  return law;
}

inline CdfCurve cdf_curve(const CdfDomain& domain, const CdfLaw& law,
                          const Cumulative& cumulative) {
  return CdfCurve(domain, law, {cumulative.begin(), cumulative.end(), heap()});
}

// Independent releases of the mechanism under test for one dataset.
class CdfSampler {
 public:
  CdfSampler(std::vector<std::uint64_t> counts, const CdfLaw& law)
      : counts_(std::move(counts)), law_(law) {}

  std::pmr::vector<std::int64_t> draw() {
    return release_cdf(counts_, law_, random_, cancel_, heap());
  }

 private:
  std::vector<std::uint64_t> counts_;
  CdfLaw law_;
  CsprngSource source_;
  RandomStream random_{source_};
  CancelPoll cancel_{nullptr};
};

// The discrete Laplace distribution: P[y] is proportional to e^(-|y| epsilon).
inline long double laplace_probability(long double epsilon, std::int64_t y) {
  return std::tanh(epsilon / 2) * std::exp(-epsilon * static_cast<long double>(std::abs(y)));
}

}  // namespace dpquantile::test
