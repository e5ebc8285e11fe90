#include "pg/release/answer_bytes.hpp"

#include "core/base/packed_rows.hpp"
#include "pg/reuse/answer_columns.hpp"

extern "C" {
#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"
}

namespace dpquantile {

namespace {

// The bytes are what the columns are, and then the answers as packed rows.

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

PackedForm form_of(Form_pg_attribute column) {
  const bool is_fixed = column->attlen > 0;
  return {column->attbyval, is_fixed ? static_cast<uint64>(column->attlen) : kAnyLength};
}

// In palloc'd memory, with a header of its own. A 0 ends a value that is a C string.
Datum unpack_value(Form_pg_attribute column, const PackedValue& value) {
  if (value.is_null || column->attbyval) return static_cast<Datum>(value.number);
  const Size header = column->attlen == -1 ? VARHDRSZ : 0;
  const Size size = value.bytes.size();
  auto* copy = static_cast<char*>(palloc0(header + size + 1));
  if (header > 0) SET_VARSIZE(copy, header + size);
  if (size > 0) memcpy(copy + header, value.bytes.data(), size);
  return PointerGetDatum(copy);
}

// ---- Answers -------------------------------------------------------------------------------

// Returns false if a value is too large.
bool pack_answer(const TupleTableSlot* answer, Size most, Fields* fields) {
  const TupleDesc columns = answer->tts_tupleDescriptor;
  add_number(fields, kPackedRow);
  for (int i = 0; i < columns->natts; ++i) {
    const bool is_null = answer->tts_isnull[i];
    add_number(fields, is_null ? kPackedNull : kPackedValue);
    if (is_null) continue;
    if (!pack_value(TupleDescAttr(columns, i), answer->tts_values[i], most, fields)) return false;
  }
  return true;
}

// Packed rows as answers.
struct AnswerReader {
  FieldReader fields;
  std::span<PackedForm> forms;
  std::span<PackedValue> values;
};

AnswerReader read_answers(const FieldReader& fields, TupleDesc columns) {
  const auto count = static_cast<Size>(columns->natts);
  AnswerReader reader = {fields,
                         {static_cast<PackedForm*>(palloc(count * sizeof(PackedForm))), count},
                         {static_cast<PackedValue*>(palloc(count * sizeof(PackedValue))), count}};
  for (int i = 0; i < columns->natts; ++i) reader.forms[i] = form_of(TupleDescAttr(columns, i));
  return reader;
}

RowRead next_packed(AnswerReader* reader, TupleTableSlot* answer) {
  ExecClearTuple(answer);
  const RowRead read = read_packed_row(&reader->fields, reader->forms, reader->values);
  if (read != RowRead::kRow) return read;
  const TupleDesc columns = answer->tts_tupleDescriptor;
  for (int i = 0; i < columns->natts; ++i) {
    answer->tts_isnull[i] = reader->values[i].is_null;
    answer->tts_values[i] = unpack_value(TupleDescAttr(columns, i), reader->values[i]);
  }
  ExecStoreVirtualTuple(answer);
  return read;
}

[[noreturn]] void refuse_damaged() {
  ereport(ERROR,
          (errcode(ERRCODE_DATA_CORRUPTED), errmsg("the kept answers of the query are damaged"),
           errdetail("Nothing was charged."),
           errhint("SET dpquantile.reuse = off asks for a fresh answer.")));
}

}  // namespace

KeptAnswers pack_answers(const SortedAnswers& answers, TupleDesc columns, Size most) {
  Fields fields = make_fields();
  if (!pack_columns(columns, &fields)) return {};
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  bool fits = true;
  while (fits && next_answer(answers, slot)) {
    CHECK_FOR_INTERRUPTS();
    fits = pack_answer(slot, most, &fields) && static_cast<Size>(fields.bytes.len) <= most;
  }
  ExecDropSingleTupleTableSlot(slot);
  rewind_answers(answers);
  add_number(&fields, kPackedEnd);
  if (!fits || static_cast<Size>(fields.bytes.len) > most) return {};
  return {fields.bytes.data, static_cast<Size>(fields.bytes.len)};
}

bool unpack_answers(KeptAnswers kept, TupleDesc columns, const SortedAnswers& answers) {
  FieldReader fields(std::as_bytes(std::span(kept.bytes, kept.size)));
  if (!has_columns(&fields, columns)) return false;
  AnswerReader reader = read_answers(fields, columns);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  MemoryContext values =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile kept answer", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(values);
  RowRead read;
  while ((read = next_packed(&reader, slot)) == RowRead::kRow) {
    CHECK_FOR_INTERRUPTS();
    MemoryContextSwitchTo(previous);
    add_answer(answers, slot);
    MemoryContextSwitchTo(values);
    MemoryContextReset(values);
  }
  if (read == RowRead::kBroken) refuse_damaged();
  MemoryContextSwitchTo(previous);
  ExecDropSingleTupleTableSlot(slot);
  MemoryContextDelete(values);
  return true;
}

}  // namespace dpquantile
