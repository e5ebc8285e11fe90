#pragma once

#include "pg/protect/judged_level.hpp"

// The limit for values of variable length. A value of a row that is longer counts as NULL where a
// function reads it. The limit is one for the statement, an early value, and is chosen when all
// expressions have been counted (row_work.hpp).
namespace dpquantile {

// A value of a row that is read: dpquantile.short_value() of it if it may be of any length.
Node* limited_value(JudgedLevel* level, Node* value);

// Limits the values of rows that a node reads: puts dpquantile.short_value() around arguments.
void limit_values(JudgedLevel* level, Node* node);

// Requires an early value (a parameter, or a constant that is known for this plan only) to be short
// if its type has no fixed length: whatever reads, compares or copies it for a row. Arrays, in
// which rows are searched for, may have what check_value_size() allows; literals count with their
// bytes.
void require_short_value(JudgedStatement* statement, Node* early);

// Sets the limit to that with this number (kSizeLimits), when all expressions of the statement have
// been counted. ereports if a value of a parameter is longer than it allows.
void set_size_limit(JudgedStatement* statement, int number);

}  // namespace dpquantile
