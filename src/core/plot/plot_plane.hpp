#pragma once

#include "core/plot/cdf_plot.hpp"

// The curve of a picture in the unit square: across 0 .. 1 from lower to upper, up 0 .. 1.
namespace dpquantile {

struct CurvePoint {
  double across;
  double probability;
  double low;
  double high;
};

// A release without rows has a band but no curve.
bool has_curve(const CdfPlot& picture);

// Where a value lies between the bounds: 0 at or below lower, 1 at or above upper.
double across(const CdfPlot& picture, double x);

CurvePoint curve_point(const CdfPlot& picture, const CdfPoint& point);

// What holds to the left of all points: no row is below the lower bound.
CurvePoint curve_start(const CdfPlot& picture);

}  // namespace dpquantile
