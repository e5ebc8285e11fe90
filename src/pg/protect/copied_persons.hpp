#pragma once

#include "pg/query/level.hpp"

// Joins of protected tables by a foreign key by which the one has copied the persons of the other:
// lines (order_id, customer) REFERENCES orders (id, customer), joined by order_id = id alone. The
// key says that both rows are of one customer, but what checks it may be disabled. So the rule of
// joins (unit_join.hpp) asks for the comparison of the customers all the same.
namespace dpquantile {

// Adds the comparison of the persons to such joins of a level and of those below. It changes no
// answer unless rows break the key. Nothing here is trusted: the rules judge what comes of it.
void compare_copied_persons(const Level* level);

}  // namespace dpquantile
