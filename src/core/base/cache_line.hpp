#pragma once

#include <cstddef>

namespace dpquantile {

// The number of bytes that most processors' caches fetch at once.
inline constexpr std::size_t kCacheLine = 64;

}  // namespace dpquantile
