#pragma once

#include <optional>

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// PostgreSQL's own aggregates, and the private ones that answer in their place, so that tools which
// know only SQL get private answers of the types that they expect. An aggregate that is not in the
// table here stays as it is, and the validator refuses it.
namespace dpquantile {

// Whether the call is of a standard aggregate that has a private counterpart.
bool is_standard_aggregate(const Aggref* call);

// The private aggregate in the place of a standard one, with the epsilon of the level, the bounds
// of the domains, and an answer of the same type. `row` is an expression that is not NULL for any
// row, for count(*); null if every row counts. min and max give the bounds of the domain. Refuses
// DISTINCT and ORDER BY where they have no counterpart, and values without bounds. The arguments
// are columns of the level's scope.
Node* private_counterpart(const PlainLevel* level, const Aggref* call, Node* row);

// Whether the call counts every row: count(*), count(1), sum(1) and the like.
bool counts_rows(const Aggref* call);

// A field of the dp_stats of the value of `valued`, in the place of a standard aggregate over the
// same rows, with the answer's type.
Node* field_of_statistics(const PlainLevel* level, const Aggref* call, const Aggref* valued,
                          const char* field);

// The error of that answer, with what its type rounds, as float8.
Node* error_in_statistics(const PlainLevel* level, const Aggref* call, const Aggref* valued,
                          const char* field);

// What a percentile is one of. percentile_cont casts numbers to float8, which is left out here:
// their own type has the better grid, and percentile_disc asks for it, too.
Node* value_of_percentile(const Aggref* call);

// The fraction of a call for one percentile, if it is a literal from 0 to 1.
std::optional<double> fraction_of_percentile(const Aggref* call);

// The answer to such a call from one draw of several percentiles, at these fractions in ascending
// order (double*), with its type. All calls of one column over the same rows have the same draw.
Node* percentile_of_several(const PlainLevel* level, const Aggref* call, const List* fractions);

// Whether the call asks for one percentile of numbers, at a literal fraction: a curve (dp_cdf) can
// answer it, and tells the error.
bool is_percentile_of_curve(const PlainLevel* level, const Aggref* call);

// The answer to such a call from the curve of its values, with its type; and the error, as float8.
// If the noise leaves no rows, every value is possible: the answer is at that fraction of the way
// from the lower bound to the upper one, and the error reaches both. All such calls of one column
// over the same rows have the same curve.
Node* percentile_of_curve(const PlainLevel* level, const Aggref* call);
Node* error_of_percentile(const PlainLevel* level, const Aggref* call);

// The error of a count, or of a count of different values, as float8. Refuses other aggregates.
Node* error_of_count(const PlainLevel* level, const Aggref* call);

// A private aggregate of the user's own. dp_count(epsilon) counts `row`; others stay as they are.
Node* count_of_rows(const Aggref* call, Node* row);

}  // namespace dpquantile
