#include "core/iqr/log_grid.hpp"

#include <cmath>
#include <limits>

namespace dpquantile {

namespace {

// Steps within +-kLogRange have normal values: the smallest normal double has the logarithm -708.4,
// the largest double 709.8.
constexpr double kLogRange = 708;

std::int64_t round_down_to_unit(std::int64_t step) {
  const std::int64_t above = step % LogGrid::kStepsPerUnit;
  return step - (above < 0 ? above + LogGrid::kStepsPerUnit : above);
}

}  // namespace

LogGrid::LogGrid(std::uint64_t count)
    : LogGrid(of_unit(std::log1p(1 / std::log(static_cast<double>(count))))) {}

LogGrid LogGrid::of_unit(double unit) {
  const double log_step = unit / static_cast<double>(kStepsPerUnit);
  return {log_step, static_cast<std::int64_t>(kLogRange / log_step)};
}

double LogGrid::value(std::int64_t step) const {
  return std::exp(static_cast<double>(step) * log_step_);
}

std::int64_t LogGrid::step_of(double iqr) const {
  std::int64_t first = -last_;
  std::int64_t last = last_;
  while (first < last) {
    const std::int64_t middle = last - (last - first) / 2;
    if (value(middle) <= iqr) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

IqrBin LogGrid::bin_of(double iqr, int discretisation) const {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  if (iqr == 0) return {0, kLeast};
  const std::int64_t shift = discretisation * (kStepsPerUnit / kDiscretisations);
  const std::int64_t begin = round_down_to_unit(step_of(iqr) + shift) - shift;
  const std::int64_t end = begin + kStepsPerUnit;
  return {begin <= -last_ ? kLeast : value(begin),
          end > last_ ? std::numeric_limits<double>::infinity() : value(end)};
}

}  // namespace dpquantile
