#pragma once

#include "pg/query/level.hpp"
#include "pg/server/value_type.hpp"

// The public bounds of the values of an expression, from the domains of its columns, the rows of
// public tables and the text of the query. A private sum or mean clamps values to bounds, and its
// noise grows with them. Bounds that are too narrow would make answers wrong, but never less
// private: the private aggregate clamps whatever it gets.
namespace dpquantile {

// As numbers of the expression's type (number_of_value).
struct ValueBounds {
  ValueType type;
  double lower;
  double upper;
  std::optional<double> granularity;
};

// None if values of the type have no bounds.
std::optional<ValueType> type_with_bounds(Oid type);

// What bounds are for: to clamp values, which needs two different ones, or to list keys, of which
// WHERE may leave one or none. A person may have more rows than the owner states, whose number is
// no key between bounds of kKeys; those of kAllKeys have all. kAllNumbers are those, or of a number
// of rows, a sum and a whole number without any what these can be at all: of what is computed of
// such numbers they tell whether it has a value. kAllRows are bounds that the query itself states,
// whatever domains are: no row is beyond them.
enum class BoundsFor { kValues, kKeys, kAllKeys, kAllNumbers, kAllRows };

// The bounds of what an expression gives for any row whose columns are within their domains, or in
// a public table that may be read (public_rows.hpp), for values alone: of columns, casts,
// arithmetic of numbers, dates and times, CASE, COALESCE, GREATEST, LEAST, NULLIF, the functions
// and parts of times of value_range.hpp, the length of a text, which has an upper bound if a column
// declares it, and aggregates of the rows of a person. GREATEST, LEAST, the conditions of CASE and
// WHERE may state bounds themselves, also by now() from below. None if a column has no domain and
// no least and greatest value in such a table, the expression is another one, or it is computed
// from more than 1000 others. Both bounds are the same where all values are one number. Where WHERE
// leaves no more than one number, values have the bounds that they would have without it, and keys
// that number, or the bound next to WHERE. The granularity is that of a column that is shown as it
// is, or cast to float8 or numeric.
std::optional<ValueBounds> bounds_of(const Level* level, Node* expression,
                                     BoundsFor use = BoundsFor::kValues);

// Whether a call is extract(epoch FROM ...).
bool is_epoch(const FuncExpr* call);

// The unit or part of times that a constant text names, as date_trunc and extract read it: in lower
// case, and "month" for "months" or "mon". Null if it is no constant.
const char* unit_of_text(const Node* expression);

}  // namespace dpquantile
