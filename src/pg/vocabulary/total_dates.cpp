#include "pg/vocabulary/total_dates.hpp"

#include <cmath>

extern "C" {
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
}

namespace dpquantile::dates {

namespace {

Datum date_after(FunctionCallInfo fcinfo, DateADT date, int64 days) {
  if (DATE_NOT_FINITE(date)) return DateADTGetDatum(date);
  const int64 result = date + days;
  return IS_VALID_DATE(result) ? DateADTGetDatum(static_cast<DateADT>(result))
                               : null_answer(fcinfo);
}

Datum timestamptz_of(FunctionCallInfo fcinfo, Timestamp timestamp) {
  int overflow = 0;
  const TimestampTz result = DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(timestamp2timestamptz), timestamp);
  return overflow != 0 ? null_answer(fcinfo) : TimestampTzGetDatum(result);
}

bool is_finite(const Interval* interval) {
  return !DPQ_INTERVAL_IS_NOBEGIN(interval) && !DPQ_INTERVAL_IS_NOEND(interval);
}

// The microseconds of an interval after any date differ from this by some days at most.
float8 microseconds_of(const Interval* interval) {
  constexpr float8 kDaysPerMonth = 365.2425 / MONTHS_PER_YEAR;
  const float8 days = interval->month * kDaysPerMonth + interval->day;
  return days * USECS_PER_DAY + static_cast<float8>(interval->time);
}

bool is_clearly_no_timestamp(float8 microseconds) {
  constexpr float8 kMargin = 10.0 * USECS_PER_DAY;
  return microseconds < static_cast<float8>(MIN_TIMESTAMP) - kMargin ||
         microseconds > static_cast<float8>(END_TIMESTAMP) + kMargin;
}

// Whether number * factor may be in the range of a type with this greatest value.
bool may_fit(float8 product, float8 greatest) {
  return std::fabs(product) <= greatest;
}

bool may_fit(float8 months, float8 days, float8 microseconds) {
  constexpr float8 kMostOfInt4 = 2147483649.0;
  constexpr float8 kMostOfInt8 = 9.3e18;
  return may_fit(months, kMostOfInt4) && may_fit(days, kMostOfInt4) &&
         may_fit(microseconds, kMostOfInt8);
}

// Whether interval_scale() knows the fields of a typmod. It reports others as an internal error.
bool has_known_fields(int32 typmod) {
  constexpr int kFields[] = {
      INTERVAL_FULL_RANGE,
      INTERVAL_MASK(YEAR),
      INTERVAL_MASK(MONTH),
      INTERVAL_MASK(DAY),
      INTERVAL_MASK(HOUR),
      INTERVAL_MASK(MINUTE),
      INTERVAL_MASK(SECOND),
      INTERVAL_MASK(YEAR) | INTERVAL_MASK(MONTH),
      INTERVAL_MASK(DAY) | INTERVAL_MASK(HOUR),
      INTERVAL_MASK(DAY) | INTERVAL_MASK(HOUR) | INTERVAL_MASK(MINUTE),
      INTERVAL_MASK(DAY) | INTERVAL_MASK(HOUR) | INTERVAL_MASK(MINUTE) | INTERVAL_MASK(SECOND),
      INTERVAL_MASK(HOUR) | INTERVAL_MASK(MINUTE),
      INTERVAL_MASK(HOUR) | INTERVAL_MASK(MINUTE) | INTERVAL_MASK(SECOND),
      INTERVAL_MASK(MINUTE) | INTERVAL_MASK(SECOND),
  };
  if (typmod < 0) return true;
  for (const int fields : kFields) {
    if (INTERVAL_RANGE(typmod) == fields) return true;
  }
  return false;
}

Datum product_of(FunctionCallInfo fcinfo, Datum span, Datum number) {
  const Interval* interval = DatumGetIntervalP(span);
  const float8 factor = DatumGetFloat8(number);
  if (std::isfinite(factor) && is_finite(interval) &&
      !may_fit(interval->month * factor, interval->day * factor,
               static_cast<float8>(interval->time) * factor)) {
    return null_answer(fcinfo);
  }
  return call_or_null(interval_mul, fcinfo, span, number);
}

Datum moved_date(PGFunction original, FunctionCallInfo fcinfo, DateADT date, Datum span) {
  int overflow = 0;
  const Timestamp start = DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamp), date);
  if (overflow != 0) return null_answer(fcinfo);
  return moved(original, fcinfo, TimestampGetDatum(start), span,
               original == timestamp_pl_interval ? 1 : -1);
}

}  // namespace

Datum days_between(FunctionCallInfo fcinfo) {
  const DateADT end = PG_GETARG_DATEADT(0);
  const DateADT start = PG_GETARG_DATEADT(1);
  if (DATE_NOT_FINITE(end) || DATE_NOT_FINITE(start)) return null_answer(fcinfo);
  return Int32GetDatum(end - start);
}

