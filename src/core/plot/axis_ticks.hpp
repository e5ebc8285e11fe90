#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dpquantile {

// A mark on an axis: a whole multiple of 1, 2 or 5 times a power of ten.
struct AxisTick {
  double value;
  std::string label;
};

// The most ticks, but no more than `most`, that round steps give from lower to upper; ascending and
// at least one. All labels have the same number of decimals, and they are all plain ("0.25") or all
// with the same power of ten ("2.5e-300", but zero is "0"). Any finite lower < upper; most >= 2.
std::vector<AxisTick> axis_ticks(double lower, double upper, int most);

// Where the label of a tick begins and ends on the axis.
struct LabelSpan {
  double begin;
  double end;
};

// The axis ticks, at most `most`, whose labels lie at least `gap` apart.
std::vector<AxisTick> ticks_that_fit(double lower, double upper, int most, double gap,
                                     const std::function<LabelSpan(const AxisTick&)>& span_of);

}  // namespace dpquantile
