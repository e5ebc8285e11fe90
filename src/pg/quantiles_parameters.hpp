#pragma once

#include <cstddef>

#include "core/grid.hpp"
#include "pg/call_arguments.hpp"
#include "pg/options.hpp"

namespace dpquantile {

// The validated parameters of a dp_quantiles, dp_quantile or dp_median call, as plain data that is
// stored inside aggregate states and compared byte by byte.
struct QuantilesParameters {
  double epsilon;
  Grid grid;
  QuantileMethod method;
  uint32 quantile_count;
  double quantiles[FLEXIBLE_ARRAY_MEMBER];
};

// In bytes, without padding at the end.
inline std::size_t parameters_size(uint32 quantile_count) {
  return offsetof(QuantilesParameters, quantiles) + quantile_count * sizeof(double);
}

// Checks the parameters and puts them together, palloc'd and free of uninitialised bytes. ereports
// for a NULL and for anything out of range.
QuantilesParameters* make_parameters(double epsilon, double lower, double upper,
                                     const QuantilesOptions& options, const double* quantiles,
                                     uint32 quantile_count);

// The parameters of a call, recognised by their number and types:
//   dp_quantiles: quantiles float8[], epsilon, lower, upper [, options jsonb]
//   dp_quantile:  quantile float8, epsilon, lower, upper [, options jsonb]
//   dp_median:    epsilon, lower, upper [, options jsonb]
QuantilesParameters* read_parameters(const CallArguments& arguments);

// Whether two calls ask for the same, byte by byte.
bool same_parameters(const QuantilesParameters* a, const QuantilesParameters* b);

}  // namespace dpquantile
