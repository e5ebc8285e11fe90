#include "core/base/decimal_format.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace dpquantile {

namespace {

// Decimal digits that a double always keeps.
constexpr int kExactDigits = 15;
constexpr int kMaxPlaces = 300;

}  // namespace

std::string shortest_decimal(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  // PostgreSQL writes a float8 in this way: 200000, but 1e+15 and 1e-05.
  const double magnitude = std::abs(value);
  const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e15);
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  return std::string(digits.data(), end);
}

double round_to_places(double value, int places) {
  std::array<char, 340> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::fixed, places)
                        .ptr;
  double rounded = value;
  std::from_chars(digits.data(), end, rounded);
  return rounded;
}

double decimal_of_step(double value, double step, double magnitude) {
  if (magnitude == 0) return value;
  const int places = kExactDigits - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
  if (places < 0 || places > kMaxPlaces) return value;
  const double rounded = round_to_places(value, places);
  return std::abs(rounded - value) < step / 1024 ? rounded : value;
}

}  // namespace dpquantile
