#pragma once

#include "pg/plain/subquery_join.hpp"

// Subqueries of public tables in expressions over protected rows: EXISTS, IN and = ANY, also of an
// ARRAY, also after NOT, and single values. Each becomes a LEFT JOIN with a derived table of public
// rows, by the columns that it compares with those of the row:
//
//   FROM visits v WHERE v.shop IN (SELECT id FROM shops WHERE region = 1)
//   FROM visits v LEFT JOIN (SELECT id FROM shops WHERE region = 1 GROUP BY id) x ON x.id = v.shop
//     WHERE x.id IS NOT NULL
//
// The validator looks at the joins; these are not trusted (Lemma 34q of docs/privacy/relations.md).
namespace dpquantile {

// Whether an expression may be such a subquery.
bool is_subquery(const Node* node);

// The subquery; = ANY (ARRAY (SELECT ...)) as IN, which is the same. Null for <> ALL.
const SubLink* subquery_of(Node* node);

// The value of the subquery, which has been joined; null if it stays. `is_condition`: whether NULL
// is as good as false where it stands.
Node* public_value(const Place* place, Node* node, bool is_condition);

}  // namespace dpquantile
