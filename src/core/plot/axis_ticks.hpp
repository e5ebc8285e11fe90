#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dpquantile {

// A mark on an axis.
struct AxisTick {
  double value;
  std::string label;
};

// Ticks at whole multiples of a round step (1, 2 or 5 times a power of ten) from lower to upper,
// ascending: as many as possible, but at most `most`. If the step gives no tick, the only tick is
// lower itself. All labels have the same number of decimals. They are all plain ("0.25") or all
// have the same power of ten ("2.5e-300", but zero is "0"). Requires finite lower < upper and
// most >= 2.
std::vector<AxisTick> axis_ticks(double lower, double upper, int most);

// A tick at its place on an axis: 0 at the left end, 1 at the right end.
struct PlacedTick {
  double across;
  std::string label;
};

// Makes the ticks of an axis, from left to right, as many as possible but at most `most` (>= 2). At
// least one.
using TickMaker = std::function<std::vector<PlacedTick>(int most)>;

// Where the label of a tick begins and ends on the axis.
struct LabelSpan {
  double begin;
  double end;
};

// The ticks that `make` makes, at most `most`, with labels at least `gap` apart; a single tick if
// no two fit. `span_of` returns the place of a tick's label; `gap` has the same unit.
std::vector<PlacedTick> ticks_that_fit(const TickMaker& make, int most, double gap,
                                       const std::function<LabelSpan(const PlacedTick&)>& span_of);

}  // namespace dpquantile
