#pragma once

#include "pg/protect/judged_level.hpp"

// Upper bounds on the sizes of the values of variable length that are computed for a row: texts,
// bytes, arrays, numbers, strings of bits. They follow from the query alone: from constants, from
// declared lengths of columns, and from a limit (size_limit.hpp). The limit is chosen last, so that
// there is a bound for each that it may be.
namespace dpquantile {

// What total_texts.hpp allows
inline constexpr double kMostTextBytes = 65536;

// Whether a node is a constant of the query, and not the value of a parameter.
bool is_literal(const JudgedStatement* statement, const Node* node);

// regex_weight() of a constant pattern
int weight_of_pattern(const Const* pattern);

// Bytes of a constant of variable length, without its header.
double size_of_constant(const Const* constant);

// The function that limits a value of a row (size_limit.hpp), and whether a node is a call of it.
inline constexpr char kShortValue[] = "short_value";
bool is_size_limit(const Node* node);

// How long the value of a node may be. A node of a type of fixed length counts as a name.
SizeBound bound_of(const JudgedLevel* level, Node* node);

// How long all arguments of a call may be together that are texts, jsonb or arrays of texts.
SizeBound sum_of_arguments(const JudgedLevel* level, const Node* node);

// The longer one of two bounds.
SizeBound longer(SizeBound longest, const SizeBound& bound);

// The limits with these numbers (kSizeLimits), bytes: of values of rows, and of early values.
double limit_of(int number);
double early_limit_of(int number);

// The bound of a value of at most so many bytes.
SizeBound at_most(double bytes);

// Sets the bound of a node that has been made.
void set_bound(JudgedStatement* statement, Node* node, const SizeBound& bound);

}  // namespace dpquantile
