#pragma once

#include <cmath>

// The law of discrete Laplace noise of a scale.
namespace dpquantile::adversary {

inline double laplace_chance(double scale, double y) {
  const double ratio = std::exp(-1 / scale);
  return (1 - ratio) / (1 + ratio) * std::exp(-std::abs(y) / scale);
}

// P[noise <= y].
inline double laplace_below(double scale, double y) {
  const double ratio = std::exp(-1 / scale);
  return y < 0 ? std::exp(y / scale) / (1 + ratio) : 1 - std::exp(-(y + 1) / scale) / (1 + ratio);
}

}  // namespace dpquantile::adversary
