#pragma once

#include <cstddef>
#include <cstdint>

namespace dpquantile {

// A synthetic sample of a data set: its quantiles i / (size + 1), i = 1 .. size, which say of every
// interval how many records lie in it (the sanitization of Kaplan, Schnapp and Stemmer 2022,
// Corollary 3.6). Drawing them costs what drawing any quantiles does.

// Quantile i of 0 .. size - 1.
inline double uniform_quantile(std::size_t i, std::size_t size) {
  return static_cast<double>(i + 1) / static_cast<double>(size + 1);
}

// Throws ParameterError unless 1 <= size <= kMaxQuantiles.
void check_synthesis_size(std::int64_t size);

}  // namespace dpquantile
