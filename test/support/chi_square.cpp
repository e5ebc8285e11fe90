#include "support/chi_square.hpp"

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace dpquantile::test {
namespace {

constexpr double kSmallestExpectation = 10;

struct Pool {
  double observed = 0;
  double expected = 0;
};

void require_distribution(std::span<const double> probabilities) {
  for (const double probability : probabilities) {
    if (!(probability >= 0)) throw std::invalid_argument("expected probabilities of at least 0");
  }
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  if (std::abs(sum - 1) > 1e-9) throw std::invalid_argument("expected probabilities that sum to 1");
}

bool saw_the_impossible(std::span<const std::uint64_t> observed,
                        std::span<const double> probabilities) {
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (observed[i] > 0 && probabilities[i] == 0) return true;
  }
  return false;
}

std::vector<Pool> pooled(std::span<const std::uint64_t> observed,
                         std::span<const double> probabilities, double draws) {
  std::vector<Pool> pools(1);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (pools.back().expected >= kSmallestExpectation) pools.emplace_back();
    pools.back().observed += static_cast<double>(observed[i]);
    pools.back().expected += draws * probabilities[i];
  }
  const Pool last = pools.back();
  if (pools.size() > 1 && last.expected < kSmallestExpectation) {
    pools.pop_back();
    pools.back().observed += last.observed;
    pools.back().expected += last.expected;
  }
  return pools;
}

}  // namespace

double chi_square_p_value(std::span<const std::uint64_t> observed,
                          std::span<const double> probabilities) {
  if (observed.size() != probabilities.size()) {
    throw std::invalid_argument("expected one count for every probability");
  }
  require_distribution(probabilities);
  if (saw_the_impossible(observed, probabilities)) return 0;
  const double draws = std::accumulate(observed.begin(), observed.end(), 0.0);
  const std::vector<Pool> pools = pooled(observed, probabilities, draws);
  if (pools.size() < 2) throw std::invalid_argument("expected enough draws for two pools");
  double statistic = 0;
  for (const auto& [count, expected] : pools) {
    statistic += (count - expected) * (count - expected) / expected;
  }
  const double degrees_of_freedom = static_cast<double>(pools.size() - 1);
  return boost::math::gamma_q(degrees_of_freedom / 2, statistic / 2);
}

}  // namespace dpquantile::test
