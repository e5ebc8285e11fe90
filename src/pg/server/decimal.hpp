#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The shortest decimal that reads back as the same double, palloc'd. Unlike float8out it does not
// depend on extra_float_digits, which a user may set.
char* decimal_text(double value);

// The same of the next double: more than the value, while the shortest decimal of a double may lie
// a little below it. For amounts that are upper bounds.
char* decimal_text_above(double value);

// These as numerics; and the shortest decimal of the double before, less than the value.
Datum decimal_numeric(double value);
Datum decimal_numeric_above(double value);
Datum decimal_numeric_below(double value);

}  // namespace dpquantile
