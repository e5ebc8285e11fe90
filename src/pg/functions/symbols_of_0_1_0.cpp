// Symbols that only functions of version 0.1.0 name. PostgreSQL looks them up when pg_upgrade makes
// these functions again with this library.
#include "pg/aggregate/user_aggregate.hpp"

using namespace dpquantile;

DPQ_FUNCTION(dpq_quantiles_transition_numeric) {
  return add_typed_row(fcinfo, Family::kQuantiles);
}
DPQ_FUNCTION(dpq_synthesize_transition_numeric) {
  return add_typed_row(fcinfo, Family::kSynthesis);
}
DPQ_FUNCTION(dpq_cdf_transition_numeric) {
  return add_typed_row(fcinfo, Family::kCdf);
}
DPQ_FUNCTION(dpq_iqr_transition_numeric) {
  return add_typed_row(fcinfo, Family::kIqr);
}
DPQ_FUNCTION(dpq_user_mean_transition_numeric) {
  return add_typed_user_row(fcinfo, Family::kUserMean);
}
DPQ_FUNCTION(dpq_user_variance_transition_numeric) {
  return add_typed_user_row(fcinfo, Family::kUserVariance);
}
DPQ_FUNCTION(dpq_user_grids_transition_numeric) {
  return add_typed_user_row(fcinfo, Family::kUserGrids);
}
