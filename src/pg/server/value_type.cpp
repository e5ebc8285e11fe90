#include "pg/server/value_type.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <tuple>

#include "pg/server/decimal.hpp"
#include "pg/server/numeric.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kPerDay = static_cast<double>(USECS_PER_DAY);

double number_of_date(DateADT date) {
  if (DATE_IS_NOBEGIN(date)) return -kInfinite;
  if (DATE_IS_NOEND(date)) return kInfinite;
  return date;
}

double number_of_timestamp(Timestamp moment) {
  if (TIMESTAMP_IS_NOBEGIN(moment)) return -kInfinite;
  if (TIMESTAMP_IS_NOEND(moment)) return kInfinite;
  return static_cast<double>(moment);
}

double number_of_interval(const Interval* interval) {
  if (DPQ_INTERVAL_IS_NOBEGIN(interval)) return -kInfinite;
  if (DPQ_INTERVAL_IS_NOEND(interval)) return kInfinite;
  // Rounded once, so that equal intervals have one number: DISTINCT takes any of them.
  const int64 days =
      int64{interval->month} * DAYS_PER_MONTH + interval->day + interval->time / USECS_PER_DAY;
  const auto rest = static_cast<double>(interval->time % USECS_PER_DAY);
  return std::fma(static_cast<double>(days), kPerDay, rest);
}

// The least and the largest number of a finite value, for a type of whole numbers.
struct WholeRange {
  int64 least;
  int64 most;
};

WholeRange range_of(ValueType type) {
  switch (type) {
    case ValueType::kSmallint:
      return {PG_INT16_MIN, PG_INT16_MAX};
    case ValueType::kInteger:
      return {PG_INT32_MIN, PG_INT32_MAX};
    case ValueType::kDate:
      return {DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE,
              DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1};
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
      return {MIN_TIMESTAMP, END_TIMESTAMP - 1};
    case ValueType::kTime:
      return {0, USECS_PER_DAY};
    case ValueType::kFloat8:
    case ValueType::kReal:
    case ValueType::kNumeric:
    case ValueType::kBigint:
    case ValueType::kInterval:
      break;
  }
  return {PG_INT64_MIN, PG_INT64_MAX};
}

// The nearest whole number within the range of the type. 2^63 is a double, INT64_MAX is not.
int64 whole_within_range(ValueType type, double number) {
  const auto [least, most] = range_of(type);
  const double rounded = std::nearbyint(number);
  if (!(rounded > static_cast<double>(least))) return least;
  if (rounded >= static_cast<double>(most)) return most;
  return static_cast<int64>(rounded);
}

// The largest whole number below. Those beyond 2^53 are farther apart than 1.
double whole_below(double number) {
  return std::min(std::ceil(number) - 1, std::nextafter(number, -kInfinite));
}

// The days may be as many as fit, beyond the number of microseconds that an int64 holds.
Datum interval_of_number(double number) {
  constexpr double kMostDays = PG_INT32_MAX - 1;
  auto* interval = static_cast<Interval*>(palloc0(sizeof(Interval)));
  const double days = std::clamp(std::trunc(number / kPerDay), -kMostDays, kMostDays);
  const double rest = std::clamp(number - days * kPerDay, -kPerDay, kPerDay);
  interval->day = static_cast<int32>(days);
  interval->time = static_cast<TimeOffset>(std::nearbyint(rest));
  return IntervalPGetDatum(interval);
}

