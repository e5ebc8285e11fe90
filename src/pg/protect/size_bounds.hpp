#pragma once

#include "pg/protect/query_level.hpp"

// Upper bounds on the sizes of the values of variable length that are computed for a row: texts,
// bytes, arrays, numbers, strings of bits. They follow from the query alone: from constants, from
// declared lengths of columns, and from a limit. A value of a row that is longer than the limit
// counts as NULL where a function reads it (size_limit.hpp). The limit is one for the statement,
// and is chosen last, so that there is a bound for each that it may be.
namespace dpquantile {

// What total_texts.hpp allows
inline constexpr double kMostTextBytes = 65536;

// The limit for values of rows with a number (kSizeLimits), in bytes.
double limit_of(int number);

// That for values of parameters, which are searched for more often than in.
double early_limit_of(int number);

// The type for which dpquantile.short_value() is declared that takes values of a type, or
// InvalidOid if they need none.
Oid type_of_short_value(Oid type);

// Whether a value of the type may be of any length.
bool has_any_length(Oid type);

// Whether values of the type are texts of any kind, or bytes.
bool is_text(Oid type);

// Whether a node is a constant of the query, and not the value of a parameter.
bool is_literal(const Statement* statement, const Node* node);

// Bytes of a constant of variable length, without its header.
double size_of_constant(const Const* constant);

// The bound of a value that is computed, with each limit alike.
SizeBound all_bytes(double bytes);

// From now on, the value of a node has this bound.
void remember(Statement* statement, Node* node, const SizeBound& bound);

// How long the value of a node may be. A node of a type of fixed length counts as a name.
SizeBound bound_of(const QueryLevel* level, Node* node);

// The bound of a value that counts as NULL beyond the limit.
SizeBound limited_bound(const SizeBound& bound);

// How long all texts among the nodes may be together.
SizeBound sum_of(const QueryLevel* level, const List* nodes);

// The longer one of two bounds.
SizeBound longer(SizeBound longest, const SizeBound& bound);

}  // namespace dpquantile
