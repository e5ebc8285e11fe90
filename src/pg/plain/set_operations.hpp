#pragma once

#include "pg/query/level.hpp"

// Set operations over rows of persons, below a private aggregate. The validator knows UNION ALL
// (pg/protect/union_rule.hpp); the others are person groups over one:
//
//   a UNION b:      SELECT DISTINCT * FROM (a UNION ALL b)
//   a INTERSECT b:  SELECT columns FROM (SELECT columns, bool_and(first), bool_or(first)
//                     FROM (SELECT *, true AS first FROM a UNION ALL SELECT *, false FROM b)
//                     GROUP BY columns) WHERE bool_or AND NOT bool_and
//   a EXCEPT b:     the same WHERE bool_and
//
// Their columns must contain the person, so that two equal rows are of one person. INTERSECT ALL
// and EXCEPT ALL stay as they are, and the validator refuses them.
namespace dpquantile {

// Makes a person group of a level with a set operation other than UNION ALL, over rows of persons
// that its columns contain. Returns whether it has changed the level.
bool group_set_operation(const Level* level);

// Makes VALUES of UNION ALL of constants alone, SELECT 1, 'a' UNION ALL SELECT 2, 'b': a list
// beside protected rows is written in many ways, also in a WITH query that a query further below
// reads. Of UNION, only beside protected rows, each row is left once. Returns whether it has
// changed the level.
bool list_constants(const Level* level, bool is_beside_rows);

// Leaves out the entries of a set operation that are no queries of it.
void forget_other_entries(Query* query);

// UNION ALL of queries. The columns have the types of the first query, or those of a set operation.
Query* union_all_of(List* queries, const SetOperationStmt* types);

}  // namespace dpquantile
