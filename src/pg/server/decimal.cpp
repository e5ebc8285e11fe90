#include "pg/server/decimal.hpp"

#include <cmath>
#include <limits>

extern "C" {
#include "utils/fmgrprotos.h"
}
#include "core/base/decimal_format.hpp"
#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

Datum numeric_of_text(char* text) {
  return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
                             Int32GetDatum(-1));
}

}  // namespace

char* decimal_text(double value) {
  constexpr std::size_t kSize = 32;
  char* text = static_cast<char*>(palloc0(kSize));
  report(guarded([&] {
    const std::string digits = shortest_decimal(value);
    digits.copy(text, kSize - 1);
  }));
  return text;
}

char* decimal_text_above(double value) {
  return decimal_text(std::nextafter(value, std::numeric_limits<double>::infinity()));
}

Datum decimal_numeric(double value) {
  return numeric_of_text(decimal_text(value));
}

Datum decimal_numeric_above(double value) {
  return numeric_of_text(decimal_text_above(value));
}

Datum decimal_numeric_below(double value) {
  if (value <= 0) return decimal_numeric(0);
  return numeric_of_text(
      decimal_text(std::nextafter(value, -std::numeric_limits<double>::infinity())));
}

}  // namespace dpquantile
