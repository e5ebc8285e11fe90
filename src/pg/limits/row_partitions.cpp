#include "pg/limits/row_partitions.hpp"

#include <algorithm>
#include <bit>

#include "core/base/cache_line.hpp"
#include "pg/server/aligned_memory.hpp"

extern "C" {
#include "access/tupmacs.h"
#include "commands/tablespace.h"
#include "utils/expandeddatum.h"
}

namespace dpquantile {

// What the next row needs is in one line of the processor's cache.
struct alignas(kCacheLine) RowPart {
  RowBlock* writes;  // the block that gets rows, or null
  char* free_from;   // in this block; null if there is none
  char* free_to;
  Size rows;
  RowBlock* blocks;  // full ones in memory
  StoredBlock
      stored;  // the block on disk that was written last; it has the place of the one before
  Size stored_bytes;
};
static_assert(sizeof(RowPart) == kCacheLine);

struct RowColumn {
  int number;  // among all columns, from 0
  int16 length;
  bool by_value;
  Size offset;  // of the value in a row
};

namespace {

constexpr Size kSmallBlock = 1024;
constexpr Size kLargeBlock = 4096;

// ---- Values --------------------------------------------------------------------------------

bool is_expanded(int16 length, Datum value) {
  return length == -1 && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value));
}

Size size_of(int16 length, Datum value) {
  if (is_expanded(length, value)) return EOH_get_flat_size(DatumGetEOHP(value));
  if (length == -1) return VARSIZE_ANY(DatumGetPointer(value));
  if (length == -2) return strlen(DatumGetCString(value)) + 1;
  return static_cast<Size>(length);
}

void copy_value(int16 length, Datum value, char* place, Size size) {
  if (is_expanded(length, value)) {
    EOH_flatten_into(DatumGetEOHP(value), place, size);
  } else {
    memcpy(place, DatumGetPointer(value), size);
  }
}

template <class Number>
void put(char* place, Number number) {
  memcpy(place, &number, sizeof number);
}

template <class Number>
Number get(const char* place) {
  Number number;
  memcpy(&number, place, sizeof number);
  return number;
}

void put_datum(char* place, Datum value, int16 length) {
  switch (length) {
    case sizeof(char):
      return put(place, DatumGetChar(value));
    case sizeof(int16):
      return put(place, DatumGetInt16(value));
    case sizeof(int32):
      return put(place, DatumGetInt32(value));
    default:
      return put(place, value);
  }
}

Datum get_datum(const char* place, int16 length) {
  switch (length) {
    case sizeof(char):
      return CharGetDatum(get<char>(place));
    case sizeof(int16):
      return Int16GetDatum(get<int16>(place));
    case sizeof(int32):
      return Int32GetDatum(get<int32>(place));
    default:
      return get<Datum>(place);
  }
}

// ---- Rows ----------------------------------------------------------------------------------

// The user, the values one after the other, the flags, and zeros up to a multiple of 8 bytes;
// without the user also without the zeros
void lay_out(RowPartitions* rows, const Bitmapset* left_out) {
  const int columns = rows->columns->natts;
  rows->layout = static_cast<RowColumn*>(palloc(static_cast<Size>(columns) * sizeof(RowColumn)));
  Size offset = rows->has_numbers ? sizeof(uint64) : 0;
  Size references = 0;
  for (int i = 0; i < columns; ++i) {
    if (bms_is_member(i, left_out)) continue;
    const FormData_pg_attribute* column = TupleDescAttr(rows->columns, i);
    rows->layout[rows->kept++] = {i, column->attlen, column->attbyval, offset};
    if (!column->attbyval) ++references;
    rows->kept_columns = i + 1;
    offset += column->attbyval ? static_cast<Size>(column->attlen) : sizeof(Size);
  }
  rows->flags_offset = offset;
  rows->row_size = offset + static_cast<Size>(rows->kept) * sizeof(bool);
  rows->has_references = references > 0;
  if (!rows->has_numbers) return;
  rows->row_size = TYPEALIGN(sizeof(uint64), rows->row_size);
  // The bytes of the row, and two numbers for each reference
  rows->number_count = rows->row_size / sizeof(uint64) + 2 * references;
  rows->numbers = static_cast<uint64*>(palloc(rows->number_count * sizeof(uint64)));
}

Size referred_size(const RowPartitions* rows, const TupleTableSlot* slot) {
  if (!rows->has_references) return 0;
  Size size = 0;
  for (int i = 0; i < rows->kept; ++i) {
    const RowColumn* column = &rows->layout[i];
    if (column->by_value || slot->tts_isnull[column->number]) continue;
    size += MAXALIGN(size_of(column->length, slot->tts_values[column->number]));
  }
  return size;
}

char* begin_of(const RowBlock* block) {
  return reinterpret_cast<char*>(const_cast<RowBlock*>(block));
}

char* place_of_row(const RowPartitions* rows, const RowBlock* block, Size number) {
  return begin_of(block) + MAXALIGN(sizeof(RowBlock)) + number * rows->row_size;
}

