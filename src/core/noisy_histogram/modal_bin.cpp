#include "core/noisy_histogram/modal_bin.hpp"

#include <memory_resource>
#include <numeric>
#include <utility>
#include <vector>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

// j >= 0 with a probability proportional to exp(-a j), where the noise has exp(-a |y|): so have
// 0, 1, ... and -1, -2, ..., which become 0, 1, ...
std::uint64_t one_sided(std::int64_t noise) {
  return static_cast<std::uint64_t>(noise < 0 ? ~noise : noise);
}

}  // namespace

std::size_t draw_modal_bin(std::span<const std::uint64_t> counts, double epsilon,
                           const MechanismContext& context) {
  const IntegerNoise noise(pure(epsilon), 1);
  std::pmr::vector<std::size_t> order(counts.size(), context.memory);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t taken = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    context.cancel.tick();
    std::swap(order[i], order[i + context.random.uniform_below(order.size() - i)]);
    const std::uint64_t noisy = counts[order[i]] + one_sided(noise.draw(context.random));
    if (i > 0 && noisy <= most) continue;
    most = noisy;
    taken = order[i];
  }
  return taken;
}

ReleaseCosts modal_bin_costs(double epsilon) {
  return {pure_cost(epsilon), pure_cost(2 * epsilon)};
}

}  // namespace dpquantile
