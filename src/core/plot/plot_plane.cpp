#include "core/plot/plot_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpquantile {

bool has_curve(const CdfPlot& picture) {
  return !std::isnan(picture.points.front().probability);
}

double across(const CdfPlot& picture, double x) {
  const double width = picture.upper - picture.lower;
  const double fraction =
      std::isfinite(width) ? (x - picture.lower) / width
                           : (x / 2 - picture.lower / 2) / (picture.upper / 2 - picture.lower / 2);
  return std::clamp(fraction, 0.0, 1.0);
}

CurvePoint curve_point(const CdfPlot& picture, const CdfPoint& point) {
  return {across(picture, point.x), point.probability, point.low, point.high};
}

CurvePoint curve_start(const CdfPlot& picture) {
  if (has_curve(picture)) return {0, 0, 0, 0};
  return {0, std::numeric_limits<double>::quiet_NaN(), 0, 1};
}

}  // namespace dpquantile