NullableDatum value_at(const RowPartitions* rows, const RowBlock* block, const char* row,
                       int kept) {
  if (reinterpret_cast<const bool*>(row + rows->flags_offset)[kept]) return {0, true};
  const RowColumn* column = &rows->layout[kept];
  const char* place = row + column->offset;
  if (column->by_value) return {get_datum(place, column->length), false};
  return {PointerGetDatum(begin_of(block) + get<Size>(place)), false};
}

void put_referred(RowPart* part, char* place, Datum value, int16 length) {
  const Size size = size_of(length, value);
  part->free_to -= MAXALIGN(size);
  copy_value(length, value, part->free_to, size);
  put(place, static_cast<Size>(part->free_to - begin_of(part->writes)));
}

void put_value(RowPart* part, char* row, const RowColumn* column, Datum value, bool is_null) {
  if (column->by_value) {
    put_datum(row + column->offset, is_null ? 0 : value, column->length);
  } else if (is_null) {
    put(row + column->offset, Size{0});
  } else {
    put_referred(part, row + column->offset, value, column->length);
  }
}

void add_to_block(const RowPartitions* rows, RowPart* part, const TupleTableSlot* slot,
                  uint64 user) {
  char* row = part->free_from;
  part->free_from += rows->row_size;
  if (rows->has_numbers) {
    put(row + rows->row_size - sizeof(uint64), uint64{0});
    put(row, user);
  }
  bool* nulls = reinterpret_cast<bool*>(row + rows->flags_offset);
  for (int i = 0; i < rows->kept; ++i) {
    const RowColumn* column = &rows->layout[i];
    nulls[i] = slot->tts_isnull[column->number];
    put_value(part, row, column, slot->tts_values[column->number], nulls[i]);
  }
}

// ---- Blocks --------------------------------------------------------------------------------

void make_file(RowPartitions* rows) {
  if (rows->file != nullptr) return;
  PrepareTempTablespaces();
  const MemoryContext previous = MemoryContextSwitchTo(rows->context);
  rows->file = BufFileCreateTemp(false);
  MemoryContextSwitchTo(previous);
}

// The file is only appended to while rows are written.
void write_to_file(RowPartitions* rows, RowPart* part, RowBlock* block) {
  make_file(rows);
  block->before = part->stored;
  BufFileTell(rows->file, &part->stored.file, &part->stored.offset);
  part->stored.size = static_cast<uint32>(block->size);
  part->stored_bytes += block->size;
  BufFileWrite(rows->file, block, block->size);
}

void keep_in_memory(RowPart* part, RowBlock* block) {
  block->next = part->blocks;
  part->blocks = block;
}

void count_rows_of_block(const RowPartitions* rows, RowPart* part) {
  const char* first = place_of_row(rows, part->writes, 0);
  part->writes->rows = static_cast<Size>(part->free_from - first) / rows->row_size;
  part->writes = nullptr;
  part->free_from = nullptr;
  part->free_to = nullptr;
}

// Keeps a block that gets no more rows. Returns it if it may be used again, and else null.
RowBlock* end_block(RowPartitions* rows, RowPart* part) {
  RowBlock* block = part->writes;
  if (block == nullptr) return nullptr;
  count_rows_of_block(rows, part);
  if (rows->file == nullptr && block->size <= rows->memory_left) {
    rows->memory_left -= block->size;
    keep_in_memory(part, block);
    return nullptr;
  }
  write_to_file(rows, part, block);
  return block;
}

void begin_block(RowPartitions* rows, RowPart* part, Size row) {
  const Size head = MAXALIGN(sizeof(RowBlock));
  const Size last = part->writes == nullptr ? 0 : part->writes->size;
  const Size size = Max(std::clamp(2 * last, kSmallBlock, rows->large_block), head + MAXALIGN(row));
  RowBlock* block = end_block(rows, part);
  if (block == nullptr || block->size != size) {
    if (block != nullptr) pfree(block);
    block = static_cast<RowBlock*>(MemoryContextAllocHuge(rows->context, size));
  }
  *block = {nullptr, {}, size, 0};
  part->writes = block;
  part->free_from = begin_of(block) + head;
  part->free_to = begin_of(block) + size;
}

[[noreturn]] void fail_to_read() {
  ereport(ERROR,
          (errcode_for_file_access(), errmsg("could not read a temporary file of rows: %m")));
}

void read_from_file(RowPartitions* rows, const StoredBlock& place, RowBlock* block) {
  if (BufFileSeek(rows->file, place.file, place.offset, SEEK_SET) != 0) fail_to_read();
  if (BufFileRead(rows->file, block, place.size) != place.size) fail_to_read();
}

RowBlock* block_for_reading(RowPartitions* rows, Size size) {
  if (rows->read_room < size) {
    if (rows->read != nullptr) pfree(rows->read);
    rows->read = nullptr;
    rows->read_room = 0;
    rows->read = static_cast<RowBlock*>(MemoryContextAllocHuge(rows->context, size));
    rows->read_room = size;
  }
  return rows->read;
}

}  // namespace

