#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>

namespace dpquantile {

// A floating-point number of 113 bits that is computed with integers, for processors on which
// WideReal cannot be a long double. Sums, products and quotients are rounded correctly, exp() and
// log() are right to 2^-100 or better. The exponent has a larger range than that of any long
// double.
using PortableWideReal = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<113, boost::multiprecision::digit_base_2, void,
                                         std::int32_t, -(1 << 20), 1 << 20>,
    boost::multiprecision::et_off>;

}  // namespace dpquantile
