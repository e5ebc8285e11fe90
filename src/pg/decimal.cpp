#include "pg/decimal.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}
#include "core/text.hpp"
#include "pg/boundary.hpp"

namespace dpquantile {

char* decimal_text(double value) {
  constexpr std::size_t kSize = 32;
  char* text = static_cast<char*>(palloc0(kSize));
  report(guarded([&] {
    const std::string digits = shortest_decimal(value);
    digits.copy(text, kSize - 1);
  }));
  return text;
}

Datum decimal_numeric(double value) {
  return DirectFunctionCall3(numeric_in, CStringGetDatum(decimal_text(value)),
                             ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

}  // namespace dpquantile
