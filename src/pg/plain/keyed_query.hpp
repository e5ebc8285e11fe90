#pragma once

#include "pg/plain/group_keys.hpp"
#include "pg/plain/plain_level.hpp"

// A grouped query level, rewritten so that its groups are those of public lists of keys:
//
//   SELECT department, count(*) FROM staff WHERE age > 30 GROUP BY department
//
// becomes
//
//   SELECT k.department, count(s.present)
//     FROM (VALUES ('Engineering'), ('Sales')) k (department)
//     LEFT JOIN (SELECT department, true AS present FROM staff WHERE age > 30) s
//       ON s.department = k.department
//    GROUP BY k.department
//
// All keys of the lists appear, also those without rows. Rows with other keys are in no group, or
// in that of the key that stands for all others: s.department is then
//
//   CASE WHEN department = ANY ('{Engineering,Sales}') THEN department ELSE 'Sales' END
//
// where of a list of more than kMaxElements it is a join that tells whether it has the department:
//
//   FROM (SELECT department, true AS present FROM staff WHERE age > 30) r
//   LEFT JOIN unnest('{Engineering,Sales}') o (k) ON o.k = r.department
//
// So many rows are no VALUES, but unnest('{Engineering,Sales}') k (department), with an array more
// for each other column.
//
// A list may have NULL, which = finds nowhere. Then both sides of the join have another value of
// the list in its place, and a number that says which keys are NULL:
//
//   SELECT CASE WHEN k.n & 1 <> 0 THEN NULL ELSE k.department END, count(s.present)
//     FROM (VALUES ('Sales', 0), ('Sales', 1)) k (department, n)
//     LEFT JOIN (SELECT coalesce(department, 'Sales') AS department,
//                       CASE WHEN department IS NULL THEN 1 ELSE 0 END AS n, true AS present
//                  FROM staff WHERE age > 30) s
//       ON s.department = k.department AND s.n = k.n
//    GROUP BY 1
//
// A number of persons, count(DISTINCT person), is one of the rows of a person group by the keys as
// the lists have them: FROM staff above is
//
//   FROM (SELECT person, CASE WHEN department = ANY (...) THEN department ELSE 'Sales' END AS
//           department FROM staff GROUP BY 1, 2) g
namespace dpquantile {

// Rewrites FROM, WHERE, and what refers to them. Returns an expression that is not NULL for any row
// that counts, or null, and changes nothing, if a key has no public list, or if they have more
// combinations than kMaxElements and than the longest list has keys, and keys may be chosen
// privately. Otherwise so many are refused. `counts_persons`: as counts_persons_by_group() says.
Node* group_by_public_keys(PlainLevel* level, bool may_choose_keys, bool counts_persons,
                           Lists lists);

// A query for nothing but keys with public lists, by GROUP BY or DISTINCT, reads the lists in the
// place of the rows, and costs nothing. A condition on the keys chooses among them. The query must
// be of all rows of the table, perhaps joined with public tables by columns alone, and what it
// gives must be shown as it is. Without a delta it may choose rows by other conditions, which leave
// no key out, except those on the public table that has the keys; a notice tells so. Returns
// false, and changes nothing, if the query is another one.
bool list_public_keys(PlainLevel* level);

// Whether keys of GROUP BY fix a value of a public table: no two of the rows that their list is
// made of have these keys and different values.
bool is_fixed_by_keys(const Level* level, const List* keys, Node* value);

// Those of the public list of a key that WHERE leaves. What follows from them is as public as the
// list.
List* values_left_by_where(const Level* level, Node* key, List* values);

}  // namespace dpquantile
