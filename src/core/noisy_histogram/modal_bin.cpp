#include "core/noisy_histogram/modal_bin.hpp"

#include <algorithm>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

std::size_t draw_modal_bin(std::span<const std::uint64_t> counts, double epsilon,
                           const MechanismContext& context) {
  check_epsilon(epsilon);
  // The scale is rounded up, and with it the probability of bins that lack records.
  const Rational scale = laplace_scale(1, rational_epsilon(epsilon), 1);
  const std::uint64_t most = *std::ranges::max_element(counts);
  std::pmr::vector<std::size_t> order(counts.size(), context.memory);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<std::size_t> taken;
  for (std::size_t i = 0; i < order.size(); ++i) {
    context.cancel.tick();
    std::swap(order[i], order[i + context.random.uniform_below(order.size() - i)]);
    const uint128_t lacking = most - counts[order[i]];
    const bool is_true =
        bernoulli_exp(context.random, lacking * scale.denominator, scale.numerator);
    if (is_true && !taken) taken = order[i];
  }
  if (!taken) throw std::logic_error("the coin of the fullest bin showed false");
  return *taken;
}

ReleaseCosts modal_bin_costs(double epsilon) {
  return {pure_cost(epsilon), pure_cost(2 * epsilon)};
}

}  // namespace dpquantile
