#pragma once

#include "pg/protect/judged_level.hpp"

// Expressions inside: over protected rows. They must not fail for any row, and call nothing but
// PostgreSQL's own functions. An error, a warning or a long time would tell that a row with such a
// value exists, for the price of no epsilon; a function of the analyst would see the value itself.
// With this rule what becomes of a row is a function of this row alone (Lemma 34b of
// docs/privacy/relations.md).
namespace dpquantile {

// The expression with total functions in the place of partial ones, and with its constant parts
// computed. Equal expressions stay equal. ereports if a part is not allowed.
Node* rewrite_inside(JudgedLevel* level, Node* expression);

// ereports unless a column of this or an outer query may be used inside.
void check_column(const JudgedLevel* level, const Var* column);

// ereports unless protected rows may be sorted and grouped by the key.
void check_key_inside(const JudgedLevel* level, const SortGroupClause* key, const Node* expression);

// ereports if equal values of the key may look different: a group shows that of one of its rows.
void check_key_looks(const JudgedLevel* level, const Node* expression);

}  // namespace dpquantile
