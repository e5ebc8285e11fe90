#pragma once

#include <string>
#include <vector>

// The data of charts.
namespace dpquantile::bench {

struct ChartPoint {
  double x;
  double y;
};

// A line of at least one point, ascending in x.
struct ChartSeries {
  std::string label;
  std::vector<ChartPoint> points;
  bool dashed = false;
  std::string colour = {};  // if empty, one by the place among the series, which are at most 10
  double stroke = 2;
};

// The colour of the series at a place.
std::string series_colour(const std::vector<ChartSeries>& series, std::size_t place);

}  // namespace dpquantile::bench
