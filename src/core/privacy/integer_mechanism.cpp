#include "core/privacy/integer_mechanism.hpp"

#include <algorithm>

#include "core/privacy/gaussian_mechanism.hpp"
#include "core/privacy/laplace_mechanism.hpp"

namespace dpquantile {

std::uint32_t integer_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       const PrivacyParameter& privacy, std::uint64_t parts,
                                       RandomStream& random) {
  const int128_t noisy =
      privacy.measure == PrivacyMeasure::kPure
          ? laplace_mechanism(query, rational_epsilon(privacy.value), parts, random)
          : gaussian_mechanism(query, privacy.value / static_cast<double>(parts), random);
  return static_cast<std::uint32_t>(std::clamp<int128_t>(noisy, 0, largest));
}

}  // namespace dpquantile
