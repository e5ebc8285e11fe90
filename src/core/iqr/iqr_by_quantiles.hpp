#pragma once

#include "core/histogram/histogram.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/mechanism_context.hpp"

namespace dpquantile {

// The interquartile range of values on a grid, as the difference of two private quartiles drawn
// together by method auto of draw_quantiles: a multiple of the grid's granularity, from 0 to upper
// - lower. Empty data are answered like any other.
//
// Privacy: epsilon-differentially private for adding or removing one record, as post-processing of
// the quartiles (docs/privacy.md, Theorem 4). Throws like draw_quantiles.
double iqr_by_quantiles(const Histogram& data, const ValueGrid& grid, double epsilon,
                        const MechanismContext& context);

// The zCDP of that, as of rho_of_quantiles.
double rho_of_iqr_by_quantiles(double epsilon);

}  // namespace dpquantile
