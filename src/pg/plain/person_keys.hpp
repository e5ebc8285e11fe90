#pragma once

#include "pg/query/level.hpp"

namespace dpquantile {

// Groups by a unique key of a table of persons, in a derived table or CTE, are of one person each,
// and so are groups by the columns by which a table refers to one:
//
//   SELECT avg(total) FROM (SELECT o.id, sum(l.price) AS total
//     FROM orders o JOIN lines l ON l.order_id = o.id GROUP BY o.id) AS t
//   SELECT avg(n) FROM (SELECT order_id, count(*) AS n FROM lines GROUP BY order_id) AS t
//
// So GROUP BY gets the person of the order as one more key, which leaves the groups as they are and
// makes them a person group. Nothing of this is trusted: the validator judges the result. Returns
// whether the level has changed.
bool group_by_person_of_key(const Level* level);

// The same in this level and all below.
bool group_by_persons_of_keys(const Level* level);

// Notes which subqueries in expressions have such groups: IN (SELECT order_id FROM lines GROUP BY
// order_id HAVING sum(price) > 300). They are about the person of a row (person_subqueries.hpp).
void note_subqueries_by_key(Level* level);

}  // namespace dpquantile
