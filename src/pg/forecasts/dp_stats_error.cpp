// dp_stats_expected_error: the errors to expect of dp_stats.
#include "core/moments/moments_error.hpp"

#include "pg/parameters/read_parameters.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
}

namespace dpquantile {

namespace {

int64 rows_argument(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("n must not be NULL"),
                    errhint("Give a public guess of the number of rows.")));
  }
  const int64 rows = PG_GETARG_INT64(0);
  if (rows >= 1) return rows;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("n must be at least 1, got %lld", static_cast<long long>(rows)),
                  errhint("Give a public guess of the number of rows.")));
}

// The arguments after the first as the parameters of a dp_stats call.
const AggregateParameters* parameters_argument(FunctionCallInfo fcinfo) {
  const Oid types[] = {FLOAT8OID, FLOAT8OID, FLOAT8OID, JSONBOID};
  CallArguments arguments{};
  for (const Oid type : types) {
    arguments.types[arguments.count] = type;
    arguments.values[arguments.count] = fcinfo->args[1 + arguments.count];
    ++arguments.count;
  }
  return read_parameters(Family::kMoments, ValueType::kFloat8, arguments, 0);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (n, epsilon, lower, upper, options) returns (count, sum, avg, variance, stddev float8)
DPQ_FUNCTION(dpq_stats_expected_error) {
  const auto rows = static_cast<double>(rows_argument(fcinfo));
  const AggregateParameters* parameters = parameters_argument(fcinfo);
  double fields[5] = {};
  report(guarded([&] {
    const MomentsError error =
        moments_expected_error(rows, MomentsDegree::kVariance, privacy_of(parameters),
                               parameters->lower, parameters->upper);
    fields[0] = error.count;
    fields[1] = error.sum;
    fields[2] = error.mean;
    fields[3] = *error.sample_variance;
    fields[4] = *error.sample_stddev;
  }));
  TupleDesc row_type;
  if (get_call_result_type(fcinfo, nullptr, &row_type) != TYPEFUNC_COMPOSITE) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the function must return a row")));
  }
  Datum values[lengthof(fields)];
  bool nulls[lengthof(fields)] = {};
  for (std::size_t i = 0; i < lengthof(fields); ++i) values[i] = Float8GetDatum(fields[i]);
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row_type), values, nulls)));
}