std::optional<ValueType> find_by_base_type(Oid type) {
  switch (type) {
    case FLOAT8OID:
      return ValueType::kFloat8;
    case FLOAT4OID:
      return ValueType::kReal;
    case NUMERICOID:
      return ValueType::kNumeric;
    case INT2OID:
      return ValueType::kSmallint;
    case INT4OID:
      return ValueType::kInteger;
    case INT8OID:
      return ValueType::kBigint;
    case DATEOID:
      return ValueType::kDate;
    case TIMESTAMPOID:
      return ValueType::kTimestamp;
    case TIMESTAMPTZOID:
      return ValueType::kTimestamptz;
    case TIMEOID:
      return ValueType::kTime;
    case INTERVALOID:
      return ValueType::kInterval;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ValueType> find_value_type(Oid type) {
  const auto found = find_by_base_type(type);
  return found || !OidIsValid(type) ? found : find_by_base_type(getBaseType(type));
}

std::optional<ValueType> find_value_type_by_number(int number) {
  if (number < static_cast<int>(ValueType::kFloat8)) return std::nullopt;
  if (number > static_cast<int>(ValueType::kSmallint)) return std::nullopt;
  return static_cast<ValueType>(number);
}

Oid oid_of(ValueType type) {
  switch (type) {
    case ValueType::kFloat8:
      return FLOAT8OID;
    case ValueType::kReal:
      return FLOAT4OID;
    case ValueType::kNumeric:
      return NUMERICOID;
    case ValueType::kSmallint:
      return INT2OID;
    case ValueType::kInteger:
      return INT4OID;
    case ValueType::kBigint:
      return INT8OID;
    case ValueType::kDate:
      return DATEOID;
    case ValueType::kTimestamp:
      return TIMESTAMPOID;
    case ValueType::kTimestamptz:
      return TIMESTAMPTZOID;
    case ValueType::kTime:
      return TIMEOID;
    case ValueType::kInterval:
      return INTERVALOID;
  }
  return InvalidOid;
}

bool is_temporal(ValueType type) {
  return type >= ValueType::kDate && type <= ValueType::kInterval;
}

bool is_whole(ValueType type) {
  return type >= ValueType::kInteger && type != ValueType::kReal;
}

double number_of_any_value(ValueType type, Datum value) {
  switch (type) {
    case ValueType::kFloat8:
      return DatumGetFloat8(value);
    case ValueType::kReal:
      return static_cast<double>(DatumGetFloat4(value));
    case ValueType::kNumeric:
      return float8_of_numeric(value);
    case ValueType::kSmallint:
      return DatumGetInt16(value);
    case ValueType::kInteger:
      return DatumGetInt32(value);
    case ValueType::kBigint:
      return static_cast<double>(DatumGetInt64(value));
    case ValueType::kDate:
      return number_of_date(DatumGetDateADT(value));
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
      return number_of_timestamp(DatumGetTimestamp(value));
    case ValueType::kTime:
      return static_cast<double>(DatumGetTimeADT(value));
    case ValueType::kInterval:
      return number_of_interval(DatumGetIntervalP(value));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Datum value_of_number(ValueType type, double number) {
  switch (type) {
    case ValueType::kFloat8:
      return Float8GetDatum(number);
    case ValueType::kReal:
      return Float4GetDatum(static_cast<float4>(std::clamp<double>(number, -FLT_MAX, FLT_MAX)));
    case ValueType::kNumeric:
      return decimal_numeric(number);
    case ValueType::kSmallint:
      return Int16GetDatum(static_cast<int16>(whole_within_range(type, number)));
    case ValueType::kInteger:
      return Int32GetDatum(static_cast<int32>(whole_within_range(type, number)));
    case ValueType::kBigint:
      return Int64GetDatum(whole_within_range(type, number));
    case ValueType::kDate:
      return DateADTGetDatum(static_cast<DateADT>(whole_within_range(type, number)));
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
      return TimestampGetDatum(whole_within_range(type, number));
    case ValueType::kTime:
      return TimeADTGetDatum(whole_within_range(type, number));
    case ValueType::kInterval:
      return interval_of_number(number);
  }
  return 0;
}

double nearest_number(ValueType type, double number) {
  return number_of_value(type, value_of_number(type, number));
}

NumberRange range_of_values(ValueType type, double lower, double upper) {
  if (is_whole(type)) {
    const double least = lower < 0 ? -whole_below(-lower) : std::ceil(lower);
    const double largest = upper <= 0 ? std::floor(upper) : whole_below(upper);
    std::tie(lower, upper) = std::minmax({least, largest});
  }
  NumberRange range{nearest_number(type, lower), nearest_number(type, upper)};
  for (double step = 1; range.lower == range.upper; step *= 2) {
    range.upper = nearest_number(type, range.upper + step);
    if (range.lower == range.upper) range.lower = nearest_number(type, range.lower - step);
  }
  return range;
}

const char* text_of_number(ValueType type, double number) {
  // The decimal of a large number has an exponent, which whole types do not read.
  const bool is_decimal = !is_whole(type) || nearest_number(type, number) != number;
  if (!is_temporal(type) && is_decimal) return decimal_text(number);
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(oid_of(type), &output, &is_varlena);
  return OidOutputFunctionCall(output, value_of_number(type, number));
}

bool is_number_of_value(ValueType type, double number) {
  const auto [least, most] = range_of(type);
  // The end of the range need not be a double.
  return number == std::nearbyint(number) && number >= static_cast<double>(least) &&
         number < static_cast<double>(most) + 1;
}

const char* iso_text_of_interval(Datum interval) {
  auto* text = static_cast<char*>(palloc0(MAXDATELEN + 1));
  struct pg_itm fields;
  interval2itm(*DatumGetIntervalP(interval), &fields);
  EncodeInterval(&fields, INTSTYLE_POSTGRES, text);
  return text;
}

const char* iso_text_of_number(ValueType type, double number, TextZone zone) {
  constexpr int kUtc = 0;
  const Datum value = value_of_number(type, number);
  if (type == ValueType::kInterval) return iso_text_of_interval(value);
  auto* text = static_cast<char*>(palloc0(MAXDATELEN + 1));
  JsonEncodeDateTime(text, value, oid_of(type), zone == TextZone::kUtc ? &kUtc : nullptr);
  char* between_date_and_time = strchr(text, 'T');
  if (between_date_and_time != nullptr) *between_date_and_time = ' ';
  return text;
}

double number_of_text(ValueType type, char* text) {
  Oid input;
  Oid element;
  getTypeInputInfo(oid_of(type), &input, &element);
  return number_of_value(type, OidInputFunctionCall(input, text, element, -1));
}

const char* temporal_type_name(ValueType type) {
  switch (type) {
    case ValueType::kDate:
      return "date";
    case ValueType::kTimestamp:
      return "timestamp";
    case ValueType::kTimestamptz:
      return "timestamptz";
    case ValueType::kTime:
      return "time";
    case ValueType::kInterval:
      return "interval";
    case ValueType::kFloat8:
    case ValueType::kReal:
    case ValueType::kNumeric:
    case ValueType::kInteger:
    case ValueType::kBigint:
    case ValueType::kSmallint:
      break;
  }
  return "number";
}

std::optional<ValueType> find_temporal_type(std::string_view name) {
  for (int number = static_cast<int>(ValueType::kDate);; ++number) {
    const auto type = find_value_type_by_number(number);
    if (!type || !is_temporal(*type)) return std::nullopt;
    if (temporal_type_name(*type) == name) return type;
  }
}

Datum value_of_difference(ValueType type, double difference, ValueType as) {
  return value_of_number(as, type == ValueType::kDate ? difference * kPerDay : difference);
}

double step_of_interval(ValueType type, Datum interval) {
  const Interval* step = DatumGetIntervalP(interval);
  const double number = number_of_interval(step);
  const bool whole_days = std::fmod(number, kPerDay) == 0;
  if (step->month != 0 || (type == ValueType::kDate && !whole_days)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    type == ValueType::kDate
                        ? errmsg("the granularity of dates must be a number of days")
                        : errmsg("the granularity of times must have no months or years"),
                    errhint("Months differ in length. Write for example '7 days'.")));
  }
  if (number <= 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the granularity of dates and times must be positive, got %s",
                           text_of_number(ValueType::kInterval, number)),
                    errhint("Write for example '7 days'.")));
  }
  return type == ValueType::kDate ? number / kPerDay : number;
}

Datum interval_of_step(ValueType type, double step) {
  return interval_of_number(type == ValueType::kDate ? step * kPerDay : step);
}

}  // namespace dpquantile
