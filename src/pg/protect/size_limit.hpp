#pragma once

#include "pg/protect/query_level.hpp"

// The limit for the values of rows that are read. A longer one counts as NULL, so that the time for
// a row is bounded. The limit is one for the statement, and an early value (early_values.hpp): it
// is known when all expressions have been counted (row_work.hpp).
namespace dpquantile {

// A value of a row that is read: dpquantile.short_value() of it if it may be of any length.
Node* limited_value(QueryLevel* level, Node* value);

// Limits the values of rows that a node reads: puts dpquantile.short_value() around arguments. It
// requires texts of parameters that a variant reads to be short.
void limit_values(QueryLevel* level, Node* node);

// Whether a node is such a call.
bool is_size_limit(const Node* node);

// Requires the values of parameters in a text that is read to be short.
void require_short_values(Statement* statement, Node* node);

// Sets the limit to that with this number (kSizeLimits), when all expressions of the statement have
// been counted. ereports if a value of a parameter is longer than it allows.
void set_size_limit(Statement* statement, int number);

}  // namespace dpquantile
