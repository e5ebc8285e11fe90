#include "core/plot/plot_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpquantile {

bool has_curve(const CdfPlot& plot) {
  return !std::isnan(plot.points.front().probability);
}

double across(double lower, double upper, double x) {
  const double width = upper - lower;
  const double fraction =
      std::isfinite(width) ? (x - lower) / width : (x / 2 - lower / 2) / (upper / 2 - lower / 2);
  return std::clamp(fraction, 0.0, 1.0);
}

CurvePoint curve_point(const CdfPlot& plot, const CdfPoint& point) {
  return {across(plot.lower, plot.upper, point.x), point.probability, point.low, point.high};
}

CurvePoint curve_start(const CdfPlot& plot) {
  if (has_curve(plot)) return {0, 0, 0, 0};
  return {0, std::numeric_limits<double>::quiet_NaN(), 0, 1};
}

}  // namespace dpquantile
