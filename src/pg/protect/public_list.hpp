#pragma once

#include "pg/protect/judged_level.hpp"

// Lists of values in FROM beside protected rows: VALUES, generate_series() and unnest(). They give
// groups a public list of keys, or rows a table to look up in. The values must be different, so
// that a join by = matches at most one of them: a value that stands twice would count a row twice.
// They are computed before the first row is read, so that an error in them says nothing about rows.
// A list is joined as a table with a unique key is (Lemma 34c of docs/privacy/relations.md).
namespace dpquantile {

// Makes the entry of a source or release block a list: says in which columns no two rows of it are
// equal, and changes the query so that it cannot fail while rows are read. VALUES must have
// constants, and unnest() of several arrays or of a long one constant arrays. The others are
// computed before the first row is read, by functions that accept at most 1000 distinct values.
// Does nothing if the entry is none of these. ereports if it is, and is not allowed.
void describe_list(JudgedLevel* level, int number);

// Whether describe_list() has found such a list.
bool is_list(const JudgedEntry& entry);

// Whether conditions, which AND combines, choose at most one row of a list for a row: they say that
// columns in which no two of its rows are equal are equal to expressions over the entries `known`,
// or NOT DISTINCT FROM them.
bool fixes_row_of_list(const JudgedLevel* level, const List* conditions, int number,
                       const Bitmapset* known);

// Whether a hash join by the conditions, which are all that compare the list, finds a row of the
// list by a hash that few rows have: one condition on a column, or one on each column of the list.
bool hash_finds_row_of_list(const JudgedLevel* level, const List* conditions, int number);

// Whether rows of the list that are equal in these columns are one row.
bool chooses_row_of_list(const JudgedEntry& entry, const Bitmapset* columns);

// How many groups the level has at most by the lists of which columns are keys: the product of
// their rows, but no more than PG_INT32_MAX. 0 if no key is a column of a list.
int count_listed_groups(const JudgedLevel* level);

}  // namespace dpquantile
