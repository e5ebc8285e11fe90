// dp_user_expected_error: the error to expect of dp_user_mean and dp_user_variance.
#include "core/user_level/user_error.hpp"

#include "core/user_level/user_variance.hpp"
#include "pg/parameters/read_parameters.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/records_state.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

struct Counts {
  const int64* values;
  uint32 count;
};

Counts counts_argument(FunctionCallInfo fcinfo, int number, const char* name) {
  if (PG_ARGISNULL(number)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name),
                    errhint("Write for example ARRAY[10, 200].")));
  }
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(number);
  if (ARR_NDIM(array) > 1 || array_contains_nulls(array)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be a one-dimensional array without NULL", name),
                    errhint("Write for example ARRAY[10, 200].")));
  }
  const Counts counts{reinterpret_cast<const int64*>(ARR_DATA_PTR(array)),
                      static_cast<uint32>(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)))};
  for (uint32 i = 0; i < counts.count; ++i) {
    if (counts.values[i] >= 0) continue;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must not be negative, got %lld", name,
                           static_cast<long long>(counts.values[i])),
                    errhint("rows_per_user lists numbers of rows, users lists how many users have "
                            "each.")));
  }
  return counts;
}

struct UserCounts {
  UsersWithRows* entries;
  uint32 count;
};

UserCounts user_counts_argument(FunctionCallInfo fcinfo) {
  const Counts rows = counts_argument(fcinfo, 0, "rows_per_user");
  const Counts users = counts_argument(fcinfo, 1, "users");
  if (rows.count != users.count) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("rows_per_user and users must have the same number of elements, got %u and %u",
                    rows.count, users.count),
             errhint("users[i] is the number of users who have rows_per_user[i] rows.")));
  }
  auto* entries = static_cast<UsersWithRows*>(palloc((rows.count + 1) * sizeof(UsersWithRows)));
  for (uint32 i = 0; i < rows.count; ++i) {
    entries[i] = {static_cast<uint64>(rows.values[i]), static_cast<uint64>(users.values[i])};
  }
  return {entries, rows.count};
}

// The arguments after the counts as the parameters of a dp_user_mean call.
const AggregateParameters* parameters_argument(FunctionCallInfo fcinfo) {
  constexpr int kFirst = 2;
  const Oid types[] = {FLOAT8OID, FLOAT8OID, FLOAT8OID, JSONBOID};
  CallArguments arguments{};
  for (const Oid type : types) {
    arguments.types[arguments.count] = type;
    arguments.values[arguments.count] = fcinfo->args[kFirst + arguments.count];
    ++arguments.count;
  }
  return read_parameters(Family::kUserMean, ValueType::kFloat8, arguments, 0);
}

// What dp_user_variance does with the same parameters: its default in place of that of
// dp_user_mean.
UserQuery variance_query_of(const AggregateParameters* parameters) {
  UserQuery query = user_query_of(parameters);
  if (query.method == UserMethod::kAuto) query.method = UserMethod::kArray;
  return query;
}

// Whether dp_user_variance accepts the same parameters.
bool has_variance(const AggregateParameters* parameters) {
  const Failure failure = guarded([&] {
    check_user_variance_query(variance_query_of(parameters));
    fixed_point_of(parameters).check_variance_representable();
  });
  if (failure.sqlstate != ERRCODE_INVALID_PARAMETER_VALUE) report(failure);
  return failure.sqlstate == 0;
}

struct Forecasts {
  UserErrorForecast mean;
  UserErrorForecast variance;
};

void put_forecast(ReturnSetInfo* result, const char* statistic, const UserErrorForecast& forecast,
                  double unit) {
  const bool has_left_out = forecast.left_out.has_value();
  const double left_out = has_left_out ? *forecast.left_out * unit : 0;
  const double noise = forecast.noise * unit;
  Datum values[] = {CStringGetTextDatum(statistic),
                    Int64GetDatum(static_cast<int64>(forecast.max_contributions)),
                    Int64GetDatum(static_cast<int64>(forecast.kept_rows)),
                    Float8GetDatum(left_out),
                    Float8GetDatum(noise),
                    Float8GetDatum(left_out + noise)};
  bool nulls[] = {false, false, false, !has_left_out, false, !has_left_out};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (rows_per_user bigint[], users bigint[], epsilon, lower, upper, options) returns table
// (statistic, max_contributions, rows_kept, left_out_error, noise_error, total_error)
DPQ_FUNCTION(dpq_user_expected_error) {
  const UserCounts users = user_counts_argument(fcinfo);
  const AggregateParameters* parameters = parameters_argument(fcinfo);
  const bool with_variance = has_variance(parameters);
  const uint32 most_rows = largest_group(parameters);
  Forecasts forecasts{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    const RowsPerUser counts({users.entries, users.count}, &memory);
    if (counts.rows() > most_rows) {
      throw std::length_error("a private aggregate takes at most " + std::to_string(most_rows) +
                              " rows in one group, got " + std::to_string(counts.rows()));
    }
    forecasts.mean = forecast_mean_error(counts, user_query_of(parameters), {cancel, &memory});
    if (with_variance) {
      forecasts.variance = forecast_variance_error(counts, variance_query_of(parameters));
    }
  });
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const double width = parameters->upper - parameters->lower;
  put_forecast(result, "mean", forecasts.mean, width);
  if (with_variance) put_forecast(result, "variance", forecasts.variance, width * width);
  return Datum{0};
}
