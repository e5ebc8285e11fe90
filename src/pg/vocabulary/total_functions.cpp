#include "pg/vocabulary/total_functions.hpp"

#include <algorithm>
#include <array>

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/total_dates.hpp"
#include "pg/vocabulary/total_floats.hpp"
#include "pg/vocabulary/total_integers.hpp"
#include "pg/vocabulary/total_numerics.hpp"
#include "pg/vocabulary/total_text_casts.hpp"
#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

using enum CallTime;
using enum AnswerSize;

constexpr unsigned kArgument0 = 1U << 0;
constexpr unsigned kArgument1 = 1U << 1;
constexpr unsigned kArgument2 = 1U << 2;
constexpr unsigned kArgument6 = 1U << 6;

// The list of functions that rows may call and that may fail, after a review of PostgreSQL's source
// for every error. One more is one more line: PostgreSQL's function, the variant, the types of the
// result and of the arguments; the time and the size of the answer where they are not the ordinary
// ones; .with_public() and .stable() where they apply. null_on_error is the
// variant of a function that takes a short time and little memory for all values. Each of these
// functions exists in PostgreSQL 15 to 18.
//
// Not here, because they fail for many values or read data: regular expressions, to_date,
// to_number, to_timestamp(text), functions with arguments of any type (concat, format), arrays,
// JSON, ranges, geometry, networks, privileges and catalogs.
// clang-format off
constexpr TotalVariant kVariants[] = {
    // Integers
    // NULL: an overflow
    {F_INT2PL, integers::sum<int16, int16, int16>, INT2OID, {INT2OID, INT2OID}, kArithmetic},
    {F_INT2MI, integers::difference<int16, int16, int16>, INT2OID, {INT2OID, INT2OID}, kArithmetic},
    {F_INT2MUL, integers::product<int16, int16, int16>, INT2OID, {INT2OID, INT2OID}, kArithmetic},
    {F_INT24PL, integers::sum<int16, int32, int32>, INT4OID, {INT2OID, INT4OID}, kArithmetic},
    {F_INT24MI, integers::difference<int16, int32, int32>, INT4OID, {INT2OID, INT4OID}, kArithmetic},
    {F_INT24MUL, integers::product<int16, int32, int32>, INT4OID, {INT2OID, INT4OID}, kArithmetic},
    {F_INT28PL, integers::sum<int16, int64, int64>, INT8OID, {INT2OID, INT8OID}, kArithmetic},
    {F_INT28MI, integers::difference<int16, int64, int64>, INT8OID, {INT2OID, INT8OID}, kArithmetic},
    {F_INT28MUL, integers::product<int16, int64, int64>, INT8OID, {INT2OID, INT8OID}, kArithmetic},
    {F_INT42PL, integers::sum<int32, int16, int32>, INT4OID, {INT4OID, INT2OID}, kArithmetic},
    {F_INT42MI, integers::difference<int32, int16, int32>, INT4OID, {INT4OID, INT2OID}, kArithmetic},
    {F_INT42MUL, integers::product<int32, int16, int32>, INT4OID, {INT4OID, INT2OID}, kArithmetic},
    {F_INT4PL, integers::sum<int32, int32, int32>, INT4OID, {INT4OID, INT4OID}, kArithmetic},
    {F_INT4MI, integers::difference<int32, int32, int32>, INT4OID, {INT4OID, INT4OID}, kArithmetic},
    {F_INT4MUL, integers::product<int32, int32, int32>, INT4OID, {INT4OID, INT4OID}, kArithmetic},
    {F_INT48PL, integers::sum<int32, int64, int64>, INT8OID, {INT4OID, INT8OID}, kArithmetic},
    {F_INT48MI, integers::difference<int32, int64, int64>, INT8OID, {INT4OID, INT8OID}, kArithmetic},
    {F_INT48MUL, integers::product<int32, int64, int64>, INT8OID, {INT4OID, INT8OID}, kArithmetic},
    {F_INT82PL, integers::sum<int64, int16, int64>, INT8OID, {INT8OID, INT2OID}, kArithmetic},
    {F_INT82MI, integers::difference<int64, int16, int64>, INT8OID, {INT8OID, INT2OID}, kArithmetic},
    {F_INT82MUL, integers::product<int64, int16, int64>, INT8OID, {INT8OID, INT2OID}, kArithmetic},
    {F_INT84PL, integers::sum<int64, int32, int64>, INT8OID, {INT8OID, INT4OID}, kArithmetic},
    {F_INT84MI, integers::difference<int64, int32, int64>, INT8OID, {INT8OID, INT4OID}, kArithmetic},
    {F_INT84MUL, integers::product<int64, int32, int64>, INT8OID, {INT8OID, INT4OID}, kArithmetic},
    {F_INT8PL, integers::sum<int64, int64, int64>, INT8OID, {INT8OID, INT8OID}, kArithmetic},
    {F_INT8MI, integers::difference<int64, int64, int64>, INT8OID, {INT8OID, INT8OID}, kArithmetic},
    {F_INT8MUL, integers::product<int64, int64, int64>, INT8OID, {INT8OID, INT8OID}, kArithmetic},
    {F_INT2UM, integers::negative<int16>, INT2OID, {INT2OID}},
    {F_INT4UM, integers::negative<int32>, INT4OID, {INT4OID}},
    {F_INT8UM, integers::negative<int64>, INT8OID, {INT8OID}},
    {F_INT2ABS, integers::magnitude<int16>, INT2OID, {INT2OID}},
    {F_INT4ABS, integers::magnitude<int32>, INT4OID, {INT4OID}},
    {F_INT8ABS, integers::magnitude<int64>, INT8OID, {INT8OID}},
    {F_ABS_INT2, integers::magnitude<int16>, INT2OID, {INT2OID}},
    {F_ABS_INT4, integers::magnitude<int32>, INT4OID, {INT4OID}},
    {F_ABS_INT8, integers::magnitude<int64>, INT8OID, {INT8OID}},
    // NULL: division by zero, or an overflow
    {F_INT2DIV, integers::quotient<int16, int16, int16>, INT2OID, {INT2OID, INT2OID}, kArithmetic},
    {F_INT24DIV, integers::quotient<int16, int32, int32>, INT4OID, {INT2OID, INT4OID}, kArithmetic},
    {F_INT28DIV, integers::quotient<int16, int64, int64>, INT8OID, {INT2OID, INT8OID}, kArithmetic},
    {F_INT42DIV, integers::quotient<int32, int16, int32>, INT4OID, {INT4OID, INT2OID}, kArithmetic},
    {F_INT4DIV, integers::quotient<int32, int32, int32>, INT4OID, {INT4OID, INT4OID}, kArithmetic},
    {F_INT48DIV, integers::quotient<int32, int64, int64>, INT8OID, {INT4OID, INT8OID}, kArithmetic},
    {F_INT82DIV, integers::quotient<int64, int16, int64>, INT8OID, {INT8OID, INT2OID}, kArithmetic},
    {F_INT84DIV, integers::quotient<int64, int32, int64>, INT8OID, {INT8OID, INT4OID}, kArithmetic},
    {F_INT8DIV, integers::quotient<int64, int64, int64>, INT8OID, {INT8OID, INT8OID}, kArithmetic},
    {F_INT2MOD, integers::remainder<int16>, INT2OID, {INT2OID, INT2OID}, kArithmetic},
    {F_INT4MOD, integers::remainder<int32>, INT4OID, {INT4OID, INT4OID}, kArithmetic},
    {F_INT8MOD, integers::remainder<int64>, INT8OID, {INT8OID, INT8OID}, kArithmetic},
    {F_MOD_INT2_INT2, integers::remainder<int16>, INT2OID, {INT2OID, INT2OID}},
    {F_MOD_INT4_INT4, integers::remainder<int32>, INT4OID, {INT4OID, INT4OID}},
    {F_MOD_INT8_INT8, integers::remainder<int64>, INT8OID, {INT8OID, INT8OID}},
    {F_GCD_INT4_INT4, null_on_error<int4gcd>, INT4OID, {INT4OID, INT4OID}},
    {F_GCD_INT8_INT8, null_on_error<int8gcd>, INT8OID, {INT8OID, INT8OID}},
    {F_LCM_INT4_INT4, null_on_error<int4lcm>, INT4OID, {INT4OID, INT4OID}},
    {F_LCM_INT8_INT8, null_on_error<int8lcm>, INT8OID, {INT8OID, INT8OID}},
    // NULL: a value that the other type does not have
    {F_INT2_INT4, integers::cast<int32, int16>, INT2OID, {INT4OID}},
    {F_INT2_INT8, integers::cast<int64, int16>, INT2OID, {INT8OID}},
    {F_INT4_INT8, integers::cast<int64, int32>, INT4OID, {INT8OID}},
    {F_OID, integers::oid_of, OIDOID, {INT8OID}},

    // Real and double precision
    // NULL: a result that is infinite, or too small for a float
    {F_FLOAT4PL, floats::sum<float4, float4>, FLOAT4OID, {FLOAT4OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT4MI, floats::difference<float4, float4>, FLOAT4OID, {FLOAT4OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT4MUL, floats::product<float4, float4>, FLOAT4OID, {FLOAT4OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT48PL, floats::sum<float4, float8>, FLOAT8OID, {FLOAT4OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT48MI, floats::difference<float4, float8>, FLOAT8OID, {FLOAT4OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT48MUL, floats::product<float4, float8>, FLOAT8OID, {FLOAT4OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT84PL, floats::sum<float8, float4>, FLOAT8OID, {FLOAT8OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT84MI, floats::difference<float8, float4>, FLOAT8OID, {FLOAT8OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT84MUL, floats::product<float8, float4>, FLOAT8OID, {FLOAT8OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT8PL, floats::sum<float8, float8>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT8MI, floats::difference<float8, float8>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT8MUL, floats::product<float8, float8>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}, kArithmetic},
    // NULL: division by zero, or a result out of the range of floats
    {F_FLOAT4DIV, floats::quotient<float4, float4>, FLOAT4OID, {FLOAT4OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT48DIV, floats::quotient<float4, float8>, FLOAT8OID, {FLOAT4OID, FLOAT8OID}, kArithmetic},
    {F_FLOAT84DIV, floats::quotient<float8, float4>, FLOAT8OID, {FLOAT8OID, FLOAT4OID}, kArithmetic},
    {F_FLOAT8DIV, floats::quotient<float8, float8>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}, kArithmetic},
    // NULL: a value that the other type does not have
    {F_FLOAT4_FLOAT8, floats::narrow, FLOAT4OID, {FLOAT8OID}},
    {F_INT2_FLOAT4, floats::int2_of<float4>, INT2OID, {FLOAT4OID}},
    {F_INT4_FLOAT4, floats::int4_of<float4>, INT4OID, {FLOAT4OID}},
    {F_INT8_FLOAT4, floats::int8_of<float4>, INT8OID, {FLOAT4OID}},
    {F_INT2_FLOAT8, floats::int2_of<float8>, INT2OID, {FLOAT8OID}},
    {F_INT4_FLOAT8, floats::int4_of<float8>, INT4OID, {FLOAT8OID}},
    {F_INT8_FLOAT8, floats::int8_of<float8>, INT8OID, {FLOAT8OID}},
    // NULL: an argument outside of the domain, or a result out of range
    {F_DSQRT, floats::square_root, FLOAT8OID, {FLOAT8OID}},
    {F_SQRT_FLOAT8, floats::square_root, FLOAT8OID, {FLOAT8OID}},
    {F_DCBRT, null_on_error<dcbrt>, FLOAT8OID, {FLOAT8OID}},
    {F_CBRT, null_on_error<dcbrt>, FLOAT8OID, {FLOAT8OID}},
    {F_DEXP, floats::exponential, FLOAT8OID, {FLOAT8OID}},
    {F_EXP_FLOAT8, floats::exponential, FLOAT8OID, {FLOAT8OID}},
    {F_DLOG1, floats::logarithm<dlog1>, FLOAT8OID, {FLOAT8OID}},
    {F_LN_FLOAT8, floats::logarithm<dlog1>, FLOAT8OID, {FLOAT8OID}},
    {F_DLOG10, floats::logarithm<dlog10>, FLOAT8OID, {FLOAT8OID}},
    {F_LOG_FLOAT8, floats::logarithm<dlog10>, FLOAT8OID, {FLOAT8OID}},
    {F_LOG10_FLOAT8, floats::logarithm<dlog10>, FLOAT8OID, {FLOAT8OID}},
    {F_DPOW, floats::power_of, FLOAT8OID, {FLOAT8OID, FLOAT8OID}},
    {F_POW_FLOAT8_FLOAT8, floats::power_of, FLOAT8OID, {FLOAT8OID, FLOAT8OID}},
    {F_POWER_FLOAT8_FLOAT8, floats::power_of, FLOAT8OID, {FLOAT8OID, FLOAT8OID}},
    {F_DEGREES, null_on_error<degrees>, FLOAT8OID, {FLOAT8OID}},
    {F_RADIANS, null_on_error<radians>, FLOAT8OID, {FLOAT8OID}},
    {F_SIN, null_on_error<dsin>, FLOAT8OID, {FLOAT8OID}},
    {F_COS, null_on_error<dcos>, FLOAT8OID, {FLOAT8OID}},
    {F_TAN, null_on_error<dtan>, FLOAT8OID, {FLOAT8OID}},
    {F_COT, null_on_error<dcot>, FLOAT8OID, {FLOAT8OID}},
    {F_ASIN, null_on_error<dasin>, FLOAT8OID, {FLOAT8OID}},
    {F_ACOS, null_on_error<dacos>, FLOAT8OID, {FLOAT8OID}},
    {F_ATAN, null_on_error<datan>, FLOAT8OID, {FLOAT8OID}},
    {F_ATAN2, null_on_error<datan2>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}},
    {F_SIND, null_on_error<dsind>, FLOAT8OID, {FLOAT8OID}},
    {F_COSD, null_on_error<dcosd>, FLOAT8OID, {FLOAT8OID}},
    {F_TAND, null_on_error<dtand>, FLOAT8OID, {FLOAT8OID}},
    {F_COTD, null_on_error<dcotd>, FLOAT8OID, {FLOAT8OID}},
    {F_ASIND, null_on_error<dasind>, FLOAT8OID, {FLOAT8OID}},
    {F_ACOSD, null_on_error<dacosd>, FLOAT8OID, {FLOAT8OID}},
    {F_ATAND, null_on_error<datand>, FLOAT8OID, {FLOAT8OID}},
    {F_ATAN2D, null_on_error<datan2d>, FLOAT8OID, {FLOAT8OID, FLOAT8OID}},
    {F_SINH, null_on_error<dsinh>, FLOAT8OID, {FLOAT8OID}},
    {F_COSH, null_on_error<dcosh>, FLOAT8OID, {FLOAT8OID}},
    {F_TANH, null_on_error<dtanh>, FLOAT8OID, {FLOAT8OID}},
    {F_ASINH, null_on_error<dasinh>, FLOAT8OID, {FLOAT8OID}},
    {F_ACOSH, null_on_error<dacosh>, FLOAT8OID, {FLOAT8OID}},
    {F_ATANH, null_on_error<datanh>, FLOAT8OID, {FLOAT8OID}},
    {F_WIDTH_BUCKET_FLOAT8_FLOAT8_FLOAT8_INT4, null_on_error<width_bucket_float8>, INT4OID, {FLOAT8OID, FLOAT8OID, FLOAT8OID, INT4OID}},

    // Numeric
    // NULL: division by zero, a result out of range, or many digits
    {F_NUMERIC_ADD, numerics::computed<numeric_add_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}, kNumericSum},
    {F_NUMERIC_SUB, numerics::computed<numeric_sub_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}, kNumericSum},
    {F_NUMERIC_MUL, numerics::computed<numeric_mul_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}},
    {F_NUMERIC_DIV, numerics::computed<numeric_div_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}, kQuotient},
    {F_NUMERIC_MOD, numerics::computed<numeric_mod_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}, kRemainder},
    {F_MOD_NUMERIC_NUMERIC, numerics::computed<numeric_mod_opt_error>, NUMERICOID, {NUMERICOID, NUMERICOID}, kRemainder},
    {F_DIV, numerics::called<numeric_div_trunc, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kRemainder},
    {F_NUMERIC_DIV_TRUNC, numerics::called<numeric_div_trunc, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kRemainder},
    {F_GCD_NUMERIC_NUMERIC, numerics::called_for_series<numeric_gcd, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_LCM_NUMERIC_NUMERIC, numerics::called_for_series<numeric_lcm, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_ROUND_NUMERIC, numerics::without_decimals<numeric_round>, NUMERICOID, {NUMERICOID}},
    {F_ROUND_NUMERIC_INT4, numerics::called<numeric_round, 1>, NUMERICOID, {NUMERICOID, INT4OID}},
    {F_TRUNC_NUMERIC, numerics::without_decimals<numeric_trunc>, NUMERICOID, {NUMERICOID}},
    {F_TRUNC_NUMERIC_INT4, numerics::called<numeric_trunc, 1>, NUMERICOID, {NUMERICOID, INT4OID}},
    {F_CEIL_NUMERIC, numerics::called<numeric_ceil, 1>, NUMERICOID, {NUMERICOID}},
    {F_CEILING_NUMERIC, numerics::called<numeric_ceil, 1>, NUMERICOID, {NUMERICOID}},
    {F_FLOOR_NUMERIC, numerics::called<numeric_floor, 1>, NUMERICOID, {NUMERICOID}},
    // NULL: a value that the other type does not have, or many digits
    {F_NUMERIC_NUMERIC_INT4, numerics::with_precision, NUMERICOID, {NUMERICOID, INT4OID}},
    {F_INT2_NUMERIC, numerics::int2_of, INT2OID, {NUMERICOID}},
    {F_INT4_NUMERIC, numerics::int4_of, INT4OID, {NUMERICOID}},
    {F_INT8_NUMERIC, numerics::int8_of, INT8OID, {NUMERICOID}},
    {F_FLOAT4_NUMERIC, numerics::float4_of, FLOAT4OID, {NUMERICOID}},
    {F_FLOAT8_NUMERIC, numerics::float8_of, FLOAT8OID, {NUMERICOID}},
    // NULL: an argument outside of the domain, or many digits
    {F_SQRT_NUMERIC, numerics::square_root, NUMERICOID, {NUMERICOID}},
    {F_NUMERIC_SQRT, numerics::square_root, NUMERICOID, {NUMERICOID}},
    {F_EXP_NUMERIC, numerics::exponential, NUMERICOID, {NUMERICOID}, kSeries},
    {F_NUMERIC_EXP, numerics::exponential, NUMERICOID, {NUMERICOID}, kSeries},
    {F_LN_NUMERIC, numerics::natural_logarithm, NUMERICOID, {NUMERICOID}, kSeries},
    {F_NUMERIC_LN, numerics::natural_logarithm, NUMERICOID, {NUMERICOID}, kSeries},
    {F_LOG_NUMERIC, numerics::log_to_base_10, NUMERICOID, {NUMERICOID}, kSeries},
    {F_LOG10_NUMERIC, numerics::log_to_base_10, NUMERICOID, {NUMERICOID}, kSeries},
    {F_LOG_NUMERIC_NUMERIC, numerics::called_for_series<numeric_log, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_NUMERIC_LOG, numerics::called_for_series<numeric_log, 2>, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_POW_NUMERIC_NUMERIC, numerics::power_of, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_POWER_NUMERIC_NUMERIC, numerics::power_of, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_NUMERIC_POWER, numerics::power_of, NUMERICOID, {NUMERICOID, NUMERICOID}, kSeries},
    {F_WIDTH_BUCKET_NUMERIC_NUMERIC_NUMERIC_INT4, numerics::called<width_bucket_numeric, 3>, INT4OID, {NUMERICOID, NUMERICOID, NUMERICOID, INT4OID}},

    // Dates and times
    // NULL: a date, time or interval out of range, or infinite
    {F_DATE_MI, dates::days_between, INT4OID, {DATEOID, DATEOID}},
    {F_DATE_PLI, dates::date_plus_days, DATEOID, {DATEOID, INT4OID}},
    {F_DATE_MII, dates::date_minus_days, DATEOID, {DATEOID, INT4OID}},
    {F_INTEGER_PL_DATE, dates::days_plus_date, DATEOID, {INT4OID, DATEOID}},
    {F_DATE_PL_INTERVAL, dates::date_plus_interval, TIMESTAMPOID, {DATEOID, INTERVALOID}},
    {F_DATE_MI_INTERVAL, dates::date_minus_interval, TIMESTAMPOID, {DATEOID, INTERVALOID}},
    {F_INTERVAL_PL_DATE, dates::interval_plus_date, TIMESTAMPOID, {INTERVALOID, DATEOID}},
    {F_DATETIME_PL, null_on_error<datetime_timestamp>, TIMESTAMPOID, {DATEOID, TIMEOID}},
    {F_TIMEDATE_PL, dates::swapped<datetime_timestamp>, TIMESTAMPOID, {TIMEOID, DATEOID}},
    {F_DATETIMETZ_PL, null_on_error<datetimetz_timestamptz>, TIMESTAMPTZOID, {DATEOID, TIMETZOID}},
    {F_TIMETZDATE_PL, dates::swapped<datetimetz_timestamptz>, TIMESTAMPTZOID, {TIMETZOID, DATEOID}},
    {F_TIMESTAMP_MI, null_on_error<timestamp_mi>, INTERVALOID, {TIMESTAMPOID, TIMESTAMPOID}},
    {F_TIMESTAMP_PL_INTERVAL, dates::plus<timestamp_pl_interval>, TIMESTAMPOID, {TIMESTAMPOID, INTERVALOID}},
    {F_TIMESTAMP_MI_INTERVAL, dates::minus<timestamp_mi_interval>, TIMESTAMPOID, {TIMESTAMPOID, INTERVALOID}},
    {F_INTERVAL_PL_TIMESTAMP, dates::swapped_plus<timestamp_pl_interval>, TIMESTAMPOID, {INTERVALOID, TIMESTAMPOID}},
    {F_TIMESTAMPTZ_MI, null_on_error<timestamp_mi>, INTERVALOID, {TIMESTAMPTZOID, TIMESTAMPTZOID}},
    TotalVariant{F_TIMESTAMPTZ_PL_INTERVAL, dates::plus<timestamptz_pl_interval>, TIMESTAMPTZOID, {TIMESTAMPTZOID, INTERVALOID}}.stable(),
    TotalVariant{F_TIMESTAMPTZ_MI_INTERVAL, dates::minus<timestamptz_mi_interval>, TIMESTAMPTZOID, {TIMESTAMPTZOID, INTERVALOID}}.stable(),
    TotalVariant{F_INTERVAL_PL_TIMESTAMPTZ, dates::swapped_plus<timestamptz_pl_interval>, TIMESTAMPTZOID, {INTERVALOID, TIMESTAMPTZOID}}.stable(),
    TotalVariant{F_AGE_TIMESTAMP, dates::age_today, INTERVALOID, {TIMESTAMPOID}}.stable(),
    TotalVariant{F_AGE_TIMESTAMPTZ, dates::age_today_with_zone, INTERVALOID, {TIMESTAMPTZOID}}.stable(),
    {F_AGE_TIMESTAMP_TIMESTAMP, null_on_error<timestamp_age>, INTERVALOID, {TIMESTAMPOID, TIMESTAMPOID}},
    {F_AGE_TIMESTAMPTZ_TIMESTAMPTZ, null_on_error<timestamptz_age>, INTERVALOID, {TIMESTAMPTZOID, TIMESTAMPTZOID}},
    {F_TIME_PL_INTERVAL, null_on_error<time_pl_interval>, TIMEOID, {TIMEOID, INTERVALOID}},
    {F_TIME_MI_INTERVAL, null_on_error<time_mi_interval>, TIMEOID, {TIMEOID, INTERVALOID}},
    {F_INTERVAL_PL_TIME, dates::swapped<time_pl_interval>, TIMEOID, {INTERVALOID, TIMEOID}},
    {F_TIMETZ_PL_INTERVAL, null_on_error<timetz_pl_interval>, TIMETZOID, {TIMETZOID, INTERVALOID}},
    {F_TIMETZ_MI_INTERVAL, null_on_error<timetz_mi_interval>, TIMETZOID, {TIMETZOID, INTERVALOID}},
    {F_INTERVAL_PL_TIMETZ, dates::swapped<timetz_pl_interval>, TIMETZOID, {INTERVALOID, TIMETZOID}},
    {F_INTERVAL_UM, null_on_error<interval_um>, INTERVALOID, {INTERVALOID}},
    {F_INTERVAL_PL, null_on_error<interval_pl>, INTERVALOID, {INTERVALOID, INTERVALOID}},
    {F_INTERVAL_MI, null_on_error<interval_mi>, INTERVALOID, {INTERVALOID, INTERVALOID}},
    {F_INTERVAL_MUL, dates::multiplied, INTERVALOID, {INTERVALOID, FLOAT8OID}},
    {F_MUL_D_INTERVAL, dates::number_times_interval, INTERVALOID, {FLOAT8OID, INTERVALOID}},
    {F_INTERVAL_DIV, dates::divided, INTERVALOID, {INTERVALOID, FLOAT8OID}},
    {F_JUSTIFY_DAYS, null_on_error<interval_justify_days>, INTERVALOID, {INTERVALOID}},
    {F_JUSTIFY_HOURS, null_on_error<interval_justify_hours>, INTERVALOID, {INTERVALOID}},
    {F_JUSTIFY_INTERVAL, null_on_error<interval_justify_interval>, INTERVALOID, {INTERVALOID}},
    {F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, null_on_error<timestamp_bin>, TIMESTAMPOID, {INTERVALOID, TIMESTAMPOID, TIMESTAMPOID}},
    {F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, null_on_error<timestamptz_bin>, TIMESTAMPTZOID, {INTERVALOID, TIMESTAMPTZOID, TIMESTAMPTZOID}},
    {F_TIMEZONE_INTERVAL_TIMESTAMP, null_on_error<timestamp_izone>, TIMESTAMPTZOID, {INTERVALOID, TIMESTAMPOID}},
    {F_TIMEZONE_INTERVAL_TIMESTAMPTZ, null_on_error<timestamptz_izone>, TIMESTAMPOID, {INTERVALOID, TIMESTAMPTZOID}},
    {F_TIMEZONE_INTERVAL_TIMETZ, null_on_error<timetz_izone>, TIMETZOID, {INTERVALOID, TIMETZOID}},
    {F_MAKE_DATE, null_on_error<make_date>, DATEOID, {INT4OID, INT4OID, INT4OID}},
    {F_MAKE_TIME, null_on_error<make_time>, TIMEOID, {INT4OID, INT4OID, FLOAT8OID}},
    {F_MAKE_TIMESTAMP, null_on_error<make_timestamp>, TIMESTAMPOID, {INT4OID, INT4OID, INT4OID, INT4OID, INT4OID, FLOAT8OID}},
    TotalVariant{F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8, null_on_error<make_timestamptz>, TIMESTAMPTZOID, {INT4OID, INT4OID, INT4OID, INT4OID, INT4OID, FLOAT8OID}}.stable(),
    {F_TO_TIMESTAMP_FLOAT8, dates::timestamptz_of_epoch, TIMESTAMPTZOID, {FLOAT8OID}},
    // NULL: a value that the other type does not have
    {F_DATE_TIMESTAMP, null_on_error<timestamp_date>, DATEOID, {TIMESTAMPOID}},
    TotalVariant{F_DATE_TIMESTAMPTZ, null_on_error<timestamptz_date>, DATEOID, {TIMESTAMPTZOID}}.stable(),
    {F_TIMESTAMP_DATE, dates::timestamp_of_date, TIMESTAMPOID, {DATEOID}},
    {F_TIMESTAMP_DATE_TIME, null_on_error<datetime_timestamp>, TIMESTAMPOID, {DATEOID, TIMEOID}},
    TotalVariant{F_TIMESTAMP_TIMESTAMPTZ, null_on_error<timestamptz_timestamp>, TIMESTAMPOID, {TIMESTAMPTZOID}}.stable(),
    TotalVariant{F_TIMESTAMPTZ_DATE, dates::timestamptz_of_date, TIMESTAMPTZOID, {DATEOID}}.stable(),
    TotalVariant{F_TIMESTAMPTZ_DATE_TIME, dates::timestamptz_of_date_and_time, TIMESTAMPTZOID, {DATEOID, TIMEOID}}.stable(),
    {F_TIMESTAMPTZ_DATE_TIMETZ, null_on_error<datetimetz_timestamptz>, TIMESTAMPTZOID, {DATEOID, TIMETZOID}},
    TotalVariant{F_TIMESTAMPTZ_TIMESTAMP, dates::timestamptz_of_timestamp, TIMESTAMPTZOID, {TIMESTAMPOID}}.stable(),
    {F_TIME_TIMESTAMP, null_on_error<timestamp_time>, TIMEOID, {TIMESTAMPOID}},
    TotalVariant{F_TIME_TIMESTAMPTZ, null_on_error<timestamptz_time>, TIMEOID, {TIMESTAMPTZOID}}.stable(),
    {F_TIME_INTERVAL, null_on_error<interval_time>, TIMEOID, {INTERVALOID}},
    TotalVariant{F_TIMETZ_TIME, null_on_error<time_timetz>, TIMETZOID, {TIMEOID}}.stable(),
    TotalVariant{F_TIMETZ_TIMESTAMPTZ, null_on_error<timestamptz_timetz>, TIMETZOID, {TIMESTAMPTZOID}}.stable(),
    {F_TIME_TIME_INT4, null_on_error<time_scale>, TIMEOID, {TIMEOID, INT4OID}},
    {F_TIMETZ_TIMETZ_INT4, null_on_error<timetz_scale>, TIMETZOID, {TIMETZOID, INT4OID}},
    {F_TIMESTAMP_TIMESTAMP_INT4, null_on_error<timestamp_scale>, TIMESTAMPOID, {TIMESTAMPOID, INT4OID}},
    {F_TIMESTAMPTZ_TIMESTAMPTZ_INT4, null_on_error<timestamptz_scale>, TIMESTAMPTZOID, {TIMESTAMPTZOID, INT4OID}},
    {F_INTERVAL_INTERVAL_INT4, dates::with_fields, INTERVALOID, {INTERVALOID, INT4OID}},
    // NULL: a unit or zone that does not exist, or a value out of range
    TotalVariant{F_DATE_TRUNC_TEXT_TIMESTAMP, null_on_error<timestamp_trunc>, TIMESTAMPOID, {TEXTOID, TIMESTAMPOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_TRUNC_TEXT_TIMESTAMPTZ, null_on_error<timestamptz_trunc>, TIMESTAMPTZOID, {TEXTOID, TIMESTAMPTZOID}}.with_public(kArgument0).stable(),
    TotalVariant{F_DATE_TRUNC_TEXT_INTERVAL, null_on_error<interval_trunc>, INTERVALOID, {TEXTOID, INTERVALOID}}.with_public(kArgument0),
    TotalVariant{F_EXTRACT_TEXT_DATE, null_on_error<extract_date>, NUMERICOID, {TEXTOID, DATEOID}}.with_public(kArgument0),
    TotalVariant{F_EXTRACT_TEXT_TIME, null_on_error<extract_time>, NUMERICOID, {TEXTOID, TIMEOID}}.with_public(kArgument0),
    TotalVariant{F_EXTRACT_TEXT_TIMETZ, null_on_error<extract_timetz>, NUMERICOID, {TEXTOID, TIMETZOID}}.with_public(kArgument0),
    TotalVariant{F_EXTRACT_TEXT_TIMESTAMP, null_on_error<extract_timestamp>, NUMERICOID, {TEXTOID, TIMESTAMPOID}}.with_public(kArgument0),
    TotalVariant{F_EXTRACT_TEXT_TIMESTAMPTZ, null_on_error<extract_timestamptz>, NUMERICOID, {TEXTOID, TIMESTAMPTZOID}}.with_public(kArgument0).stable(),
    TotalVariant{F_EXTRACT_TEXT_INTERVAL, null_on_error<extract_interval>, NUMERICOID, {TEXTOID, INTERVALOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_PART_TEXT_DATE, dates::part_of_date, FLOAT8OID, {TEXTOID, DATEOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_PART_TEXT_TIME, null_on_error<time_part>, FLOAT8OID, {TEXTOID, TIMEOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_PART_TEXT_TIMETZ, null_on_error<timetz_part>, FLOAT8OID, {TEXTOID, TIMETZOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_PART_TEXT_TIMESTAMP, null_on_error<timestamp_part>, FLOAT8OID, {TEXTOID, TIMESTAMPOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_PART_TEXT_TIMESTAMPTZ, null_on_error<timestamptz_part>, FLOAT8OID, {TEXTOID, TIMESTAMPTZOID}}.with_public(kArgument0).stable(),
    TotalVariant{F_DATE_PART_TEXT_INTERVAL, null_on_error<interval_part>, FLOAT8OID, {TEXTOID, INTERVALOID}}.with_public(kArgument0),
    TotalVariant{F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, null_on_error<timestamptz_trunc_zone>, TIMESTAMPTZOID, {TEXTOID, TIMESTAMPTZOID, TEXTOID}}.with_public(kArgument0 | kArgument2).stable(),
    // NULL: a zone that does not exist, or a value out of range
    TotalVariant{F_TIMEZONE_TEXT_TIMESTAMP, null_on_error<timestamp_zone>, TIMESTAMPTZOID, {TEXTOID, TIMESTAMPOID}}.with_public(kArgument0),
    TotalVariant{F_TIMEZONE_TEXT_TIMESTAMPTZ, null_on_error<timestamptz_zone>, TIMESTAMPOID, {TEXTOID, TIMESTAMPTZOID}}.with_public(kArgument0),
    TotalVariant{F_TIMEZONE_TEXT_TIMETZ, null_on_error<timetz_zone>, TIMETZOID, {TEXTOID, TIMETZOID}}.with_public(kArgument0).stable(),
    TotalVariant{F_MAKE_TIMESTAMPTZ_INT4_INT4_INT4_INT4_INT4_FLOAT8_TEXT, null_on_error<make_timestamptz_at_timezone>, TIMESTAMPTZOID, {INT4OID, INT4OID, INT4OID, INT4OID, INT4OID, FLOAT8OID, TEXTOID}}.with_public(kArgument6).stable(),

    // Texts
    // NULL: a long text, or an argument out of range
    {F_TEXTCAT, texts::text_of<textcat, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kCopy, kSum},
    {F_BYTEACAT, texts::text_of<byteacat, texts::kFirst | texts::kSecond>, BYTEAOID, {BYTEAOID, BYTEAOID}, kCopy, kSum},
    {F_LOWER_TEXT, texts::text_of<lower, texts::kFirst>, TEXTOID, {TEXTOID}, kCase, kOtherCase},
    {F_UPPER_TEXT, texts::text_of<upper, texts::kFirst>, TEXTOID, {TEXTOID}, kCase, kOtherCase},
    {F_INITCAP, texts::text_of<initcap, texts::kFirst>, TEXTOID, {TEXTOID}, kWords, kOtherCase},
    {F_LEFT, texts::text_of<text_left, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kCharacters},
    {F_RIGHT, texts::text_of<text_right, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kCharacters},
    {F_SUBSTR_TEXT_INT4, texts::text_of<text_substr_no_len, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTR_TEXT_INT4_INT4, texts::text_of<text_substr, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTRING_TEXT_INT4, texts::text_of<text_substr_no_len, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTRING_TEXT_INT4_INT4, texts::text_of<text_substr, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID, INT4OID}, kOrdinary, kSubstring},
    {F_OVERLAY_TEXT_TEXT_INT4, texts::text_of<textoverlay_no_len, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID}, kOrdinary, kSum},
    {F_OVERLAY_TEXT_TEXT_INT4_INT4, texts::text_of<textoverlay, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID, INT4OID}, kOrdinary, kSum},
    {DPQ_F_REVERSE, texts::text_of<text_reverse, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_REPEAT, texts::repeated, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kRepeated},
    {F_LPAD_TEXT_INT4, texts::filled_with_spaces<lpad>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kFilled},
    {F_LPAD_TEXT_INT4_TEXT, texts::filled<lpad>, TEXTOID, {TEXTOID, INT4OID, TEXTOID}, kOrdinary, kFilled},
    {F_RPAD_TEXT_INT4, texts::filled_with_spaces<rpad>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kFilled},
    {F_RPAD_TEXT_INT4_TEXT, texts::filled<rpad>, TEXTOID, {TEXTOID, INT4OID, TEXTOID}, kOrdinary, kFilled},
    {F_TEXT_BPCHAR, texts::text_of<rtrim1, texts::kFirst>, TEXTOID, {BPCHAROID}, kOrdinary, kAsFirst},
    {F_BTRIM_TEXT, texts::text_of<btrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_LTRIM_TEXT, texts::text_of<ltrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_RTRIM_TEXT, texts::text_of<rtrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_TEXTLEN, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHAR_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHARACTER_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_CHAR_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_CHARACTER_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_ASCII, texts::value_of<ascii, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHR, texts::text_of<chr, 0>, TEXTOID, {INT4OID}, kOrdinary, kShort},
    {F_VARCHAR_VARCHAR_INT4_BOOL, texts::text_of<varchar, texts::kFirst>, VARCHAROID, {VARCHAROID, INT4OID, BOOLOID}, kOrdinary, kAsFirst},
    {F_BPCHAR_BPCHAR_INT4_BOOL, texts::padded, BPCHAROID, {BPCHAROID, INT4OID, BOOLOID}, kOrdinary, kFilled},
    // NULL: a long search
    {F_STARTS_WITH, texts::value_of<text_starts_with, texts::kFirst | texts::kSecond>, BOOLOID, {TEXTOID, TEXTOID}},
    {F_STRPOS, texts::found<textpos>, INT4OID, {TEXTOID, TEXTOID}, kSearch},
    {F_POSITION_TEXT_TEXT, texts::found<textpos>, INT4OID, {TEXTOID, TEXTOID}, kSearch},
    {F_REPLACE, texts::replaced, TEXTOID, {TEXTOID, TEXTOID, TEXTOID}, kSearch, kReplaced},
    {F_TRANSLATE, texts::translated, TEXTOID, {TEXTOID, TEXTOID, TEXTOID}, kListSearch, kTranslated},
    {F_SPLIT_PART, texts::found_text<split_part, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID}, kSearch, kAsFirst},
    {F_BTRIM_TEXT_TEXT, texts::found_text<btrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    {F_LTRIM_TEXT_TEXT, texts::found_text<ltrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    {F_RTRIM_TEXT_TEXT, texts::found_text<rtrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    // NULL: a pattern that ends in its escape character, or a long search
    {F_TEXTLIKE, texts::matched<textlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_TEXTNLIKE, texts::matched<textnlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_LIKE_TEXT_TEXT, texts::matched<textlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_NOTLIKE_TEXT_TEXT, texts::matched<textnlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_BPCHARLIKE, texts::matched<textlike>, BOOLOID, {BPCHAROID, TEXTOID}, kSearch},
    {F_BPCHARNLIKE, texts::matched<textnlike>, BOOLOID, {BPCHAROID, TEXTOID}, kSearch},
    {F_NAMELIKE, texts::matched_name<namelike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_NAMENLIKE, texts::matched_name<namenlike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_LIKE_NAME_TEXT, texts::matched_name<namelike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_NOTLIKE_NAME_TEXT, texts::matched_name<namenlike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_BYTEALIKE, texts::matched<bytealike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_BYTEANLIKE, texts::matched<byteanlike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_LIKE_BYTEA_BYTEA, texts::matched<bytealike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_NOTLIKE_BYTEA_BYTEA, texts::matched<byteanlike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_TEXTICLIKE, texts::matched<texticlike>, BOOLOID, {TEXTOID, TEXTOID}, kCaseBlindSearch},
    {F_TEXTICNLIKE, texts::matched<texticnlike>, BOOLOID, {TEXTOID, TEXTOID}, kCaseBlindSearch},
    {F_BPCHARICLIKE, texts::matched<texticlike>, BOOLOID, {BPCHAROID, TEXTOID}, kCaseBlindSearch},
    {F_BPCHARICNLIKE, texts::matched<texticnlike>, BOOLOID, {BPCHAROID, TEXTOID}, kCaseBlindSearch},
    {F_NAMEICLIKE, texts::matched_name<nameiclike>, BOOLOID, {NAMEOID, TEXTOID}, kCaseBlindSearch},
    {F_NAMEICNLIKE, texts::matched_name<nameicnlike>, BOOLOID, {NAMEOID, TEXTOID}, kCaseBlindSearch},
    {F_LIKE_ESCAPE_TEXT_TEXT, texts::text_of<like_escape, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kOrdinary, kEscaped},
    {F_LIKE_ESCAPE_BYTEA_BYTEA, texts::text_of<like_escape_bytea, texts::kFirst | texts::kSecond>, BYTEAOID, {BYTEAOID, BYTEAOID}, kOrdinary, kEscaped},
    // NULL: a server without MD5, or a long text
    {F_MD5_TEXT, texts::md5_of, TEXTOID, {TEXTOID}, kOrdinary, kShort},
    {F_MD5_BYTEA, texts::md5_of, TEXTOID, {BYTEAOID}, kOrdinary, kShort},
    // NULL: a wrong format, or a long text
    TotalVariant{F_TO_CHAR_INT4_TEXT, texts::text_of<int4_to_char, texts::kSecond>, TEXTOID, {INT4OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_INT8_TEXT, texts::text_of<int8_to_char, texts::kSecond>, TEXTOID, {INT8OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_FLOAT4_TEXT, texts::text_of<float4_to_char, texts::kSecond>, TEXTOID, {FLOAT4OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_FLOAT8_TEXT, texts::text_of<float8_to_char, texts::kSecond>, TEXTOID, {FLOAT8OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_NUMERIC_TEXT, numerics::formatted, TEXTOID, {NUMERICOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_TIMESTAMP_TEXT, texts::text_of<timestamp_to_char, texts::kSecond>, TEXTOID, {TIMESTAMPOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_TIMESTAMPTZ_TEXT, texts::text_of<timestamptz_to_char, texts::kSecond>, TEXTOID, {TIMESTAMPTZOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    TotalVariant{F_TO_CHAR_INTERVAL_TEXT, texts::text_of<interval_to_char, texts::kSecond>, TEXTOID, {INTERVALOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),

    // Casts from text
    // NULL: a text that stands for no value
    TotalVariant{F_BOOLIN, text_casts::cast<boolin>, BOOLOID, {TEXTOID}}.text_cast(),
    TotalVariant{F_INT2IN, text_casts::cast_to_number<int2in>, INT2OID, {TEXTOID}}.text_cast(),
    TotalVariant{F_INT4IN, text_casts::cast_to_number<int4in>, INT4OID, {TEXTOID}}.text_cast(),
    TotalVariant{F_INT8IN, text_casts::cast_to_number<int8in>, INT8OID, {TEXTOID}}.text_cast(),
    TotalVariant{F_FLOAT4IN, text_casts::cast_to_number<float4in>, FLOAT4OID, {TEXTOID}}.text_cast(),
    TotalVariant{F_FLOAT8IN, text_casts::cast_to_number<float8in>, FLOAT8OID, {TEXTOID}}.text_cast(),
    TotalVariant{F_NUMERIC_IN, text_casts::cast_to_numeric, NUMERICOID, {TEXTOID}}.text_cast(),
    TotalVariant{F_UUID_IN, text_casts::cast<uuid_in>, UUIDOID, {TEXTOID}}.text_cast(),
    TotalVariant{F_DATE_IN, text_casts::cast_to_date<date_in>, DATEOID, {TEXTOID}}.stable().text_cast(),
    TotalVariant{F_TIMESTAMP_IN, text_casts::cast_to_date<timestamp_in>, TIMESTAMPOID, {TEXTOID}}.stable().text_cast(),
};
// clang-format on

// The functions that are total as they are, without being leakproof. Comparisons of two types take
// a date that is no timestamp for an infinite one. Enums are numbers, and the catalog has the order
// of each value that a table can have.
constexpr Oid kAsItIs[] = {
    // bits, or one of the arguments
    F_INT2AND,
    F_INT2OR,
    F_INT2XOR,
    F_INT2NOT,
    F_INT2SHL,
    F_INT2SHR,
    F_INT2UP,
    F_INT2LARGER,
    F_INT2SMALLER,
    F_INT4AND,
    F_INT4OR,
    F_INT4XOR,
    F_INT4NOT,
    F_INT4SHL,
    F_INT4SHR,
    F_INT4UP,
    F_INT4LARGER,
    F_INT4SMALLER,
    F_INT8AND,
    F_INT8OR,
    F_INT8XOR,
    F_INT8NOT,
    F_INT8SHL,
    F_INT8SHR,
    F_INT8UP,
    F_INT8LARGER,
    F_INT8SMALLER,
    F_OIDLARGER,
    F_OIDSMALLER,
    F_TO_HEX_INT4,
    F_TO_HEX_INT8,
    // each float has a result
    F_FLOAT4UM,
    F_FLOAT8UM,
    F_FLOAT4UP,
    F_FLOAT8UP,
    F_FLOAT4ABS,
    F_FLOAT8ABS,
    F_ABS_FLOAT4,
    F_ABS_FLOAT8,
    F_FLOAT4LARGER,
    F_FLOAT4SMALLER,
    F_FLOAT8LARGER,
    F_FLOAT8SMALLER,
    F_DROUND,
    F_ROUND_FLOAT8,
    F_DTRUNC,
    F_TRUNC_FLOAT8,
    F_CEIL_FLOAT8,
    F_CEILING_FLOAT8,
    F_FLOOR_FLOAT8,
    F_SIGN_FLOAT8,
    // comparison of digits, or a copy
    F_NUMERIC_EQ,
    F_NUMERIC_NE,
    F_NUMERIC_LT,
    F_NUMERIC_LE,
    F_NUMERIC_GT,
    F_NUMERIC_GE,
    F_NUMERIC_CMP,
    F_NUMERIC_LARGER,
    F_NUMERIC_SMALLER,
    F_NUMERIC_ABS,
    F_ABS_NUMERIC,
    F_NUMERIC_UMINUS,
    F_NUMERIC_UPLUS,
    F_SIGN_NUMERIC,
    F_SCALE,
    F_MIN_SCALE,
    F_TRIM_SCALE,
    // comparison, or one of the arguments
    F_DATE_EQ_TIMESTAMP,
    F_DATE_NE_TIMESTAMP,
    F_DATE_LT_TIMESTAMP,
    F_DATE_LE_TIMESTAMP,
    F_DATE_GT_TIMESTAMP,
    F_DATE_GE_TIMESTAMP,
    F_DATE_CMP_TIMESTAMP,
    F_DATE_EQ_TIMESTAMPTZ,
    F_DATE_NE_TIMESTAMPTZ,
    F_DATE_LT_TIMESTAMPTZ,
    F_DATE_LE_TIMESTAMPTZ,
    F_DATE_GT_TIMESTAMPTZ,
    F_DATE_GE_TIMESTAMPTZ,
    F_DATE_CMP_TIMESTAMPTZ,
    F_TIMESTAMP_EQ_DATE,
    F_TIMESTAMP_NE_DATE,
    F_TIMESTAMP_LT_DATE,
    F_TIMESTAMP_LE_DATE,
    F_TIMESTAMP_GT_DATE,
    F_TIMESTAMP_GE_DATE,
    F_TIMESTAMP_CMP_DATE,
    F_TIMESTAMP_EQ_TIMESTAMPTZ,
    F_TIMESTAMP_NE_TIMESTAMPTZ,
    F_TIMESTAMP_LT_TIMESTAMPTZ,
    F_TIMESTAMP_LE_TIMESTAMPTZ,
    F_TIMESTAMP_GT_TIMESTAMPTZ,
    F_TIMESTAMP_GE_TIMESTAMPTZ,
    F_TIMESTAMP_CMP_TIMESTAMPTZ,
    F_TIMESTAMPTZ_EQ_DATE,
    F_TIMESTAMPTZ_NE_DATE,
    F_TIMESTAMPTZ_LT_DATE,
    F_TIMESTAMPTZ_LE_DATE,
    F_TIMESTAMPTZ_GT_DATE,
    F_TIMESTAMPTZ_GE_DATE,
    F_TIMESTAMPTZ_CMP_DATE,
    F_TIMESTAMPTZ_EQ_TIMESTAMP,
    F_TIMESTAMPTZ_NE_TIMESTAMP,
    F_TIMESTAMPTZ_LT_TIMESTAMP,
    F_TIMESTAMPTZ_LE_TIMESTAMP,
    F_TIMESTAMPTZ_GT_TIMESTAMP,
    F_TIMESTAMPTZ_GE_TIMESTAMP,
    F_TIMESTAMPTZ_CMP_TIMESTAMP,
    F_DATE_LARGER,
    F_DATE_SMALLER,
    F_TIME_LARGER,
    F_TIME_SMALLER,
    F_TIMETZ_LARGER,
    F_TIMETZ_SMALLER,
    F_TIMESTAMP_LARGER,
    F_TIMESTAMP_SMALLER,
    F_TIMESTAMPTZ_LARGER,
    F_TIMESTAMPTZ_SMALLER,
    F_INTERVAL_LARGER,
    F_INTERVAL_SMALLER,
    F_OVERLAPS_TIME_TIME_TIME_TIME,
    F_OVERLAPS_TIMETZ_TIMETZ_TIMETZ_TIMETZ,
    F_OVERLAPS_TIMESTAMP_TIMESTAMP_TIMESTAMP_TIMESTAMP,
    F_OVERLAPS_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ_TIMESTAMPTZ,
    F_ISFINITE_DATE,
    F_ISFINITE_TIMESTAMP,
    F_ISFINITE_TIMESTAMPTZ,
    F_ISFINITE_INTERVAL,
    F_TIME_MI_TIME,
    F_TIME_TIMETZ,
    F_ENUM_EQ,
    F_ENUM_NE,
    F_ENUM_LT,
    F_ENUM_LE,
    F_ENUM_GT,
    F_ENUM_GE,
    F_ENUM_CMP,
    F_ENUM_LARGER,
    F_ENUM_SMALLER,
    // a length in bytes, or a copy
    F_OCTET_LENGTH_TEXT,
    F_OCTET_LENGTH_BPCHAR,
    F_OCTET_LENGTH_BYTEA,
    F_LENGTH_BYTEA,
    F_TEXT_BOOL,
    F_BPCHAR_NAME,
    F_NAME_TEXT,
    F_NAME_BPCHAR,
    F_NAME_VARCHAR,
};

// Leakproof functions of PostgreSQL that fail for some values all the same.
constexpr Oid kExceptions[] = {
    // The area of a circle or the length of a segment overflows.
    F_CIRCLE_EQ,
    F_CIRCLE_NE,
    F_CIRCLE_LT,
    F_CIRCLE_LE,
    F_CIRCLE_GT,
    F_CIRCLE_GE,
    F_LSEG_LT,
    F_LSEG_LE,
    F_LSEG_GT,
    F_LSEG_GE,
    // They report an error for an array that is no valid oidvector.
    F_OIDVECTOREQ,
    F_OIDVECTORNE,
    F_OIDVECTORLT,
    F_OIDVECTORLE,
    F_OIDVECTORGT,
    F_OIDVECTORGE,
    F_BTOIDVECTORCMP,
};

constexpr bool is_before(const TotalVariant& left, const TotalVariant& right) {
  return left.original < right.original;
}

constexpr bool is_same(const TotalVariant& left, const TotalVariant& right) {
  return left.original == right.original;
}

constexpr auto sorted_variants() {
  std::array<TotalVariant, std::size(kVariants)> sorted{};
  std::copy(std::begin(kVariants), std::end(kVariants), sorted.begin());
  std::sort(sorted.begin(), sorted.end(), is_before);
  return sorted;
}

constexpr auto sorted_oids() {
  std::array<Oid, std::size(kAsItIs)> sorted{};
  std::copy(std::begin(kAsItIs), std::end(kAsItIs), sorted.begin());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

constexpr auto kSorted = sorted_variants();
constexpr auto kSortedAsItIs = sorted_oids();

constexpr bool is_as_it_is(const TotalVariant& variant) {
  return std::binary_search(kSortedAsItIs.begin(), kSortedAsItIs.end(), variant.original);
}

static_assert(std::adjacent_find(kSorted.begin(), kSorted.end(), is_same) == kSorted.end() &&
                  std::adjacent_find(kSortedAsItIs.begin(), kSortedAsItIs.end()) ==
                      kSortedAsItIs.end() &&
                  std::none_of(kSorted.begin(), kSorted.end(), is_as_it_is),
              "a function is listed twice");

constexpr char kTotal[] = "total";
constexpr char kTotalStable[] = "total_stable";

// The SQL function that calls the variant.
Oid calling_function(const TotalVariant& variant) {
  const Oid types[] = {ANYARRAYOID, OIDOID, ANYOID};
  return own_function(variant.is_stable ? kTotalStable : kTotal,
                      buildoidvector(types, lengthof(types)));
}

Const* oid_constant(Oid oid) {
  return makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(oid), false, true);
}

// '{}' as an array of the type
Const* empty_array(Oid type) {
  const Oid array = get_array_type(type);
  return makeConst(array, -1, get_typcollation(array), -1,
                   PointerGetDatum(construct_empty_array(type)), false, false);
}

bool has_total_output(Oid type) {
  switch (type) {
    case BOOLOID:
    case NAMEOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
    case UUIDOID:
      return true;
    default:
      return get_typtype(type) == TYPTYPE_ENUM;
  }
}

bool is_listed(Oid function) {
  return find_variant(function) != nullptr ||
         std::binary_search(kSortedAsItIs.begin(), kSortedAsItIs.end(), function);
}

// A comparison or a choice has two arguments.
bool reads_long_value(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return false;
  const oidvector& types = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->proargtypes;
  bool reads = false;
  for (int i = 0; types.dim1 != 2 && i < types.dim1; ++i) {
    reads = reads || get_typlen(types.values[i]) < 0;
  }
  ReleaseSysCache(row);
  return reads;
}

}  // namespace

int number_of_arguments(const TotalVariant& variant) {
  const Oid* end =
      std::find(std::begin(variant.arguments), std::end(variant.arguments), InvalidOid);
  return static_cast<int>(end - std::begin(variant.arguments));
}

const TotalVariant* find_variant_or_text_cast(Oid original) {
  const TotalVariant key{original, nullptr, InvalidOid, {}};
  const auto* found = std::lower_bound(kSorted.begin(), kSorted.end(), key, is_before);
  return found != kSorted.end() && found->original == original ? found : nullptr;
}

const TotalVariant* find_variant(Oid function) {
  const TotalVariant* variant = find_variant_or_text_cast(function);
  return variant == nullptr || variant->is_text_cast ? nullptr : variant;
}

const TotalVariant* find_text_cast(Oid type) {
  const auto casts_to = [=](const TotalVariant& variant) {
    return variant.is_text_cast && variant.result == type;
  };
  const auto* found = std::find_if(kSorted.begin(), kSorted.end(), casts_to);
  return found == kSorted.end() ? nullptr : found;
}

bool is_unbounded(Oid function) {
  return function < FirstUnpinnedObjectId && !is_listed(function) && get_func_leakproof(function) &&
         reads_long_value(function);
}

bool is_total(Oid function) {
  if (function >= FirstUnpinnedObjectId || find_variant(function) != nullptr) return false;
  if (std::binary_search(kSortedAsItIs.begin(), kSortedAsItIs.end(), function)) return true;
  const auto* exception = std::find(std::begin(kExceptions), std::end(kExceptions), function);
  return exception == std::end(kExceptions) && get_func_leakproof(function) &&
         func_volatile(function) != PROVOLATILE_VOLATILE && !is_unbounded(function);
}

FuncExpr* call_of_variant(const TotalVariant& variant, const List* arguments, Oid result_collation,
                          Oid collation) {
  const Oid function = calling_function(variant);
  if (!OidIsValid(function)) return nullptr;
  List* all = list_make2(empty_array(variant.result), oid_constant(variant.original));
  return makeFuncExpr(function, variant.result, list_concat(all, arguments), result_collation,
                      collation, COERCE_EXPLICIT_CALL);
}

const TotalVariant* variant_of_call(const Node* node) {
  if (!IsA(node, FuncExpr)) return nullptr;
  const auto* call = as<FuncExpr>(node);
  if (call->funcid < FirstNormalObjectId || list_length(call->args) <= kBeforeArguments) {
    return nullptr;
  }
  const auto* original = static_cast<const Const*>(lsecond(call->args));
  if (!IsA(original, Const) || original->consttype != OIDOID) return nullptr;
  const TotalVariant* variant = find_variant_or_text_cast(DatumGetObjectId(original->constvalue));
  return variant != nullptr && call->funcid == calling_function(*variant) ? variant : nullptr;
}

bool is_total_text_conversion(Oid from, Oid to) {
  const bool is_text = to == TEXTOID || to == VARCHAROID || to == BPCHAROID;
  return is_text && has_total_output(from);
}

}  // namespace dpquantile
