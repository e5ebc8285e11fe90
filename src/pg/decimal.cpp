#include "pg/decimal.hpp"
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

}  // namespace dpquantile
