#pragma once

#include "pg/plain/plain_level.hpp"

// A level that groups by columns of a table that the role may read, which an inner join joins with
// the rows, rewritten so that its groups are those of the table's rows:
//
//   SELECT d.name, count(*) FROM visits v JOIN department d ON d.id = v.department WHERE v.cost > 5
//    GROUP BY d.name
//
// becomes
//
//   SELECT k.name, count(s.present)
//     FROM department k
//     LEFT JOIN (SELECT v.department, true AS present FROM visits v WHERE v.cost > 5) s
//       ON k.id = s.department
//    GROUP BY k.name
//
// All rows of the table appear that conditions on it alone let pass, also those without rows. A key
// that the join compares with a column of the table, as v.department with d.id, is that column,
// and what WHERE says to be equal to it is said of the table, too.
namespace dpquantile {

// Which tables may give the groups. kSmall: conditions leave at most kMaxElements rows of the
// table. kSmallAndAlone: besides, no inner join compares it with another public table, whose
// conditions would leave out rows, too. kAll: any table.
enum class TablesOfGroups { kSmallAndAlone, kSmall, kAll };

// Rewrites FROM, WHERE, and what refers to them. Returns an expression that is not NULL for any row
// that counts, or null, and changes nothing, if the keys are not those of one such table. ereports
// if conditions leave no row of it, so that the answer would have no group.
Node* group_by_public_table(PlainLevel* level, TablesOfGroups tables);

}  // namespace dpquantile