RowStorage storage_within(Size bytes) {
  constexpr Size kMemoryOfPart = 8 * kLargeBlock;
  const Size parts = std::bit_floor(std::clamp(bytes / kMemoryOfPart, Size{1}, Size{kMostParts}));
  return {static_cast<int>(parts), bytes, kLargeBlock, true};
}

void make_partitions(RowPartitions* rows, TupleDesc columns, const Bitmapset* left_out,
                     const RowStorage& storage, MemoryContext context) {
  *rows = {};
  rows->columns = columns;
  rows->has_numbers = storage.has_numbers;
  rows->context = context;
  rows->large_block = storage.block;
  rows->memory_left = storage.bytes / 2;
  rows->most_read = storage.bytes / 4;
  rows->count = storage.parts;
  const MemoryContext previous = MemoryContextSwitchTo(context);
  lay_out(rows, left_out);
  MemoryContextSwitchTo(previous);
  rows->parts = static_cast<RowPart*>(
      allocate_at_cache_line(context, (static_cast<Size>(rows->count) + 1) * sizeof(RowPart)));
}

void write_row(RowPartitions* rows, int number, TupleTableSlot* slot, uint64 user) {
  if (rows->kept > 0) get_kept_columns(rows, slot);
  RowPart* part = &rows->parts[number];
  const Size size = rows->row_size + referred_size(rows, slot);
  if (static_cast<Size>(part->free_to - part->free_from) < size) begin_block(rows, part, size);
  ++part->rows;
  add_to_block(rows, part, slot, user);
}

void end_writing(RowPartitions* rows) {
  for (int i = 0; i <= rows->count; ++i) {
    RowPart* part = &rows->parts[i];
    RowBlock* block = part->writes;
    if (block == nullptr) continue;
    count_rows_of_block(rows, part);
    keep_in_memory(part, block);
  }
}

Size count_rows(const RowPartitions* rows, int part) {
  return rows->parts[part].rows;
}

void begin_part(RowPartitions* rows, int number) {
  RowPart* part = &rows->parts[number];
  if (part->stored_bytes > rows->most_read) return;
  while (part->stored.size != 0) {
    auto* block = static_cast<RowBlock*>(MemoryContextAllocHuge(rows->context, part->stored.size));
    read_from_file(rows, part->stored, block);
    part->stored = block->before;
    keep_in_memory(part, block);
  }
}

void forget_part(RowPartitions* rows, int number) {
  RowPart* part = &rows->parts[number];
  while (part->blocks != nullptr) {
    RowBlock* block = part->blocks;
    part->blocks = block->next;
    pfree(block);
  }
}

RowCursor cursor_of_part(const RowPartitions* rows, int part) {
  return {&rows->parts[part], nullptr, rows->parts[part].stored, false};
}

bool next_block(RowPartitions* rows, RowCursor* cursor) {
  if (!cursor->is_past_memory) {
    cursor->block = cursor->block == nullptr ? cursor->part->blocks : cursor->block->next;
    if (cursor->block != nullptr) return true;
    cursor->is_past_memory = true;
  }
  if (cursor->stored.size == 0) return false;
  RowBlock* block = block_for_reading(rows, cursor->stored.size);
  read_from_file(rows, cursor->stored, block);
  cursor->stored = block->before;
  cursor->block = block;
  return true;
}

uint64 user_of_row(const RowPartitions* rows, const RowBlock* block, Size number) {
  return get<uint64>(place_of_row(rows, block, number));
}

void hash_row(const RowPartitions* rows, const RowHash* hash, const RowBlock* block, Size number,
              VectorHash* found) {
  const char* row = place_of_row(rows, block, number);
  if (!rows->has_references) {
    *found = hash_numbers(hash, reinterpret_cast<const uint64*>(row), rows->number_count);
    return;
  }
  // The numbers of the values stand for the references.
  char* copy = reinterpret_cast<char*>(rows->numbers);
  uint64* next = rows->numbers + rows->row_size / sizeof(uint64);
  memcpy(rows->numbers, row, rows->row_size);
  const bool* nulls = reinterpret_cast<const bool*>(row + rows->flags_offset);
  for (int i = 0; i < rows->kept; ++i) {
    const RowColumn* column = &rows->layout[i];
    if (column->by_value) continue;
    if (nulls[i]) {
      next[0] = next[1] = 0;
    } else {
      const auto value = PointerGetDatum(begin_of(block) + get<Size>(row + column->offset));
      numbers_of_value(hash, value, column->length, next);
      put(copy + column->offset, Size{0});
    }
    next += 2;
  }
  *found = hash_numbers(hash, rows->numbers, rows->number_count);
}

void read_row(const RowPartitions* rows, const RowBlock* block, Size number, Datum* values,
              bool* nulls) {
  const char* row = place_of_row(rows, block, number);
  for (int i = 0; i < rows->kept; ++i) {
    const int column = rows->layout[i].number;
    const NullableDatum value = value_at(rows, block, row, i);
    values[column] = value.value;
    nulls[column] = value.isnull;
  }
}

void close_partitions(RowPartitions* rows) {
  if (rows->file != nullptr) BufFileClose(rows->file);
  rows->file = nullptr;
}

}  // namespace dpquantile
