#pragma once

#include "pg/protect/judged_level.hpp"

// How long it may take to compute the expressions of a statement for one row. A bound is known
// before the first row: the time of a function is bounded by the lengths of the texts that it reads
// and answers (size_bounds.hpp). The more is computed, the smaller is the limit for those of rows.
namespace dpquantile {

// A node inside whose arguments have been rewritten: counts the time that it takes for a row, and
// limits the texts that it reads. ereports if the statement takes too much.
Node* with_bounded_work(JudgedLevel* level, Node* node);

// The same for a value that is read, but by no node: a key, or a value that is hashed.
Node* with_bounded_reading(JudgedLevel* level, Node* value);

// A column of a source or a value of an aggregate, which is rewritten: counts that joins, sorts and
// hash tables copy what is computed for it.
Node* with_counted_copy(JudgedLevel* level, Node* value);

// Counts that so many bytes of long values of a row are read and kept. ereports as before.
void count_fetched(JudgedLevel* level, double bytes);

// Counts an expression, which is rewritten and has been counted, so many times more. ereports as
// before.
void count_again(const JudgedLevel* level, Node* expression, double times);

// Counts that a row with so many columns is copied so many times more. Each window is a sort of the
// rows and a node above it, which hand on all columns.
void count_copies(JudgedLevel* level, int times, int columns);

// Counts the time to compute a key once more, to copy it, and to hash and compare it; rewritten
// already.
void count_key(JudgedLevel* level, Node* key);

// Counts and describes an expression of a source's target list. The statement had counted so many
// nodes and so much work before the expression.
ColumnWork work_of_column(const JudgedLevel* source, Node* expression, int nodes_before,
                          const RowWork& work_before);

// Decides about the limit, when all expressions of the statement have been counted. ereports if a
// value of a parameter is longer than the limit allows.
void choose_size_limit(JudgedStatement* statement);

}  // namespace dpquantile
