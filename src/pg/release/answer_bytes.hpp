#pragma once

#include "pg/release/sorted_answers.hpp"
#include "pg/reuse/kept_answers.hpp"

// Answers as bytes, to be kept, and back.
namespace dpquantile {

// palloc'd. No bytes if they would be more than `most`. Only answers in which all columns of
// `decisions`, of integers, are true: the others are of groups that dp_keep_group hides, and
// neither they nor their number may have any effect. Leaves the answers at their beginning.
KeptAnswers pack_answers(const SortedAnswers& answers, TupleDesc columns, const List* decisions,
                         Size most);

// Adds them to answers with the same columns.
void unpack_answers(KeptAnswers kept, TupleDesc columns, const SortedAnswers& answers);

}  // namespace dpquantile
