#pragma once

namespace dpquantile {

inline constexpr double kMinConfidence = 0.5;
inline constexpr double kMaxConfidence = 0.999;

// Throws ParameterError unless kMinConfidence <= confidence <= kMaxConfidence: the probability with
// which a stated error or band holds.
void check_confidence(double confidence);

}  // namespace dpquantile
