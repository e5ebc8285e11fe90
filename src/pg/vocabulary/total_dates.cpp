// The variants of functions of dates and times. PostgreSQL's functions compute with their
// arguments, the tables of units and zones in memory, and the files of time zones, which they have
// closed when they report an error. So call_or_null() is safe for them. What is clearly out of
// range is found before it, because an error takes longer.

#include <cmath>

#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

Datum swapped(PGFunction original, FunctionCallInfo fcinfo) {
  return call_or_null(original, fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
}

Datum days_between(FunctionCallInfo fcinfo) {
  const DateADT end = PG_GETARG_DATEADT(0);
  const DateADT start = PG_GETARG_DATEADT(1);
  if (DATE_NOT_FINITE(end) || DATE_NOT_FINITE(start)) return null_answer(fcinfo);
  return Int32GetDatum(end - start);
}

Datum date_after(FunctionCallInfo fcinfo, DateADT date, int64 days) {
  if (DATE_NOT_FINITE(date)) return DateADTGetDatum(date);
  const int64 result = date + days;
  return IS_VALID_DATE(result) ? DateADTGetDatum(static_cast<DateADT>(result))
                               : null_answer(fcinfo);
}

Datum timestamp_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp result = date2timestamp_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
  return overflow != 0 ? null_answer(fcinfo) : TimestampGetDatum(result);
}

Datum timestamptz_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const TimestampTz result = date2timestamptz_opt_overflow(PG_GETARG_DATEADT(0), &overflow);
  return overflow != 0 ? null_answer(fcinfo) : TimestampTzGetDatum(result);
}

Datum timestamptz_of(FunctionCallInfo fcinfo, Timestamp timestamp) {
  int overflow = 0;
  const TimestampTz result = timestamp2timestamptz_opt_overflow(timestamp, &overflow);
  return overflow != 0 ? null_answer(fcinfo) : TimestampTzGetDatum(result);
}

// (date, time)
Datum timestamptz_of_date_and_time(FunctionCallInfo fcinfo) {
  const Datum timestamp = call_or_null(datetime_timestamp, fcinfo);
  return fcinfo->isnull ? Datum{0} : timestamptz_of(fcinfo, DatumGetTimestamp(timestamp));
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

// Timestamp with or without zone plus (sign 1) or minus (sign -1) an interval.
Datum moved(PGFunction original, FunctionCallInfo fcinfo, Datum timestamp, Datum span, int sign) {
  const Timestamp start = DatumGetTimestamp(timestamp);
  const Interval* interval = DatumGetIntervalP(span);
  if (!TIMESTAMP_NOT_FINITE(start) && is_finite(interval) &&
      is_clearly_no_timestamp(static_cast<float8>(start) + sign * microseconds_of(interval))) {
    return null_answer(fcinfo);
  }
  return call_or_null(original, fcinfo, timestamp, span);
}

Datum plus(PGFunction original, FunctionCallInfo fcinfo) {
  return moved(original, fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), 1);
}

Datum minus(PGFunction original, FunctionCallInfo fcinfo) {
  return moved(original, fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), -1);
}

Datum swapped_plus(PGFunction original, FunctionCallInfo fcinfo) {
  return moved(original, fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0), 1);
}

