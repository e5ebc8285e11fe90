#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The shortest decimal that reads back as the same double, palloc'd. Unlike float8out it does not
// depend on extra_float_digits, which a user may set. All functions here ereport if memory is
// short.
char* decimal_text(double value);

// The shortest decimal of the next larger double, for amounts that are upper bounds. It is above
// the value, whereas the shortest decimal of the value itself may be slightly below it.
char* decimal_text_above(double value);

// The two decimals above as PostgreSQL numerics.
Datum decimal_numeric(double value);
Datum decimal_numeric_above(double value);

// The shortest decimal of the next smaller double as a numeric, for amounts that are lower bounds.
// It is below the value. Values <= 0 give 0.
Datum decimal_numeric_below(double value);

}  // namespace dpquantile
