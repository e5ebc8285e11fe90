#pragma once

#include <string>

namespace dpquantile {

// The shortest decimal that reads back as the same double, in the notation of PostgreSQL, including
// "NaN", "Infinity" and "-Infinity". For error messages and for the decimal amount of a charge.
std::string shortest_decimal(double value);

// The double nearest to the value rounded to this many decimal places, 0 .. 300. The value must be
// finite and its magnitude below 10^15.
double round_to_places(double value, int places);

// The decimal that the user means by a multiple of a step, plus some offset: -100 + 10396 * 0.01 is
// not quite 3.96 in binary. The 15 digits that a double always keeps are counted from the first
// digit of `magnitude`, which is that of the largest number of the calculation. Returns the value
// itself where these digits are too few to tell steps apart.
double decimal_of_step(double value, double step, double magnitude);

}  // namespace dpquantile
