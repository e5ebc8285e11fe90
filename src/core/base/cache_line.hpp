#pragma once

#include <cstddef>

namespace dpquantile {

// The number of bytes that a processor's cache fetches at once.
inline constexpr std::size_t kCacheLine = 64;

}  // namespace dpquantile
