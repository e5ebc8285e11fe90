#pragma once

#include <string>

namespace dpquantile {

// The shortest decimal that reads back as the same double, in the notation of PostgreSQL, including
// "NaN", "Infinity" and "-Infinity". For error messages and for the decimal amount of a charge.
std::string shortest_decimal(double value);

// The double nearest to the value rounded to this many decimal places, 0 .. 300. The value must be
// finite and its magnitude below 10^15.
double round_to_places(double value, int places);

}  // namespace dpquantile
