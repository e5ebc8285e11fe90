#include "core/quantiles/independent_quantiles.hpp"

#include <algorithm>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile {

double independent_epsilon(std::size_t distinct_quantiles, const PrivacyParameter& privacy) {
  const double each = privacy.value / static_cast<double>(distinct_quantiles);
  return privacy.measure == PrivacyMeasure::kPure ? each : bounded_range_of_rho(each);
}

void draw_independently(const SmearedRank& rank, std::uint64_t cells,
                        std::span<const double> quantiles, const PrivacyParameter& privacy,
                        const MechanismContext& context, std::span<std::uint32_t> answers) {
  const double epsilon = independent_epsilon(quantiles.size(), privacy);
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    context.cancel.check();
    const Position position =
        draw_quantile_position(rank, {0, cell_start(cells)}, quantiles[i], epsilon, context);
    answers[i] = static_cast<std::uint32_t>(cell_at(position));
  }
  std::ranges::sort(answers);
}

}  // namespace dpquantile
