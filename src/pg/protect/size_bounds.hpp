#pragma once

#include "pg/protect/query_level.hpp"

// Upper bounds on the sizes of the values of variable length that are computed for a row: texts,
// bytes, arrays, numbers, strings of bits. They follow from the query alone: from constants, from
// declared lengths of columns, and from a limit. A value of a row that is longer than the limit
// counts as NULL where a function reads it. The limit is one for the statement, and is chosen last
// (row_work.hpp), so that there is a bound for each that it may be.
namespace dpquantile {

// What total_texts.hpp allows
inline constexpr double kMostTextBytes = 65536;

// Whether a node is a constant of the query, and not the value of a parameter.
bool is_literal(const Statement* statement, const Node* node);

// Bytes of a constant of variable length, without its header.
double size_of_constant(const Const* constant);

// How long the value of a node may be. A node of a type of fixed length counts as a name.
SizeBound bound_of(const QueryLevel* level, Node* node);

// How long all texts among the nodes may be together.
SizeBound sum_of(const QueryLevel* level, const List* nodes);

// The longer one of two bounds.
SizeBound longer(SizeBound longest, const SizeBound& bound);

// A value of a row that is read: dpquantile.short_value() of it if it may be of any length.
Node* limited_value(QueryLevel* level, Node* value);

// Limits the values of rows that a node reads: puts dpquantile.short_value() around arguments.
void limit_values(QueryLevel* level, Node* node);

// Whether a node is such a call.
bool is_size_limit(const Node* node);

// Requires an early value (a parameter, or a constant that is known for this plan only) to be short
// if its type has no fixed length: whatever reads, compares or copies it for a row. Arrays, in
// which rows are searched for, may have what check_value_size() allows; literals count with their
// bytes.
void require_short_value(Statement* statement, Node* early);

// Sets the limit to that with this number (kSizeLimits), when all expressions of the statement have
// been counted. ereports if a value of a parameter is longer than it allows.
void set_size_limit(Statement* statement, int number);

}  // namespace dpquantile
