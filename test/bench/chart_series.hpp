#pragma once

#include <string>
#include <vector>

// What charts are drawn of.
namespace dpquantile::bench {

struct ChartPoint {
  double x;
  double y;
};

// At least one point, ascending in x.
struct ChartSeries {
  std::string label;
  std::vector<ChartPoint> points;
  bool dashed = false;
  std::string colour =
      {};  // when empty one by its place among the series, of which there are at most 10
  double stroke = 2;
};

// The colour of the series at a place.
std::string series_colour(const std::vector<ChartSeries>& series, std::size_t place);

}  // namespace dpquantile::bench
