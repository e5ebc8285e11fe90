#include "pg/release/answer_bytes.hpp"

#include "core/base/field_reader.hpp"
#include "pg/reuse/answer_columns.hpp"

extern "C" {
#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"
}

namespace dpquantile {

namespace {

// The bytes are fields: what the columns are, then the answers, each after a 1 and with a number
// before each value that says whether it is NULL, then a 0.
constexpr uint64 kNoMoreAnswers = 0;
constexpr uint64 kAnswer = 1;
constexpr uint64 kNull = 0;
constexpr uint64 kValue = 1;

// ---- Columns -------------------------------------------------------------------------------

bool pack_columns(TupleDesc columns, Fields* fields) {
  Fields described = make_fields();
  const bool are_known = add_columns(&described, columns);
  add_bytes(fields, described.bytes.data, static_cast<Size>(described.bytes.len));
  pfree(described.bytes.data);
  return are_known;
}

bool has_columns(FieldReader* fields, TupleDesc columns) {
  Fields described = make_fields();
  const bool are_known = add_columns(&described, columns);
  const std::span<const std::byte> packed = fields->bytes();
  const bool are_same = packed.size() == static_cast<Size>(described.bytes.len) &&
                        memcmp(packed.data(), described.bytes.data, packed.size()) == 0;
  pfree(described.bytes.data);
  return are_known && are_same;
}

// ---- Values --------------------------------------------------------------------------------

// Values are written as they are in memory, without what only says how they are stored. Returns
// false if a value has more than `most` bytes.
bool pack_value(Form_pg_attribute column, Datum value, Size most, Fields* fields) {
  if (column->attbyval) {
    add_number(fields, value);
  } else if (column->attlen > 0) {
    add_bytes(fields, DatumGetPointer(value), static_cast<Size>(column->attlen));
  } else if (column->attlen == -2) {
    add_text(fields, DatumGetCString(value));
  } else {
    if (toast_raw_datum_size(value) > most) return false;
    const auto* plain = PG_DETOAST_DATUM_PACKED(value);
    add_bytes(fields, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
  }
  return true;
}

// In palloc'd memory. Returns false if there is no such value.
bool unpack_value(Form_pg_attribute column, FieldReader* fields, Datum* value) {
  if (column->attbyval) {
    *value = static_cast<Datum>(fields->number());
    return !fields->is_broken();
  }
  const std::span<const std::byte> bytes = fields->bytes();
  if (fields->is_broken() || bytes.size() > MaxAllocSize - VARHDRSZ) return false;
  if (column->attlen > 0 && bytes.size() != static_cast<Size>(column->attlen)) return false;
  const Size header = column->attlen == -1 ? VARHDRSZ : 0;
  auto* copy = static_cast<char*>(palloc0(header + bytes.size() + 1));
  if (column->attlen == -1) SET_VARSIZE(copy, header + bytes.size());
  if (!bytes.empty()) memcpy(copy + header, bytes.data(), bytes.size());
  *value = PointerGetDatum(copy);
  return true;
}

// ---- Answers -------------------------------------------------------------------------------

bool is_shown(const TupleTableSlot* answer, const List* decisions) {
  const ListCell* cell;
  foreach (cell, decisions) {
    const int column = lfirst_int(cell) - 1;
    if (answer->tts_isnull[column] || !DatumGetBool(answer->tts_values[column])) return false;
  }
  return true;
}

// Returns false if a value is too large.
bool pack_answer(const TupleTableSlot* answer, Size most, Fields* fields) {
  const TupleDesc columns = answer->tts_tupleDescriptor;
  add_number(fields, kAnswer);
  for (int i = 0; i < columns->natts; ++i) {
    const bool is_null = answer->tts_isnull[i];
    add_number(fields, is_null ? kNull : kValue);
    if (is_null) continue;
    if (!pack_value(TupleDescAttr(columns, i), answer->tts_values[i], most, fields)) return false;
  }
  return true;
}

// Fills an empty slot of virtual tuples.
bool unpack_answer(FieldReader* fields, TupleTableSlot* answer) {
  const TupleDesc columns = answer->tts_tupleDescriptor;
  for (int i = 0; i < columns->natts; ++i) {
    const uint64 kind = fields->number();
    answer->tts_isnull[i] = kind == kNull;
    answer->tts_values[i] = Datum{0};
    if (kind == kNull && !fields->is_broken()) continue;
    if (kind != kValue) return false;
    if (!unpack_value(TupleDescAttr(columns, i), fields, &answer->tts_values[i])) return false;
  }
  ExecStoreVirtualTuple(answer);
  return true;
}

[[noreturn]] void refuse_damaged() {
  ereport(ERROR,
          (errcode(ERRCODE_DATA_CORRUPTED), errmsg("the kept answers of the query are damaged"),
           errdetail("Nothing was charged."),
           errhint("SET dpquantile.reuse = off asks for a fresh answer.")));
}

}  // namespace

KeptAnswers pack_answers(const SortedAnswers& answers, TupleDesc columns, const List* decisions,
                         Size most) {
  Fields fields = make_fields();
  if (!pack_columns(columns, &fields)) return {};
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  bool fits = true;
  while (fits && next_answer(answers, slot)) {
    CHECK_FOR_INTERRUPTS();
    if (!is_shown(slot, decisions)) continue;
    fits = pack_answer(slot, most, &fields) && static_cast<Size>(fields.bytes.len) <= most;
  }
  ExecDropSingleTupleTableSlot(slot);
  rewind_answers(answers);
  add_number(&fields, kNoMoreAnswers);
  if (!fits || static_cast<Size>(fields.bytes.len) > most) return {};
  return {fields.bytes.data, static_cast<Size>(fields.bytes.len)};
}

bool unpack_answers(KeptAnswers kept, TupleDesc columns, const SortedAnswers& answers) {
  FieldReader fields(std::as_bytes(std::span(kept.bytes, kept.size)));
  if (!has_columns(&fields, columns)) return false;
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  MemoryContext values =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile kept answer", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(values);
  uint64 next = fields.number();
  for (; next == kAnswer; next = fields.number()) {
    CHECK_FOR_INTERRUPTS();
    ExecClearTuple(slot);
    MemoryContextReset(values);
    if (!unpack_answer(&fields, slot)) refuse_damaged();
    MemoryContextSwitchTo(previous);
    add_answer(answers, slot);
    MemoryContextSwitchTo(values);
  }
  if (next != kNoMoreAnswers || !fields.is_at_end()) refuse_damaged();
  MemoryContextSwitchTo(previous);
  ExecDropSingleTupleTableSlot(slot);
  MemoryContextDelete(values);
  return true;
}

}  // namespace dpquantile
