#include "core/moments/noisy_count.hpp"

#include <algorithm>

#include "core/base/int128.hpp"
#include "core/moments/moments.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"

namespace dpquantile {

NoisyCount release_count(std::uint64_t exact, const PrivacyParameter& privacy,
                         RandomStream& random) {
  const IntegerNoise noise(privacy, 1);
  const int128_t noisy = int128_t{exact} + noise.draw(random);
  return {static_cast<std::uint64_t>(std::max<int128_t>(noisy, 0)),
          integer_noise_quantile(privacy.measure, noise.spread(), kEstimateTail)};
}

}  // namespace dpquantile
