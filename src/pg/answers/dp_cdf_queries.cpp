// Functions of a released CDF. They cost no budget.
#include <optional>

#include "pg/answers/cdf_questions.hpp"
#include "pg/answers/cdf_type.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

namespace dpquantile {

namespace {

// The answers to an array of quantiles; an element is NULL if its quantile is, or without rows.
struct QuantileAnswers {
  ArrayType* quantiles;
  int count;
  double* answers;
  bool* nulls;
};

QuantileAnswers answer_quantiles(FunctionCallInfo fcinfo) {
  QuantileAnswers all{PG_GETARG_ARRAYTYPE_P(1), 0, nullptr, nullptr};
  Datum* values;
  deconstruct_array(all.quantiles, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
                    &values, &all.nulls, &all.count);
  all.answers = static_cast<double*>(palloc((all.count + 1) * sizeof(double)));
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) {
    CancelPoll cancel(cancel_requested);
    for (int i = 0; i < all.count; ++i) {
      cancel.tick();
      if (all.nulls[i]) continue;
      const std::optional<double> answer = curve.quantile(DatumGetFloat8(values[i]));
      all.nulls[i] = !answer;
      all.answers[i] = answer.value_or(0);
    }
  });
  return all;
}

// An array of the shape of the quantiles.
ArrayType* array_of(const QuantileAnswers& all, Datum* values, Oid type, int16 length,
                    bool by_value, char alignment) {
  return construct_md_array(values, all.nulls, ARR_NDIM(all.quantiles), ARR_DIMS(all.quantiles),
                            ARR_LBOUND(all.quantiles), type, length, by_value, alignment);
}

std::optional<double> answer_quantile(FunctionCallInfo fcinfo) {
  const float8 quantile = PG_GETARG_FLOAT8(1);
  std::optional<double> answer;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { answer = curve.quantile(quantile); });
  return answer;
}

Datum answer_count(FunctionCallInfo fcinfo, double from, double to) {
  float8 count = 0;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { count = curve.count(from, to); });
  PG_RETURN_FLOAT8(count);
}

Datum answer_probability(FunctionCallInfo fcinfo, double x) {
  std::optional<double> answer;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { answer = curve.probability(x); });
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

void require_order(ValueType type, double from, double to) {
  if (!(from > to)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("from_value must not be later than to_value, got %s and %s",
                         text_of_number(type, from), text_of_number(type, to)),
                  errhint("The arguments come in the order from_value, to_value.")));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (cdf) returns bigint
DPQ_FUNCTION(dpq_cdf_rows) {
  int64 rows = 0;
  with_cdf(fcinfo, 0, [&](const CdfCurve& curve, auto*) { rows = curve.rows(); });
  PG_RETURN_INT64(rows);
}

// (cdf, from_value, to_value) returns float8
DPQ_FUNCTION(dpq_cdf_count) {
  require_numbers(fcinfo);
  return answer_count(fcinfo, PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2));
}

// (cdf, from_value, to_value) of text or of the type of the curve, returns float8
DPQ_FUNCTION(dpq_cdf_time_count) {
  const ValueType type = require_times(fcinfo);
  const double from = time_argument(fcinfo, 1, type);
  const double to = time_argument(fcinfo, 2, type);
  require_order(type, from, to);
  return answer_count(fcinfo, from, to);
}

// (cdf, x) returns float8
DPQ_FUNCTION(dpq_cdf_probability) {
  require_numbers(fcinfo);
  return answer_probability(fcinfo, PG_GETARG_FLOAT8(1));
}

// (cdf, x) of text or of the type of the curve, returns float8
DPQ_FUNCTION(dpq_cdf_time_probability) {
  const ValueType type = require_times(fcinfo);
  return answer_probability(fcinfo, time_argument(fcinfo, 1, type));
}

// (cdf, quantile float8) returns float8
DPQ_FUNCTION(dpq_cdf_quantile) {
  require_numbers(fcinfo);
  const std::optional<double> answer = answer_quantile(fcinfo);
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

// (cdf, quantile float8) returns text
DPQ_FUNCTION(dpq_cdf_time_quantile) {
  const ValueType type = require_times(fcinfo);
  const std::optional<double> answer = answer_quantile(fcinfo);
  if (!answer) PG_RETURN_NULL();
  return time_answer(type, *answer);
}

// (cdf, quantiles float8[]) returns float8[] of the same shape; NULL for a NULL element
DPQ_FUNCTION(dpq_cdf_quantiles) {
  require_numbers(fcinfo);
  const QuantileAnswers all = answer_quantiles(fcinfo);
  auto* values = static_cast<Datum*>(palloc((all.count + 1) * sizeof(Datum)));
  for (int i = 0; i < all.count; ++i) values[i] = Float8GetDatum(all.answers[i]);
  PG_RETURN_ARRAYTYPE_P(
      array_of(all, values, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// (cdf, quantiles float8[]) returns text[] of the same shape; NULL for a NULL element
DPQ_FUNCTION(dpq_cdf_time_quantiles) {
  const ValueType type = require_times(fcinfo);
  const QuantileAnswers all = answer_quantiles(fcinfo);
  auto* values = static_cast<Datum*>(palloc0((all.count + 1) * sizeof(Datum)));
  for (int i = 0; i < all.count; ++i) {
    if (!all.nulls[i]) values[i] = time_answer(type, all.answers[i]);
  }
  PG_RETURN_ARRAYTYPE_P(array_of(all, values, TEXTOID, -1, false, TYPALIGN_INT));
}
