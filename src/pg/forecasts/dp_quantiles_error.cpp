// dp_quantiles_expected_error: the error to expect of dp_quantiles.
#include "core/quantiles/quantiles_error.hpp"

#include <algorithm>

#include "pg/parameters/read_parameters.hpp"
#include "pg/parameters/whole_number.hpp"
#include "pg/release/answering_method.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

uint64 rows_argument(FunctionCallInfo fcinfo, int number) {
  if (PG_ARGISNULL(number)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("n must not be NULL"),
                    errhint("Give a public guess of the number of rows.")));
  }
  const int64 rows = whole_argument(fcinfo, number, "n");
  if (rows < 1 || static_cast<uint64>(rows) > kMaxForecastRecords) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("n must be between 1 and %llu, got %lld",
                           static_cast<unsigned long long>(kMaxForecastRecords),
                           static_cast<long long>(rows)),
                    errhint("Give a public guess of the number of rows.")));
  }
  return static_cast<uint64>(rows);
}

// The arguments from `first` on as the parameters of a dp_quantiles call.
const AggregateParameters* parameters_argument(FunctionCallInfo fcinfo, int first) {
  const Oid types[] = {FLOAT8ARRAYOID, FLOAT8OID, FLOAT8OID, FLOAT8OID, JSONBOID};
  CallArguments arguments{};
  for (const Oid type : types) {
    arguments.types[arguments.count] = type;
    arguments.values[arguments.count] = fcinfo->args[first + arguments.count];
    ++arguments.count;
  }
  const AggregateParameters* parameters =
      read_parameters(Family::kQuantiles, ValueType::kFloat8, arguments, 0);
  return with_method(parameters, answering_method(parameters));
}

void put_error(ReturnSetInfo* result, double quantile, const QuantileError& error) {
  Datum values[] = {Float8GetDatum(quantile), Float8GetDatum(error.mean),
                    Float8GetDatum(error.at_95), Float8GetDatum(error.bound.value_or(0))};
  bool nulls[] = {false, false, false, !error.bound.has_value()};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (n, quantiles float8[], epsilon, lower, upper, options) returns table
// (quantile, rank_error_typical, rank_error_95, rank_error_bound)
DPQ_FUNCTION(dpq_quantiles_expected_error) {
  const uint64 rows = rows_argument(fcinfo, 0);
  const AggregateParameters* parameters = parameters_argument(fcinfo, 1);
  const QuantilesQuery query = quantiles_query_of(parameters);
  const std::span<const double> quantiles = quantiles_of(parameters);
  auto* errors = static_cast<QuantileError*>(palloc(quantiles.size() * sizeof(QuantileError)));
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    std::ranges::copy(forecast_quantiles_error(query, rows, {cancel, &memory}), errors);
  });
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  for (std::size_t i = 0; i < quantiles.size(); ++i) put_error(result, quantiles[i], errors[i]);
  return Datum{0};
}
