// dp_iqr: the interquartile range.
#include "core/iqr.hpp"

#include <optional>

#include "core/histogram.hpp"
#include "core/quantiles.hpp"
#include "pg/boundary.hpp"
#include "pg/records_aggregate.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(dpq_iqr_transition);
PG_FUNCTION_INFO_V1(dpq_iqr_transition_numeric);
PG_FUNCTION_INFO_V1(dpq_iqr_final);
PG_FUNCTION_INFO_V1(dpq_iqr_min_rows);
PG_FUNCTION_INFO_V1(dpq_iqr_expected_error);
DPQ_EXPORT Datum dpq_iqr_transition(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_iqr_transition_numeric(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_iqr_final(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_iqr_min_rows(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_iqr_expected_error(PG_FUNCTION_ARGS);
}

namespace dpquantile {

namespace {

// The difference of two private quartiles, on a grid of the same granularity.
double range_by_quantiles(const ChargedGroup& group, RandomStream& random, CancelPoll& cancel,
                          std::pmr::memory_resource* memory) {
  const AggregateParameters& parameters = *group.parameters;
  const Histogram data(group.cells(), parameters.grid.cells, cancel, memory);
  const auto quartiles = approximate_quantiles(data, parameters.grid.cells,
                                               {parameters.quantiles, parameters.quantile_count},
                                               parameters.epsilon, random, cancel, memory);
  Grid differences = parameters.grid;
  differences.upper -= differences.lower;
  differences.lower = 0;
  return differences.value_of(quartiles[1] - quartiles[0]);
}

// The answer for a group that has been charged; nothing if the mechanism declines.
std::optional<double> draw_answer(const ChargedGroup& group) {
  const AggregateParameters& parameters = *group.parameters;
  std::optional<double> answer;
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    CsprngSource source;
    RandomStream random(source);
    if (record_kind(&parameters) == RecordKind::kCell) {
      answer = range_by_quantiles(group, random, cancel, &memory);
    } else {
      answer = interquartile_range(group.values(), parameters.epsilon, parameters.delta, random,
                                   cancel, &memory);
    }
  });
  return answer;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value float8, epsilon, delta [, options])
Datum dpq_iqr_transition(PG_FUNCTION_ARGS) {
  return add_row(fcinfo, Family::kIqr);
}

Datum dpq_iqr_transition_numeric(PG_FUNCTION_ARGS) {
  return add_numeric_row(fcinfo, Family::kIqr);
}

// (state) returns float8
Datum dpq_iqr_final(PG_FUNCTION_ARGS) {
  const std::optional<double> answer = draw_answer(charge_group(fcinfo, Family::kIqr));
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

// (epsilon, delta) returns bigint
Datum dpq_iqr_min_rows(PG_FUNCTION_ARGS) {
  const float8 epsilon = PG_GETARG_FLOAT8(0);
  const float8 delta = PG_GETARG_FLOAT8(1);
  uint64 rows = 0;
  report(guarded([&] { rows = iqr_min_records(epsilon, delta); }));
  PG_RETURN_INT64(static_cast<int64>(rows));
}

// (epsilon, delta, rows bigint) returns float8
Datum dpq_iqr_expected_error(PG_FUNCTION_ARGS) {
  const float8 epsilon = PG_GETARG_FLOAT8(0);
  const float8 delta = PG_GETARG_FLOAT8(1);
  const int64 rows = PG_GETARG_INT64(2);
  float8 error = 0;
  report(guarded([&] { error = iqr_expected_error(epsilon, delta, rows); }));
  PG_RETURN_FLOAT8(error);
}
