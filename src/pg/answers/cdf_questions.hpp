#pragma once

#include "pg/server/postgres.hpp"
#include "pg/server/value_type.hpp"

// Questions to a released CDF of numbers, and to one of dates or times, have functions of their
// own: dp_cdf_quantile answers with a number, dp_cdf_time_quantile with the text of a date or time.
namespace dpquantile {

// ereports unless the CDF in argument 0 is one of numbers.
void require_numbers(FunctionCallInfo fcinfo);

// The type of the CDF in argument 0. ereports unless it is one of dates or times.
ValueType require_times(FunctionCallInfo fcinfo);

// The number of an argument, which is text or a value of the type. ereports for another type, and
// for a text that the type does not accept.
double time_argument(FunctionCallInfo fcinfo, int number, ValueType type);

// The value of the type with this number as text in ISO form, in the session's time zone.
Datum time_answer(ValueType type, double number);

}  // namespace dpquantile
