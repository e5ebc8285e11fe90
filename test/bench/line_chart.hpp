#pragma once

#include <string>
#include <vector>

#include "chart_series.hpp"

// Line charts of the benchmarks' figures as SVG documents.
namespace dpquantile::bench {

// Both axes are logarithmic, so all coordinates must be positive.
struct LineChart {
  std::string title;
  std::string subtitle;
  std::string x_title;
  std::string y_title;
  std::vector<ChartSeries> series;  // at least one
};

std::string draw_line_chart(const LineChart& chart, int width, int height);

// Writes the chart to the file. Prints a notice of success or failure.
void write_line_chart(const LineChart& chart, const std::string& path);

}  // namespace dpquantile::bench
