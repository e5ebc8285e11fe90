// Functions of a released CDF. They cost no budget.
#include <optional>

#include "pg/functions/cdf_type.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

using namespace dpquantile;

// (cdf) returns bigint
DPQ_FUNCTION(dpq_cdf_rows) {
  int64 rows = 0;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { rows = curve.rows(); });
  PG_RETURN_INT64(rows);
}

// (cdf, from_value, to_value) returns float8
DPQ_FUNCTION(dpq_cdf_count) {
  const float8 from = PG_GETARG_FLOAT8(1);
  const float8 to = PG_GETARG_FLOAT8(2);
  float8 count = 0;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { count = curve.count(from, to); });
  PG_RETURN_FLOAT8(count);
}

// (cdf, x) returns float8
DPQ_FUNCTION(dpq_cdf_probability) {
  const float8 x = PG_GETARG_FLOAT8(1);
  std::optional<double> answer;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { answer = curve.probability(x); });
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

// (cdf, quantile float8) returns float8
DPQ_FUNCTION(dpq_cdf_quantile) {
  const float8 quantile = PG_GETARG_FLOAT8(1);
  std::optional<double> answer;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { answer = curve.quantile(quantile); });
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

// (cdf, quantiles float8[]) returns float8[] of the same shape; NULL for a NULL element
DPQ_FUNCTION(dpq_cdf_quantiles) {
  ArrayType* quantiles = PG_GETARG_ARRAYTYPE_P(1);
  Datum* values;
  bool* nulls;
  int count;
  deconstruct_array(quantiles, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values,
                    &nulls, &count);
  auto* answers = static_cast<double*>(palloc((count + 1) * sizeof(double)));
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) {
    CancelPoll cancel(cancel_requested);
    for (int i = 0; i < count; ++i) {
      cancel.tick();
      if (nulls[i]) continue;
      const std::optional<double> answer = curve.quantile(DatumGetFloat8(values[i]));
      nulls[i] = !answer;
      answers[i] = answer.value_or(0);
    }
  });
  for (int i = 0; i < count; ++i) values[i] = Float8GetDatum(answers[i]);
  PG_RETURN_ARRAYTYPE_P(construct_md_array(values, nulls, ARR_NDIM(quantiles), ARR_DIMS(quantiles),
                                           ARR_LBOUND(quantiles), FLOAT8OID, sizeof(float8),
                                           FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
