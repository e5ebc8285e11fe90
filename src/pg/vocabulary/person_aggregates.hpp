#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// What a query may do with PostgreSQL's own aggregates over the rows of one person, below a private
// aggregate: SELECT person, sum(amount) FROM visits GROUP BY person. In which order these rows come
// depends on the rows of other persons. So such an aggregate must be a function of the set of the
// person's values, bit by bit, also where equal values look different: -0 and 0, 1.0 and 1.00,
// '1 day' and '24 hours'. It must be total: an error would tell that a row with such a value
// exists.
namespace dpquantile {

// How the aggregate of a line of the table is called.
enum class PersonCall {
  kAsItIs,
  kCount,          // as it is, and by its variant with DISTINCT
  kOfText,         // as it is, by a collation of PostgreSQL's by which equal texts are the same
  kOfNumeric,      // as it is, of numbers with few digits; NULL stands for others
  kOneOfNumerics,  // the same without zeros after the last digit
  kVariant,        // by its variant (person_variant.hpp)
  kPercentile,     // the same, with a fraction and an order
};

struct PersonVariant;

struct PersonAggregate {
  Oid aggregate;  // PostgreSQL's
  PersonCall call = PersonCall::kAsItIs;
  const PersonVariant* variant = nullptr;
  Oid answer = InvalidOid;  // the type of the variant's; InvalidOid: that of its values
};

// The line of the table for an aggregate, or null.
const PersonAggregate* find_person_aggregate(Oid aggregate);

// Whether what is kept of a person for one of PostgreSQL's aggregates grows with the person's rows.
bool keeps_values(const Aggref* call);

// dpquantile.short_value(value, 0): NULL in the place of a number with more than 400 digits before
// or after the point, so that sums of values and of their squares do not overflow. Null if the
// database does not have it.
Expr* short_number(Expr* value);

// A call that stands for one of PostgreSQL's aggregates over a person's rows, as the parser would
// make it. It has the same type and FILTER; the arguments are those of the call itself, not copies.
// Null if there is none: then refuse the query. Call it before the planner has seen the query. A
// text may be of any length: limit it before (dpquantile.short_value()).
Aggref* person_aggregate_call(const Aggref* call);

}  // namespace dpquantile
