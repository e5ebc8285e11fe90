#pragma once

#include "core/plot/cdf_plot.hpp"

// The curve of a plot in the unit square: `across` runs from 0 at lower to 1 at upper, and
// probabilities run from 0 to 1 upwards.
namespace dpquantile {

struct CurvePoint {
  double across;
  double probability;
  double low;
  double high;
};

// False for a release without rows, which has a band but no curve.
bool has_curve(const CdfPlot& plot);

// Where a value lies between the bounds: 0 at or below lower, 1 at or above upper.
double across(double lower, double upper, double x);

// The point of the curve, with x as a fraction of the width between the bounds. Fractions of rows
// are those of `point`. Nothing is rounded to characters or pixels.
CurvePoint curve_point(const CdfPlot& plot, const CdfPoint& point);

// The curve and band to the left of all points: no row is below the lower bound.
CurvePoint curve_start(const CdfPlot& plot);

}  // namespace dpquantile
