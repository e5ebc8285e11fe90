#pragma once

#include <optional>
#include <string_view>

#include "pg/server/postgres.hpp"

// The SQL types of the values of private aggregates. Core computes with numbers, so each value has
// a number: itself, or for dates and times the days or microseconds since a fixed moment. The order
// of the numbers is the order of the values. No conversion of a value ereports: an error would
// depend on the data.
namespace dpquantile {

// The numbers are stored inside aggregate states and inside a dp_cdf, so they never change.
enum class ValueType : uint8 {
  kFloat8 = 1,
  kNumeric = 2,  // beyond the range of float8: an infinity
  kInteger = 3,
  kBigint = 4,       // beyond 2^53: the nearest float8
  kDate = 5,         // days since 2000-01-01
  kTimestamp = 6,    // microseconds since 2000-01-01 00:00, beyond 2^53 the nearest float8
  kTimestamptz = 7,  // the same in UTC
  kTime = 8,         // microseconds since midnight
  kInterval = 9,     // microseconds; a month counts as 30 days, a day as 24 hours
  kSmallint = 10,
  kReal = 11,  // of rows, bounds and answers; states have kFloat8 for it
};

// The type with this OID, if the aggregates take it. A domain is the type that it is over: its
// values are the same.
std::optional<ValueType> find_value_type(Oid type);
// The type with this number, if there is one. For numbers from outside.
std::optional<ValueType> find_value_type_by_number(int number);

// The OID of the type.
Oid oid_of(ValueType type);

// Whether all values of the type are whole numbers: days or microseconds for dates and times.
bool is_whole(ValueType type);
// Whether the type is a date, a time or an interval; the others are numbers.
bool is_temporal(ValueType type);

// The number of a value; infinite dates and timestamps are infinities. NaN for a value without a
// number (numeric and float8 NaN).
double number_of_any_value(ValueType type, Datum value);
// The same; the most frequent cases are inline.
inline double number_of_value(ValueType type, Datum value) {
  if (type == ValueType::kFloat8) return DatumGetFloat8(value);
  return type == ValueType::kInteger ? DatumGetInt32(value) : number_of_any_value(type, value);
}

// The value with the number, rounded to a value of the type. Numbers beyond its range give its
// least or largest finite value. ereports if memory is short.
Datum value_of_number(ValueType type, double number);

// The number of that value.
double nearest_number(ValueType type, double number);

// The least and the largest number of a value of the type between two edges of an OrdinalGrid, of
// which each belongs to the cell that is farther from 0, and 0 to both. They differ, also where
// that is one value, or none, or lower and upper are beyond the same end of the type's range: then
// they are the next ones. For a type that is not whole the edges, as numbers of the type. Requires
// lower < upper, both finite.
struct NumberRange {
  double lower;
  double upper;
};
NumberRange range_of_values(ValueType type, double lower, double upper);

// Whether a date, time or interval has exactly this number.
bool is_number_of_value(ValueType type, double number);

// The value with the number as text, in the session's date style, palloc'd. A number that no value
// of the type has is written as it is.
const char* text_of_number(ValueType type, double number);

// The same in ISO form in any session: "2024-03-01 09:30:00+01:00", or for an interval
// "3 days 04:05:06". A timestamptz is in UTC or in the session's time zone. The input function of
// the type takes the text back in any session.
enum class TextZone { kSession, kUtc };
const char* iso_text_of_number(ValueType type, double number, TextZone zone);

// The same for an interval itself, which may have months.
const char* iso_text_of_interval(Datum interval);

// The number of the value that the type's input function makes of the text. ereports if it refuses.
double number_of_text(ValueType type, char* text);

// The name of a type of dates and times, and the type with this name, if it is one.
const char* temporal_type_name(ValueType type);
std::optional<ValueType> find_temporal_type(std::string_view name);

// The difference of two values of the type, from the difference of their numbers, as a value of the
// type `as`: an interval for dates and times. ereports if memory is short.
Datum value_of_difference(ValueType type, double difference, ValueType as);

// The number of microseconds (of days, for a date) in an interval. ereports if it has months, whose
// length varies, for a date if it is not a number of days, and if it is not positive.
double step_of_interval(ValueType type, Datum interval);

// The interval of a number of microseconds (of days, for a date).
Datum interval_of_step(ValueType type, double step);

}  // namespace dpquantile
