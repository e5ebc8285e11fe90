#pragma once

#include "pg/query/level.hpp"

// The number of persons in each group: SELECT kind, count(DISTINCT person) … GROUP BY kind. A
// person counts once in a group, so all that matters is in which groups. As a number of different
// values it would have the noise of max_rows rows of a person, of which some would not be seen. As
// a number of rows of SELECT DISTINCT person, kind, a person group, it has that of max_groups
// groups, or of all groups if their lists are shorter (most_rows_of_person() of pg/query).
namespace dpquantile {

// Whether a query level has groups and no aggregates but numbers of persons, and its rows can be
// those of a person group.
bool counts_persons_by_group(const Level* level);

// The person of each row of such a level.
Node* counted_person(const Level* level);

// A copy of what such a level computes of its groups, with count(*) in the place of the numbers of
// persons: what it is over the rows of a person group with its keys, where the condition of a
// FILTER is a column that says whether one of the rows of the group has it.
Node* with_numbers_of_rows(Node* tree);

// Makes of such a level one that counts the rows of a person group: its own keys and the person.
void put_person_group_below(const Level* level);

}  // namespace dpquantile
