#include "pg/release/sorted_answers.hpp"

namespace dpquantile {

namespace {

Tuplesortstate* begin_sort(const ReleasePlan& plan, TupleDesc columns, int memory) {
  const int keys = list_length(plan.sort_columns);
  auto* numbers = static_cast<AttrNumber*>(palloc(keys * sizeof(AttrNumber)));
  auto* operators = static_cast<Oid*>(palloc(keys * sizeof(Oid)));
  auto* collations = static_cast<Oid*>(palloc(keys * sizeof(Oid)));
  auto* nulls_first = static_cast<bool*>(palloc(keys * sizeof(bool)));
  for (int i = 0; i < keys; ++i) {
    numbers[i] = static_cast<AttrNumber>(list_nth_int(plan.sort_columns, i));
    operators[i] = list_nth_oid(plan.operators, i);
    collations[i] = list_nth_oid(plan.collations, i);
    nulls_first[i] = list_nth_int(plan.nulls_first, i) != 0;
  }
  Tuplesortstate* sort = tuplesort_begin_heap(columns, keys, numbers, operators, collations,
                                              nulls_first, memory, nullptr, TUPLESORT_RANDOMACCESS);
  pfree(numbers);
  pfree(operators);
  pfree(collations);
  pfree(nulls_first);
  return sort;
}

bool read_tuple(const SortedAnswers& answers) {
  if (answers.sorted != nullptr) {
    return tuplesort_gettupleslot(answers.sorted, true, false, answers.tuple, nullptr);
  }
  return tuplestore_gettupleslot(answers.stored, true, false, answers.tuple);
}

}  // namespace

SortedAnswers begin_answers(const ReleasePlan& plan, TupleDesc columns, int memory) {
  SortedAnswers answers{};
  answers.tuple = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
  if (plan.sort_columns == NIL) {
    answers.stored = tuplestore_begin_heap(false, false, memory);
  } else {
    answers.sorted = begin_sort(plan, columns, memory);
  }
  return answers;
}

void add_answer(const SortedAnswers& answers, TupleTableSlot* answer) {
  if (answers.sorted != nullptr) {
    tuplesort_puttupleslot(answers.sorted, answer);
  } else {
    tuplestore_puttupleslot(answers.stored, answer);
  }
}

void finish_answers(const SortedAnswers& answers) {
  if (answers.sorted != nullptr) tuplesort_performsort(answers.sorted);
}

bool next_answer(const SortedAnswers& answers, TupleTableSlot* slot) {
  ExecClearTuple(slot);
  if (!read_tuple(answers)) return false;
  slot_getallattrs(answers.tuple);
  const Size columns = slot->tts_tupleDescriptor->natts;
  memcpy(slot->tts_values, answers.tuple->tts_values, columns * sizeof(Datum));
  memcpy(slot->tts_isnull, answers.tuple->tts_isnull, columns * sizeof(bool));
  ExecStoreVirtualTuple(slot);
  return true;
}

void rewind_answers(const SortedAnswers& answers) {
  ExecClearTuple(answers.tuple);
  if (answers.sorted != nullptr) {
    tuplesort_rescan(answers.sorted);
  } else {
    tuplestore_rescan(answers.stored);
  }
}

void end_answers(SortedAnswers* answers) {
  if (answers->tuple != nullptr) ExecDropSingleTupleTableSlot(answers->tuple);
  if (answers->sorted != nullptr) tuplesort_end(answers->sorted);
  if (answers->stored != nullptr) tuplestore_end(answers->stored);
  *answers = {};
}

}  // namespace dpquantile
