#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plot/time_ticks.hpp"

// The axes of numbers (axis_ticks.hpp) and of dates and times (time_ticks.hpp) alike.
namespace dpquantile {

// Round ticks from lower to upper, at most `most`, as axis_ticks() and time_ticks() give them.
std::vector<AxisTick> scale_ticks(AxisScale scale, double lower, double upper, int most);

// Labels for ascending values on one axis, and for a value that stands alone.
std::vector<std::string> scale_labels(AxisScale scale, std::span<const double> values);
std::string scale_label(AxisScale scale, double value);

// What an axis with this scale shows: "value", "date", "time (UTC)", ...
std::string_view scale_title(AxisScale scale);

// Ticks on an axis from lower to upper with scale_ticks() for a TickMaker (axis_ticks.hpp).
TickMaker ticks_between(AxisScale scale, double lower, double upper);

}  // namespace dpquantile
