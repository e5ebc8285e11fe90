#pragma once

#include "pg/postgres.hpp"

namespace dpquantile {

// The shortest decimal that reads back as the same double, palloc'd. Unlike float8out it does not
// depend on extra_float_digits, which a user may set.
char* decimal_text(double value);

// The same as a numeric.
Datum decimal_numeric(double value);

}  // namespace dpquantile
