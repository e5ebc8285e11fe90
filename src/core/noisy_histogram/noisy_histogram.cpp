#include "core/noisy_histogram/noisy_histogram.hpp"

#include <algorithm>

#include "core/base/int128.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

std::pmr::vector<std::int64_t> release_histogram(std::span<const std::uint64_t> counts,
                                                 const PrivacyParameter& privacy,
                                                 const MechanismContext& context) {
  const IntegerNoise noise(privacy, 1);
  std::pmr::vector<std::int64_t> released(context.memory);
  released.reserve(counts.size());
  for (const std::uint64_t count : counts) {
    context.cancel.tick();
    const int128_t noisy = int128_t{count} + noise.draw(context.random);
    released.push_back(static_cast<std::int64_t>(std::clamp<int128_t>(noisy, 0, INT64_MAX)));
  }
  return released;
}

std::uint64_t histogram_error(const PrivacyParameter& privacy, double confidence) {
  check_confidence(confidence);
  const double spread = IntegerNoise(privacy, 1).spread();
  return integer_noise_quantile(privacy.measure, spread, 1 - confidence);
}

}  // namespace dpquantile
