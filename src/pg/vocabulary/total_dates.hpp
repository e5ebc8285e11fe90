#pragma once

#include "pg/vocabulary/total_call.hpp"

// The variants of functions of dates and times. PostgreSQL's functions compute with their
// arguments, the tables of units and zones in memory, and the files of time zones, which they have
// closed when they report an error. So call_or_null() is safe for them. What is clearly out of
// range is found before it, because an error takes longer.
namespace dpquantile::dates {

template <PGFunction kOriginal>
Datum swapped(FunctionCallInfo fcinfo) {
  return call_or_null(kOriginal, fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
}

Datum days_between(FunctionCallInfo fcinfo);
Datum date_plus_days(FunctionCallInfo fcinfo);
Datum date_minus_days(FunctionCallInfo fcinfo);
Datum days_plus_date(FunctionCallInfo fcinfo);

Datum timestamp_of_date(FunctionCallInfo fcinfo);
Datum timestamptz_of_date(FunctionCallInfo fcinfo);
Datum timestamptz_of_timestamp(FunctionCallInfo fcinfo);
Datum timestamptz_of_date_and_time(FunctionCallInfo fcinfo);
Datum timestamptz_of_epoch(FunctionCallInfo fcinfo);

// Timestamp with or without zone plus (sign 1) or minus (sign -1) an interval.
Datum moved(PGFunction original, FunctionCallInfo fcinfo, Datum timestamp, Datum span, int sign);

template <PGFunction kOriginal>
Datum plus(FunctionCallInfo fcinfo) {
  return moved(kOriginal, fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), 1);
}

template <PGFunction kOriginal>
Datum minus(FunctionCallInfo fcinfo) {
  return moved(kOriginal, fcinfo, PG_GETARG_DATUM(0), PG_GETARG_DATUM(1), -1);
}

template <PGFunction kOriginal>
Datum swapped_plus(FunctionCallInfo fcinfo) {
  return moved(kOriginal, fcinfo, PG_GETARG_DATUM(1), PG_GETARG_DATUM(0), 1);
}

Datum date_plus_interval(FunctionCallInfo fcinfo);
Datum date_minus_interval(FunctionCallInfo fcinfo);
Datum interval_plus_date(FunctionCallInfo fcinfo);
Datum age_today(FunctionCallInfo fcinfo);
Datum age_today_with_zone(FunctionCallInfo fcinfo);

Datum multiplied(FunctionCallInfo fcinfo);
Datum number_times_interval(FunctionCallInfo fcinfo);
Datum divided(FunctionCallInfo fcinfo);
Datum with_fields(FunctionCallInfo fcinfo);
Datum part_of_date(FunctionCallInfo fcinfo);

}  // namespace dpquantile::dates