Datum date_plus_days(FunctionCallInfo fcinfo) {
  return date_after(fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_INT32(1));
}

Datum date_minus_days(FunctionCallInfo fcinfo) {
  return date_after(fcinfo, PG_GETARG_DATEADT(0), -int64{PG_GETARG_INT32(1)});
}

Datum days_plus_date(FunctionCallInfo fcinfo) {
  return date_after(fcinfo, PG_GETARG_DATEADT(1), PG_GETARG_INT32(0));
}

Datum timestamp_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp result =
      DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamp), PG_GETARG_DATEADT(0));
  return overflow != 0 ? null_answer(fcinfo) : TimestampGetDatum(result);
}

Datum timestamptz_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const TimestampTz result =
      DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamptz), PG_GETARG_DATEADT(0));
  return overflow != 0 ? null_answer(fcinfo) : TimestampTzGetDatum(result);
}

Datum timestamptz_of_timestamp(FunctionCallInfo fcinfo) {
  return timestamptz_of(fcinfo, PG_GETARG_TIMESTAMP(0));
}

// (date, time)
Datum timestamptz_of_date_and_time(FunctionCallInfo fcinfo) {
  const Datum timestamp = call_or_null(datetime_timestamp, fcinfo);
  return fcinfo->isnull ? Datum{0} : timestamptz_of(fcinfo, DatumGetTimestamp(timestamp));
}

Datum moved(PGFunction original, FunctionCallInfo fcinfo, Datum timestamp, Datum span, int sign) {
  const Timestamp start = DatumGetTimestamp(timestamp);
  const Interval* interval = DatumGetIntervalP(span);
  if (!TIMESTAMP_NOT_FINITE(start) && is_finite(interval) &&
      is_clearly_no_timestamp(static_cast<float8>(start) + sign * microseconds_of(interval))) {
    return null_answer(fcinfo);
  }
  return call_or_null(original, fcinfo, timestamp, span);
}

Datum date_plus_interval(FunctionCallInfo fcinfo) {
  return moved_date(timestamp_pl_interval, fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_DATUM(1));
}

Datum date_minus_interval(FunctionCallInfo fcinfo) {
  return moved_date(timestamp_mi_interval, fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_DATUM(1));
}

Datum interval_plus_date(FunctionCallInfo fcinfo) {
  return moved_date(timestamp_pl_interval, fcinfo, PG_GETARG_DATEADT(1), PG_GETARG_DATUM(0));
}

Datum multiplied(FunctionCallInfo fcinfo) {
  return product_of(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1));
}

Datum number_times_interval(FunctionCallInfo fcinfo) {
  return product_of(fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
}

Datum divided(FunctionCallInfo fcinfo) {
  const Interval* interval = PG_GETARG_INTERVAL_P(0);
  const float8 divisor = PG_GETARG_FLOAT8(1);
  if (divisor == 0) return null_answer(fcinfo);
  if (std::isfinite(divisor) && is_finite(interval) &&
      !may_fit(interval->month / divisor, interval->day / divisor,
               static_cast<float8>(interval->time) / divisor)) {
    return null_answer(fcinfo);
  }
  return call_or_null(interval_div, fcinfo);
}

// (interval, typmod). An infinite interval keeps all its fields.
Datum with_fields(FunctionCallInfo fcinfo) {
  const bool has_answer =
      has_known_fields(PG_GETARG_INT32(1)) || !is_finite(PG_GETARG_INTERVAL_P(0));
  return has_answer ? call_or_null(interval_scale, fcinfo) : null_answer(fcinfo);
}

// (unit, date)
Datum part_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp timestamp =
      DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamp), PG_GETARG_DATEADT(1));
  if (overflow != 0) return null_answer(fcinfo);
  return call_or_null(timestamp_part, fcinfo, PG_GETARG_DATUM(0), TimestampGetDatum(timestamp));
}

Datum age_today(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp today = DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamp), GetSQLCurrentDate());
  return call_or_null(timestamp_age, fcinfo, TimestampGetDatum(today), PG_GETARG_DATUM(0));
}

Datum age_today_with_zone(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const TimestampTz today =
      DPQ_SOFTLY(&overflow, DPQ_SOFT_DATE(date2timestamptz), GetSQLCurrentDate());
  return call_or_null(timestamptz_age, fcinfo, TimestampTzGetDatum(today), PG_GETARG_DATUM(0));
}

Datum timestamptz_of_epoch(FunctionCallInfo fcinfo) {
  constexpr float8 kMostSeconds = 1e13;
  const float8 seconds = PG_GETARG_FLOAT8(0);
  const bool is_too_far = std::isfinite(seconds) && std::fabs(seconds) > kMostSeconds;
  if (std::isnan(seconds) || is_too_far) return null_answer(fcinfo);
  return call_or_null(float8_timestamptz, fcinfo);
}

}  // namespace dpquantile::dates