Datum moved_date(PGFunction original, FunctionCallInfo fcinfo, DateADT date, Datum span) {
  int overflow = 0;
  const Timestamp start = date2timestamp_opt_overflow(date, &overflow);
  if (overflow != 0) return null_answer(fcinfo);
  return moved(original, fcinfo, TimestampGetDatum(start), span,
               original == timestamp_pl_interval ? 1 : -1);
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

Datum multiplied(FunctionCallInfo fcinfo, Datum span, Datum number) {
  const Interval* interval = DatumGetIntervalP(span);
  const float8 factor = DatumGetFloat8(number);
  if (std::isfinite(factor) && is_finite(interval) &&
      !may_fit(interval->month * factor, interval->day * factor,
               static_cast<float8>(interval->time) * factor)) {
    return null_answer(fcinfo);
  }
  return call_or_null(interval_mul, fcinfo, span, number);
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

// (interval, typmod). An infinite interval keeps all its fields.
Datum with_fields(FunctionCallInfo fcinfo) {
  const bool has_answer =
      has_known_fields(PG_GETARG_INT32(1)) || !is_finite(PG_GETARG_INTERVAL_P(0));
  return has_answer ? call_or_null(interval_scale, fcinfo) : null_answer(fcinfo);
}

// (unit, date)
Datum part_of_date(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp timestamp = date2timestamp_opt_overflow(PG_GETARG_DATEADT(1), &overflow);
  if (overflow != 0) return null_answer(fcinfo);
  return call_or_null(timestamp_part, fcinfo, PG_GETARG_DATUM(0), TimestampGetDatum(timestamp));
}

Datum age_today(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const Timestamp today = date2timestamp_opt_overflow(GetSQLCurrentDate(), &overflow);
  return call_or_null(timestamp_age, fcinfo, TimestampGetDatum(today), PG_GETARG_DATUM(0));
}

Datum age_today_with_zone(FunctionCallInfo fcinfo) {
  int overflow = 0;
  const TimestampTz today = date2timestamptz_opt_overflow(GetSQLCurrentDate(), &overflow);
  return call_or_null(timestamptz_age, fcinfo, TimestampTzGetDatum(today), PG_GETARG_DATUM(0));
}

Datum timestamptz_of_epoch(FunctionCallInfo fcinfo) {
  constexpr float8 kMostSeconds = 1e13;
  const float8 seconds = PG_GETARG_FLOAT8(0);
  const bool is_too_far = std::isfinite(seconds) && std::fabs(seconds) > kMostSeconds;
  if (std::isnan(seconds) || is_too_far) return null_answer(fcinfo);
  return call_or_null(float8_timestamptz, fcinfo);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

DPQ_TOTAL(date_mi, days_between(fcinfo))
DPQ_TOTAL(date_pli, date_after(fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_INT32(1)))
DPQ_TOTAL(date_mii, date_after(fcinfo, PG_GETARG_DATEADT(0), -int64{PG_GETARG_INT32(1)}))
DPQ_TOTAL(integer_pl_date_int4_date, date_after(fcinfo, PG_GETARG_DATEADT(1), PG_GETARG_INT32(0)))

DPQ_TOTAL(date_timestamp, timestamp_of_date(fcinfo))
DPQ_TOTAL(date_timestamptz, timestamptz_of_date(fcinfo))
DPQ_TOTAL(timestamp_timestamptz, timestamptz_of(fcinfo, PG_GETARG_TIMESTAMP(0)))
DPQ_TOTAL(timestamptz_date_time, timestamptz_of_date_and_time(fcinfo))
DPQ_TOTAL(timedate_pl_time_date, swapped(datetime_timestamp, fcinfo))
DPQ_TOTAL(timetzdate_pl_timetz_date, swapped(datetimetz_timestamptz, fcinfo))
DPQ_TOTAL(float8_timestamptz, timestamptz_of_epoch(fcinfo))

DPQ_TOTAL(timestamp_pl_interval, plus(timestamp_pl_interval, fcinfo))
DPQ_TOTAL(timestamp_mi_interval, minus(timestamp_mi_interval, fcinfo))
DPQ_TOTAL(timestamptz_pl_interval, plus(timestamptz_pl_interval, fcinfo))
DPQ_TOTAL(timestamptz_mi_interval, minus(timestamptz_mi_interval, fcinfo))
DPQ_TOTAL(interval_pl_timestamp_interval_timestamp, swapped_plus(timestamp_pl_interval, fcinfo))
DPQ_TOTAL(interval_pl_timestamptz_interval_timestamptz,
          swapped_plus(timestamptz_pl_interval, fcinfo))
DPQ_TOTAL(date_pl_interval,
          moved_date(timestamp_pl_interval, fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_DATUM(1)))
DPQ_TOTAL(date_mi_interval,
          moved_date(timestamp_mi_interval, fcinfo, PG_GETARG_DATEADT(0), PG_GETARG_DATUM(1)))
DPQ_TOTAL(interval_pl_date_interval_date,
          moved_date(timestamp_pl_interval, fcinfo, PG_GETARG_DATEADT(1), PG_GETARG_DATUM(0)))
DPQ_TOTAL(interval_pl_time_interval_time, swapped(time_pl_interval, fcinfo))
DPQ_TOTAL(interval_pl_timetz_interval_timetz, swapped(timetz_pl_interval, fcinfo))
DPQ_TOTAL(age_timestamp, age_today(fcinfo))
DPQ_TOTAL(age_timestamptz, age_today_with_zone(fcinfo))

DPQ_TOTAL(interval_mul, multiplied(fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)))
DPQ_TOTAL(mul_d_interval, multiplied(fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)))
DPQ_TOTAL(interval_div, divided(fcinfo))
DPQ_TOTAL(interval_scale, with_fields(fcinfo))
DPQ_TOTAL(date_part_text_date, part_of_date(fcinfo))

#define DPQ_TOTAL_CALL(name) DPQ_TOTAL(name, call_or_null(name, fcinfo))

DPQ_TOTAL_CALL(datetime_timestamp)
DPQ_TOTAL_CALL(datetimetz_timestamptz)
DPQ_TOTAL_CALL(timestamp_date)
DPQ_TOTAL_CALL(timestamptz_date)
DPQ_TOTAL_CALL(timestamptz_timestamp)
DPQ_TOTAL_CALL(timestamp_time)
DPQ_TOTAL_CALL(timestamptz_time)
DPQ_TOTAL_CALL(timestamptz_timetz)
DPQ_TOTAL_CALL(interval_time)
DPQ_TOTAL_CALL(time_timetz)
DPQ_TOTAL_CALL(time_scale)
DPQ_TOTAL_CALL(timetz_scale)
DPQ_TOTAL_CALL(timestamp_scale)
DPQ_TOTAL_CALL(timestamptz_scale)

DPQ_TOTAL_CALL(timestamp_mi)
DPQ_TOTAL_CALL(timestamp_age)
DPQ_TOTAL_CALL(timestamptz_age)
DPQ_TOTAL_CALL(time_pl_interval)
DPQ_TOTAL_CALL(time_mi_interval)
DPQ_TOTAL_CALL(timetz_pl_interval)
DPQ_TOTAL_CALL(timetz_mi_interval)
DPQ_TOTAL_CALL(interval_um)
DPQ_TOTAL_CALL(interval_pl)
DPQ_TOTAL_CALL(interval_mi)
DPQ_TOTAL_CALL(interval_justify_days)
DPQ_TOTAL_CALL(interval_justify_hours)
DPQ_TOTAL_CALL(interval_justify_interval)

DPQ_TOTAL_CALL(timestamp_trunc)
DPQ_TOTAL_CALL(timestamptz_trunc)
DPQ_TOTAL_CALL(timestamptz_trunc_zone)
DPQ_TOTAL_CALL(interval_trunc)
DPQ_TOTAL_CALL(timestamp_bin)
DPQ_TOTAL_CALL(timestamptz_bin)
DPQ_TOTAL_CALL(extract_date)
DPQ_TOTAL_CALL(extract_time)
DPQ_TOTAL_CALL(extract_timetz)
DPQ_TOTAL_CALL(extract_timestamp)
DPQ_TOTAL_CALL(extract_timestamptz)
DPQ_TOTAL_CALL(extract_interval)
DPQ_TOTAL_CALL(time_part)
DPQ_TOTAL_CALL(timetz_part)
DPQ_TOTAL_CALL(timestamp_part)
DPQ_TOTAL_CALL(timestamptz_part)
DPQ_TOTAL_CALL(interval_part)

DPQ_TOTAL_CALL(timestamp_zone)
DPQ_TOTAL_CALL(timestamptz_zone)
DPQ_TOTAL_CALL(timetz_zone)
DPQ_TOTAL_CALL(timestamp_izone)
DPQ_TOTAL_CALL(timestamptz_izone)
DPQ_TOTAL_CALL(timetz_izone)

DPQ_TOTAL_CALL(make_date)
DPQ_TOTAL_CALL(make_time)
DPQ_TOTAL_CALL(make_timestamp)
DPQ_TOTAL_CALL(make_timestamptz)
DPQ_TOTAL_CALL(make_timestamptz_at_timezone)
