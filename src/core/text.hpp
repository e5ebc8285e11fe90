#pragma once

#include <string>

namespace dpquantile {

// The shortest decimal that reads back as the same double; "NaN", "Infinity" and "-Infinity" as
// PostgreSQL writes them. For error messages and for the decimal amount of a charge.
std::string shortest_decimal(double value);

}  // namespace dpquantile
