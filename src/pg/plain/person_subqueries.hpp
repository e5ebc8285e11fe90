#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

// Subqueries in expressions that ask about the person of a row: EXISTS, IN and = ANY, also after
// NOT, and scalar subqueries with one row of aggregates. Each becomes a join with a person group,
// which has one row for each person, by the person:
//
//   FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient = p.id)
//   FROM patients p LEFT JOIN (SELECT v.patient FROM visits v GROUP BY v.patient) x
//     ON x.patient = p.id WHERE x.patient IS NOT NULL
//
// They may compare a row with the rows that refer to it, or that refer to the row to which it
// refers, in place of the persons (lines.order_id = orders.id), and other columns besides, by =:
// the group is then one of persons and of these columns. The validator looks at the joins; these
// are not trusted (Lemma 34l of docs/privacy/relations.md).
namespace dpquantile {

// Joins a level with its subqueries about persons, and with those of public tables.
// `is_beside_rows`: whether it has none but public rows, which a level around joins with protected
// ones. Returns whether it has any: then it has to be read again.
bool join_subqueries(const Level* level, bool is_beside_rows);

// Refuses the subqueries over protected rows that are left in a level with such rows, with what
// they lack.
void refuse_other_subqueries(const RefusedQuery& refused, const Level* level);

}  // namespace dpquantile
