#pragma once

#include "pg/protect/query_level.hpp"

// Upper bounds on the sizes of the texts that are computed for a row. They follow from the query
// alone: from constants, from declared lengths of columns, and from a limit. A text of a row that
// is longer than the limit counts as NULL where a function reads it. The limit is one for the
// statement, and is chosen last (row_work.hpp), so that there is a bound for each that it may be.
namespace dpquantile {

// What total_texts.hpp allows
inline constexpr double kMostTextBytes = 65536;

// Whether values of the type are texts of any kind, or bytes.
bool is_text(Oid type);

// Whether a node is a constant of the query, and not the value of a parameter.
bool is_literal(const Statement* statement, const Node* node);

// Bytes of a constant of variable length, without its header.
double size_of_constant(const Const* constant);

// How long the text of a node may be. A node of another type counts as a name.
TextBound bound_of(const QueryLevel* level, Node* node);

// How long all texts among the nodes may be together.
TextBound sum_of(const QueryLevel* level, const List* nodes);

// The longer one of two bounds.
TextBound longer(TextBound longest, const TextBound& bound);

// Limits the texts of rows that a variant reads, and requires values of parameters there to be
// short.
void limit_texts(QueryLevel* level, FuncExpr* call);

// Requires the values of parameters in a text that is read to be short.
void require_short_values(Statement* statement, Node* node);

// Sets the limit to that with this number (kTextLimits), when all expressions of the statement have
// been counted. ereports if a value of a parameter is longer than it allows.
void set_text_limit(Statement* statement, int number);

}  // namespace dpquantile
