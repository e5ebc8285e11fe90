#include "core/plot/axis_scale.hpp"

#include "core/base/decimal_format.hpp"
#include "core/plot/plot_plane.hpp"

namespace dpquantile {

std::vector<AxisTick> scale_ticks(AxisScale scale, double lower, double upper, int most) {
  return scale == AxisScale::kNumber ? axis_ticks(lower, upper, most)
                                     : time_ticks(scale, lower, upper, most);
}

std::vector<std::string> scale_labels(AxisScale scale, std::span<const double> values) {
  if (scale != AxisScale::kNumber) return time_labels(scale, values);
  std::vector<std::string> labels;
  for (const double value : values) labels.push_back(shortest_decimal(value));
  return labels;
}

std::string scale_label(AxisScale scale, double value) {
  return scale_labels(scale, std::span(&value, 1)).front();
}

std::string_view scale_title(AxisScale scale) {
  switch (scale) {
    case AxisScale::kNumber:
      return "value";
    case AxisScale::kDate:
      return "date";
    case AxisScale::kTimestamp:
    case AxisScale::kTimeOfDay:
      return "time";
    case AxisScale::kUtcTimestamp:
      return "time (UTC)";
    case AxisScale::kDuration:
      return "duration";
  }
  return "value";
}

TickMaker ticks_between(AxisScale scale, double lower, double upper) {
  return [=](int most) {
    std::vector<PlacedTick> ticks;
    for (const AxisTick& tick : scale_ticks(scale, lower, upper, most)) {
      ticks.push_back({across(lower, upper, tick.value), tick.label});
    }
    return ticks;
  };
}

}  // namespace dpquantile
