#include "core/contributions/fixed_point.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/histogram/value_grid.hpp"

namespace dpquantile {

FixedPoint FixedPoint::create(double lower, double upper) {
  const ValueGrid checked = ValueGrid::create(lower, upper, std::nullopt);
  return FixedPoint{checked.lower, checked.upper};
}

std::uint32_t FixedPoint::units_of(double x) const {
  const double inside = std::clamp(x, lower, upper);
  const double fraction = (inside - lower) / (upper - lower);
  return static_cast<std::uint32_t>(std::llround(fraction * kOne));
}

double FixedPoint::value_of(std::uint32_t units) const {
  const double fraction = static_cast<double>(units) / kOne;
  // Adding zero turns a negative zero into a positive one.
  return std::clamp(lower + (upper - lower) * fraction, lower, upper) + 0.0;
}

double FixedPoint::variance_of(std::uint32_t units) const {
  const double width = upper - lower;
  return width * width * (static_cast<double>(units) / kOne);
}

void FixedPoint::check_variance_representable() const {
  const double width = upper - lower;
  if (std::isnormal(width * width)) return;
  throw ParameterError("the square of upper - lower must be a finite number above 0, got " +
                           shortest_decimal(lower) + " and " + shortest_decimal(upper),
                       "Choose other bounds, or other units for the values.");
}

}  // namespace dpquantile
