#pragma once

namespace dpquantile {

// One point of a released curve with its simultaneous band, all of them fractions of the rows from
// 0 to 1, each non-decreasing in x, low <= probability <= high. The probability is NaN at every
// point where the release has no rows; the band is then 0 to 1.
struct CdfPoint {
  double x;
  double probability;
  double low;
  double high;
};

}  // namespace dpquantile
