#pragma once

#include "pg/release/release_plan.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"
}

// The answers of an execution in the order of their groups. They can be read many times.
namespace dpquantile {

struct SortedAnswers {
  Tuplesortstate* sorted;   // groups with keys
  Tuplestorestate* stored;  // groups without keys
  TupleTableSlot* tuple;    // the answer that was read last
};

// Begins to collect answers with these columns, in memory below the current memory context, which
// must live as long as the answers. They use up to `memory` kilobytes of it, then disk.
SortedAnswers begin_answers(const ReleasePlan& plan, TupleDesc columns, int memory);

// Copies an answer.
void add_answer(const SortedAnswers& answers, TupleTableSlot* answer);

// Sorts them. Call it after the last add_answer().
void finish_answers(const SortedAnswers& answers);

// Puts the next answer in a slot of virtual tuples, which may have the first of its columns only,
// where it is valid until the next call of next_answer(), rewind_answers() or end_answers(). All
// columns are in `tuple`. Returns false, with an empty slot, at the end.
bool next_answer(const SortedAnswers& answers, TupleTableSlot* slot);

// Goes back to the first answer.
void rewind_answers(const SortedAnswers& answers);

// Frees the answers. Does nothing if there are none.
void end_answers(SortedAnswers* answers);

}  // namespace dpquantile
