#pragma once

#include <cstddef>
#include <vector>

#include "core/plot/histogram_plot.hpp"

namespace dpquantile {

// A bar of a histogram. `begin` and `end` run from 0 at lower to 1 at upper; the counts are rows.
struct HistogramBar {
  double begin;
  double end;
  double count;
  double low;  // count - error, at least 0
  double high;
};

// The bars, from left to right: one for each bin, or, if there are more than `most` bins, `most` of
// them, each with the largest count of its bins. Requires most >= 1.
std::vector<HistogramBar> histogram_bars(const HistogramPlot& plot, std::size_t most);

// The largest `high`, at least 1: the height of the vertical axis.
double histogram_top(const std::vector<HistogramBar>& bars);

}  // namespace dpquantile
