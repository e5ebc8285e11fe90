#pragma once

#include "core/user_level/window_interval.hpp"

// How accurate a mean is whose arrays are clipped to a drawn window, before any data are looked at.
namespace dpquantile {

// Arrays as a model of data has them, in units of the range.
struct NormalArrays {
  double count;   // A
  double spread;  // s, the standard deviation of their means
};

// The expected |shift + noise| of the mean of arrays whose means are normal about the middle of the
// range, in units of the range: the shift is that of clipping the normal law to the window, the
// noise has the expected magnitude `noise` times the width of the window, and counts as Laplace
// noise also where it is Gaussian. `epsilon` is that of the interval.
//
// The law of draw_window_interval() with l = A P[mean < begin] and r = A P[mean > end], 0 at the
// ends of the range. Windows that hold the middle begin an odd number of 16ths of their width
// before it, unless an end of the range stops them; all others, and those narrower than s / 2 and
// than the range, count as missing all arrays: they have the cost A - T, and an error of a third of
// the range. Numbers of array means are expectations: the error of fewer than about 30 arrays with
// an epsilon of hundreds is overestimated.
// Requires parts >= 1, count >= 1, spread > 0, noise > 0. O(widths) time.
double expected_window_error(const NormalArrays& arrays, const WindowPlan& plan, double epsilon,
                             double noise);

}  // namespace dpquantile
