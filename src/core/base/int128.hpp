#pragma once

#include <cstdint>

#ifndef __SIZEOF_INT128__
#include <boost/multiprecision/cpp_int.hpp>
#endif

namespace dpquantile {

// Integers of 128 bits. ISO C++ has none. Compilers have them on processors of 64 bits; elsewhere
// they are classes, which throw std::overflow_error or std::range_error where the compiler's would
// wrap. Nothing may depend on wrapping.
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128_t;
__extension__ typedef __int128 int128_t;
#else
using uint128_t = boost::multiprecision::checked_uint128_t;
using int128_t = boost::multiprecision::checked_int128_t;
#endif

}  // namespace dpquantile
