#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The float8 nearest to a numeric, as PostgreSQL's cast to float8 gives it. A numeric beyond the
// largest float8 gives an infinity, one too close to 0 gives 0. The number of steps and of bytes
// read is bounded, whatever the number of digits, the scale and the storage of the numeric: time
// must not show that one row has a very long value. (docs/privacy.md names an exception.)
//
// Only the first 33 to 36 significant digits are read. The digits after them count as one digit
// that is not zero. So the result differs from PostgreSQL's, by one unit in the last place, only
// for a longer numeric that agrees in all these digits with a number halfway between two float8s.
double float8_of_numeric(Datum numeric);

// The most digits before and after the decimal point of a numeric that functions over protected
// rows take. The value of every float8 has fewer.
inline constexpr int kMostNumericDigits = 400;

// Whether a numeric is below 10^digits in magnitude and has at most this number of decimals. NaN
// and the infinities are. digits is a multiple of 4. Reads the first bytes only.
bool has_few_digits(Datum numeric, int digits);

// At least as many bytes as the text of a numeric has. Reads the first bytes only.
Size most_text_bytes(Datum numeric);

}  // namespace dpquantile
