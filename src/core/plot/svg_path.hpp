#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dpquantile {

// A number of pixels with at most two decimals: "12", "0.5", "-3.25".
std::string svg_number(double pixels);

// A point of a path in hundredths of a pixel, the precision of the document.
struct PathPoint {
  std::int64_t x;
  std::int64_t y;
  bool operator==(const PathPoint&) const = default;
};

PathPoint path_point(double x, double y);

// A line through all the points as the data of an SVG path, without the points that add nothing:
// repetitions and those in the middle of a horizontal or vertical stroke. At least one point.
std::string path_data(const std::vector<PathPoint>& points);

}  // namespace dpquantile
