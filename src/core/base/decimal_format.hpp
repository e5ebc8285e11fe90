#pragma once

#include <string>

namespace dpquantile {

// The shortest decimal that reads back as the same double; "NaN", "Infinity" and "-Infinity" as
// PostgreSQL writes them. For error messages and for the decimal amount of a charge.
std::string shortest_decimal(double value);

// The double nearest to the value rounded to this many decimal places; the value must be finite and
// below 10^15, the places 0 .. 300.
double round_to_places(double value, int places);

}  // namespace dpquantile
