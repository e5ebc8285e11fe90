#pragma once

#include <cstddef>
#include <vector>

#include "core/plot/axis_ticks.hpp"
#include "core/plot/histogram_plot.hpp"

namespace dpquantile {

// A bar of a histogram. `begin` and `end` run from 0 at the left end to 1 at the right end; the
// counts are rows.
struct HistogramBar {
  double begin;
  double end;
  double count;
  double low;  // count - error, at least 0; the count itself without an error
  double high;
};

// The bars, from left to right: one for each bin, or, if there are more than `most` bins, `most` of
// them, each with the largest count of its bins. Requires most >= 1.
std::vector<HistogramBar> histogram_bars(const HistogramPlot& plot, std::size_t most);

// The bounds between the bars as ticks: all of them or, if these are more than `most`, every
// second, third and so on. The first and the last are always among them.
TickMaker bound_ticks(const HistogramPlot& plot);

// The largest `high`, at least 1: the height of the vertical axis.
double histogram_top(const std::vector<HistogramBar>& bars);

}  // namespace dpquantile
