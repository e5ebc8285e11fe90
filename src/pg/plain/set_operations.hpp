#pragma once

#include "pg/query/level.hpp"

// Set operations over rows of persons, below a private aggregate. The validator knows UNION ALL
// (pg/protect/union_rule.hpp); the others are person groups over one:
//
//   a UNION b:      SELECT DISTINCT * FROM (a UNION ALL b)
//   a INTERSECT b:  SELECT columns FROM (SELECT *, true AS first FROM a UNION ALL
//                   SELECT *, false FROM b) GROUP BY columns HAVING bool_or(first) AND NOT
//                   bool_and(first)
//   a EXCEPT b:     the same with HAVING bool_and(first)
//
// Their columns must contain the person, so that two equal rows are of one person. INTERSECT ALL
// and EXCEPT ALL stay as they are, and the validator refuses them.
namespace dpquantile {

// Makes a person group of a level with a set operation other than UNION ALL, over rows of persons
// that its columns contain. Returns whether it has changed the level.
bool group_set_operation(const Level* level);

// UNION ALL of queries. The columns have the types of the first query, or those of a set operation.
Query* union_all_of(List* queries, const SetOperationStmt* types);

}  // namespace dpquantile
