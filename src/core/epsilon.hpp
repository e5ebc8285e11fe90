#pragma once

namespace dpquantile {

inline constexpr double kMinEpsilon = 1e-6;
inline constexpr double kMaxEpsilon = 1000;

// Throws ParameterError unless kMinEpsilon <= epsilon <= kMaxEpsilon.
void check_epsilon(double epsilon);

}  // namespace dpquantile
