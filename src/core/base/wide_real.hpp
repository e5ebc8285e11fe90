#pragma once

#include <cfloat>
#include <limits>

// The proofs in docs/privacy.md, "Floating point", hold for IEEE 754 arithmetic that rounds each
// operation on doubles to a double. That of x87 processors keeps more bits here and there;
// compilers of 32-bit x86 round to doubles with -msse2 -mfpmath=sse. -ffast-math drops the
// guarantee.
static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559,
              "dpquantile needs IEEE 754 doubles without excess precision; on 32-bit x86 compile "
              "with -msse2 -mfpmath=sse");
#ifdef __FAST_MATH__
#error "dpquantile must not be compiled with -ffast-math"
#endif

// x86 has a long double of 64 bits, 64-bit ARM, RISC-V and s390x have one of 113 bits. That of
// 32-bit ARM and macOS is a double. That of POWER is a pair of doubles: it has enough bits, but the
// exponent of a double.
#if LDBL_MANT_DIG >= 64 && LDBL_MAX_EXP >= 16384
namespace dpquantile {
// A floating-point type with at least 64 bits of precision and 15 of exponent: for powers of
// probabilities that a double cannot represent.
using WideReal = long double;
}  // namespace dpquantile
#else
#include "core/base/portable_wide_real.hpp"
namespace dpquantile {
using WideReal = PortableWideReal;
}  // namespace dpquantile
#endif
