#pragma once

#include <cstdint>

namespace dpquantile {

// The compiler's 128-bit integers. ISO C++ has none.
__extension__ typedef unsigned __int128 uint128_t;
__extension__ typedef __int128 int128_t;

}  // namespace dpquantile
