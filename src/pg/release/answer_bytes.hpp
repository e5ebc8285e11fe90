#pragma once

#include "pg/release/sorted_answers.hpp"
#include "pg/reuse/kept_answers.hpp"

// Answers as bytes, to be kept, and back.
namespace dpquantile {

// palloc'd. No bytes if they would be more than `most`, or if only this session knows what a value
// is (add_columns()). Leaves the answers at their beginning.
KeptAnswers pack_answers(const SortedAnswers& answers, TupleDesc columns, Size most);

// Adds them to answers. Returns false, and adds none, if they have other columns. Whatever the
// bytes are, it reads none beyond them and makes no value that refers to others: ereports if they
// are damaged.
bool unpack_answers(KeptAnswers kept, TupleDesc columns, const SortedAnswers& answers);

}  // namespace dpquantile
