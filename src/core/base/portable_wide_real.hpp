#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>

namespace dpquantile {

// A floating-point number of 113 bits that is computed with integers, for processors on which
// WideReal cannot be a long double. The exponent has a larger range than that of any long double.
// The proofs in docs/privacy.md need relative errors below 2^-62. The unit test finds less than
// 2^-90 in sums, products, quotients, exp() and log().
using PortableWideReal = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<113, boost::multiprecision::digit_base_2, void,
                                         std::int32_t, -(1 << 20), 1 << 20>,
    boost::multiprecision::et_off>;

}  // namespace dpquantile
