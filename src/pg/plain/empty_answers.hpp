#pragma once

#include "pg/plain/plain_level.hpp"

// What could only answer nothing, or 0, whatever the rows are. It would be charged, and who asks
// would take the answer for one about the rows. What is refused here follows from the text of the
// query and from definitions of tables.
namespace dpquantile {

// ereports if each group of a level has rows of one person alone, because of its keys and of what
// WHERE says: such groups are not shown where they are chosen by the number of their persons.
void refuse_hidden_groups(const PlainLevel* level);

// ereports if WHERE and joins leave no row by what they say alone, as shop = 1 AND shop = 2 and
// cost = NULL do, or FILTER leaves none to an aggregate. Groups of a query with a condition that is
// false without a look at rows, such as 1 = 0, are not shown: so tools ask for its columns. Nor is
// anything where HAVING has such a condition.
void refuse_conditions_of_no_row(const PlainLevel* level);

// Has a query show no row, and so charge nothing.
void show_no_group(Query* query);

// Whether all rows of a table with one value of a column are one, or of one person: it is unique,
// or the column of the persons, or refers to the row of one.
bool has_one_person_each(Oid relation, AttrNumber column);

// ereports if WHERE asks for rows without a person, which no aggregate counts.
void refuse_rows_of_nobody(const PlainLevel* level);

}  // namespace dpquantile
