#pragma once

#include "pg/server/postgres.hpp"

// Parameters that are whole numbers, such as the size of a synthetic sample. They are declared as
// bigint, and in the variants for drivers that send text as dp_number, whose values are float8.
namespace dpquantile {

// A value of type bigint or dp_number as a whole number. ereports if it is a dp_number that is not
// whole or has more than 15 digits; `name` is the parameter's.
int64 whole_number(Datum value, Oid type, const char* name);

// The argument of a function that SQL calls. It must not be NULL.
int64 whole_argument(FunctionCallInfo fcinfo, int number, const char* name);

}  // namespace dpquantile
