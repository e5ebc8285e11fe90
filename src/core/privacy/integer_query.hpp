#pragma once

#include <cstdint>

namespace dpquantile {

// An exact integer answer, and the most by which it can differ between neighbours. The sensitivity
// is public, the answer is not.
struct IntegerQuery {
  std::uint64_t answer;       // at most 2^63
  std::uint64_t sensitivity;  // at most 2^34
};

}  // namespace dpquantile
