#pragma once

#include "pg/query/level.hpp"

// Keys of GROUP BY that are computed of a column of times with bounds: months, hours, days of the
// week, as dashboards have them. Each value between the bounds is a key,
// in the session's time zone, also where the clock goes back or forth (clock_changes.hpp): a value
// that is missing would leave rows out.
namespace dpquantile {

// The values of date_trunc, date_bin, a cast to date, or extract, also of a time plus or minus a
// constant interval; NIL if it is another function, the column has no bounds, or there are more
// than kMaxElements values.
List* values_of_time_function(const Level* level, const FuncExpr* call);

// The values of a key that is computed of several units and parts of one moment, such as
// date_trunc('hour', at) + floor(extract(minute FROM at) / 15) * interval '15 minutes', or
// to_char(at, 'YYYY-MM'), also for a moment that is NULL. Where the moment has no bounds, or wide
// ones, those of parts that repeat, such as to_char(at, 'HH24:00'). Or of the whole months of one
// age: extract(year FROM age(a, b)) * 12 + extract(month FROM age(a, b)). NIL if it is computed of
// something else, too, or of units of several zones, or there are too many moments or values.
List* values_of_time_parts(const Level* level, const Node* key);

// The rows of the values that keys have together which are computed of units and parts of one
// moment: List of List of Const, each once. Those of parts that repeat are of all moments, those of
// others of the units that begin or end between the bounds, so far as they go beyond these. NIL if
// they are not computed so, or there are too many moments.
List* rows_of_time_parts(const Level* level, const List* keys);

// The moment of which these keys are computed by units and parts, or the date if that is the
// beginning of one; null if they are not.
Node* moment_of_time_parts(const List* keys);

// Whether all units and parts of a key that is computed of them repeat.
bool repeats(Node* key);

// The numbers as constants of a type.
List* whole_numbers(Oid type, int least, int most);

// The moment of such a function other than extract: its values never fall while that grows. Null
// for other functions.
Node* moment_of(const FuncExpr* call);

// The moment of which a call extracts the year, which never falls while that grows. Null for other
// calls.
Node* moment_of_year(const FuncExpr* call);

// The moment whose local time a moment is: AT TIME ZONE with a constant, or a cast. Null if it is
// something else.
Node* moment_of_local_time(const Node* moment);

}  // namespace dpquantile
