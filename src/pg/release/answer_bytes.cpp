#include "pg/release/answer_bytes.hpp"

#include "pg/server/compat.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/htup_details.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
}

namespace dpquantile {

namespace {

// Each answer is a minimal tuple, which begins with its length, at a multiple of the alignment. The
// bytes begin with the number of answers.
constexpr Size kHeader = MAXALIGN(sizeof(uint64));

// Without references to values that are stored elsewhere.
MinimalTuple flat_tuple(TupleTableSlot* answer, TupleDesc columns) {
  const int count = columns->natts;
  auto* values = static_cast<Datum*>(palloc(static_cast<Size>(count) * sizeof(Datum)));
  slot_getallattrs(answer);
  for (int i = 0; i < count; ++i) {
    values[i] = answer->tts_values[i];
    if (answer->tts_isnull[i] || TupleDescAttr(columns, i)->attlen != -1) continue;
    if (!VARATT_IS_EXTERNAL(DatumGetPointer(values[i]))) continue;
    values[i] = PointerGetDatum(
        detoast_external_attr(reinterpret_cast<varlena*>(DatumGetPointer(values[i]))));
  }
  return DPQ_FORM_MINIMAL_TUPLE(columns, values, answer->tts_isnull);
}

bool is_shown(const TupleTableSlot* answer, const List* decisions) {
  const ListCell* cell;
  foreach (cell, decisions) {
    const int column = lfirst_int(cell) - 1;
    if (answer->tts_isnull[column] || !DatumGetBool(answer->tts_values[column])) return false;
  }
  return true;
}

}  // namespace

KeptAnswers pack_answers(const SortedAnswers& answers, TupleDesc columns, const List* decisions,
                         Size most) {
  constexpr char kPadding[MAXIMUM_ALIGNOF] = {};
  StringInfoData bytes;
  initStringInfo(&bytes);
  uint64 count = 0;
  appendBinaryStringInfo(&bytes, reinterpret_cast<char*>(&count), kHeader);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  while (static_cast<Size>(bytes.len) <= most && next_answer(answers, slot)) {
    CHECK_FOR_INTERRUPTS();
    if (!is_shown(slot, decisions)) continue;
    const MinimalTuple tuple = flat_tuple(slot, columns);
    const Size length = tuple->t_len;
    if (length > most) break;
    appendBinaryStringInfo(&bytes, reinterpret_cast<char*>(tuple), static_cast<int>(length));
    appendBinaryStringInfo(&bytes, kPadding, static_cast<int>(MAXALIGN(length) - length));
    ++count;
  }
  const bool is_complete = TupIsNull(slot);
  ExecDropSingleTupleTableSlot(slot);
  rewind_answers(answers);
  memcpy(bytes.data, &count, sizeof count);
  if (!is_complete || static_cast<Size>(bytes.len) > most) return {};
  return {bytes.data, static_cast<Size>(bytes.len)};
}

void unpack_answers(KeptAnswers kept, TupleDesc columns, const SortedAnswers& answers) {
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
  uint64 count;
  memcpy(&count, kept.bytes, sizeof count);
  char* next = kept.bytes + kHeader;
  for (; count > 0; --count) {
    auto* tuple = reinterpret_cast<MinimalTuple>(next);
    next += MAXALIGN(tuple->t_len);
    ExecStoreMinimalTuple(tuple, slot, false);
    add_answer(answers, slot);
  }
  ExecDropSingleTupleTableSlot(slot);
}

}  // namespace dpquantile
