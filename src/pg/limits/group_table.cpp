#include "pg/limits/group_table.hpp"

#include "core/base/vector_hash.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
}

namespace dpquantile {

// One without a group is full of zeros.
struct GroupEntry {
  uint64 hash;
  Group* group;
};

namespace {

constexpr Size kGroupsOfBlock = 64;
constexpr Size kFirstEntries = 128;

GroupColumn column_of(TupleDesc columns, int number) {
  const FormData_pg_attribute* column = TupleDescAttr(columns, number);
  return {number, column->attlen, column->attbyval};
}

// Whether the key is one (GroupKey). ORDER BY k USING an operator of one's own groups by the
// equality that goes with it, which may not be that of the type.
bool is_number(TupleDesc columns, const GroupKey& key, Oid equality) {
  const Oid type = TupleDescAttr(columns, key.column.number)->atttypid;
  return key.column.by_value && is_bytewise(type, key.collation) &&
         lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr == equality;
}

GroupKey make_key(const Agg* grouping, TupleDesc columns, int number) {
  GroupKey key{};
  key.column = column_of(columns, grouping->grpColIdx[number] - 1);
  key.collation = grouping->grpCollations[number];
  const Oid equality = grouping->grpOperators[number];
  key.is_number = is_number(columns, key, equality);
  Oid hash;
  Oid of_right;
  if (!get_op_hash_functions(equality, &hash, &of_right)) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("the keys of the groups cannot be hashed by operator %u", equality)));
  }
  fmgr_info(hash, &key.hash);
  fmgr_info(get_opcode(equality), &key.equal);
  return key;
}

// ---- Keys ----------------------------------------------------------------------------------

// Only the bytes that the type has.
uint64 number_of_key(const GroupKey* key, Datum value) {
  switch (key->column.length) {
    case sizeof(uint8):
      return DatumGetUInt8(value);
    case sizeof(uint16):
      return DatumGetUInt16(value);
    case sizeof(uint32):
      return DatumGetUInt32(value);
    default:
      return value;
  }
}

uint64 hash_of_key(GroupKey* key, Datum value) {
  if (key->is_number) return number_of_key(key, value);
  return DatumGetUInt32(FunctionCall1Coll(&key->hash, key->collation, value));
}

NullableDatum value_of_row(const TupleTableSlot* row, int column) {
  return {row->tts_values[column], row->tts_isnull[column]};
}

// A key of a group, which is not stored elsewhere, nor compressed.
Datum copy_of_key(const GroupColumn& column, Datum value) {
  if (column.length != -1) return datumCopy(value, column.by_value, column.length);
  return PointerGetDatum(pg_detoast_datum_copy(as<varlena>(DatumGetPointer(value))));
}

// Whether the bytes of a key of a group and of a row are the same, however long their headers are:
// which of the rows of a group came first decides nothing.
bool look_the_same(const GroupColumn& column, Datum one, Datum other) {
  if (column.length != -1) return datumIsEqual(one, other, column.by_value, column.length);
  const void* bytes = DatumGetPointer(one);
  const void* others = DatumGetPointer(other);
  const bool is_stored_otherwise = VARATT_IS_EXTERNAL(others) || VARATT_IS_COMPRESSED(others);
  return !is_stored_otherwise && VARSIZE_ANY_EXHDR(bytes) == VARSIZE_ANY_EXHDR(others) &&
         memcmp(VARDATA_ANY(bytes), VARDATA_ANY(others), VARSIZE_ANY_EXHDR(bytes)) == 0;
}

// The first is of a group.
bool are_equal(GroupKey* key, NullableDatum one, NullableDatum other) {
  if (one.isnull || other.isnull) return one.isnull && other.isnull;
  if (key->is_number) return number_of_key(key, one.value) == number_of_key(key, other.value);
  // What looks the same is equal.
  if (look_the_same(key->column, one.value, other.value)) return true;
  return DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, one.value, other.value));
}

NullableDatum* values_of(const GroupTable* table, const Group* group) {
  return reinterpret_cast<NullableDatum*>(const_cast<Group*>(group) + table->state_count);
}

bool has_keys(GroupTable* table, const Group* group, const TupleTableSlot* row) {
  const NullableDatum* values = values_of(table, group);
  for (int i = 0; i < table->key_count; ++i) {
    GroupKey* key = &table->keys[i];
    if (!are_equal(key, values[i], value_of_row(row, key->column.number))) return false;
  }
  return true;
}

// ---- Groups --------------------------------------------------------------------------------

// An entry without a group, for one with this hash.
GroupEntry* free_entry(const GroupTable* table, uint64 hash) {
  const Size mask = table->size - 1;
  Size entry = hash & mask;
  while (table->entries[entry].group != nullptr) entry = (entry + 1) & mask;
  return &table->entries[entry];
}

void make_entries(GroupTable* table, Size size) {
  table->entries = static_cast<GroupEntry*>(MemoryContextAllocExtended(
      table->memory, size * sizeof(GroupEntry), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  table->size = size;
}

void grow_entries(GroupTable* table) {
  GroupEntry* entries = table->entries;
  const Size size = table->size;
  make_entries(table, 2 * size);
  for (Size i = 0; i < size; ++i) {
    if (entries[i].group != nullptr) *free_entry(table, entries[i].hash) = entries[i];
  }
  pfree(entries);
}

Size size_of_group(const GroupTable* table) {
  return static_cast<Size>(table->state_count) * sizeof(Group) +
         static_cast<Size>(table->column_count) * sizeof(NullableDatum);
}

Group* place_of_group(const GroupTable* table, Size number) {
  return reinterpret_cast<Group*>(table->blocks[number / kGroupsOfBlock] +
                                  number % kGroupsOfBlock * size_of_group(table));
}

void add_block(GroupTable* table) {
  const Size number = table->count / kGroupsOfBlock;
  if (number == table->block_room) {
    table->block_room *= 2;
    table->blocks =
        static_cast<char**>(repalloc_huge(table->blocks, table->block_room * sizeof(char*)));
  }
  table->blocks[number] = static_cast<char*>(
      MemoryContextAllocHuge(table->memory, kGroupsOfBlock * size_of_group(table)));
}

Group* new_group(GroupTable* table) {
  if (table->count % kGroupsOfBlock == 0) add_block(table);
  return place_of_group(table, table->count++);
}

}  // namespace

GroupTable make_group_table(const Agg* grouping, TupleDesc columns, const List* shown,
                            int state_count) {
  GroupTable table{};
  table.key_count = grouping->numCols;
  table.column_count = table.key_count + list_length(shown);
  table.state_count = state_count;
  table.has_only_numbers = true;
  table.keys =
      static_cast<GroupKey*>(palloc0(static_cast<Size>(table.key_count) * sizeof(GroupKey) + 1));
  table.columns = static_cast<GroupColumn*>(
      palloc0(static_cast<Size>(table.column_count) * sizeof(GroupColumn) + 1));
  for (int i = 0; i < table.key_count; ++i) {
    table.keys[i] = make_key(grouping, columns, i);
    table.columns[i] = table.keys[i].column;
    table.last_key = Max(table.last_key, table.columns[i].number + 1);
    if (!table.keys[i].is_number) table.has_only_numbers = false;
  }
  int column = table.key_count;
  for (const int number : each_int(shown)) table.columns[column++] = column_of(columns, number);
  return table;
}

void begin_groups(GroupTable* table, MemoryContext memory) {
  table->memory = memory;
  table->count = 0;
  table->block_room = 1;
  table->blocks = static_cast<char**>(MemoryContextAlloc(memory, sizeof(char*)));
  make_entries(table, kFirstEntries);
}

// NULL is a key as others, and has the hash of none.
uint64 hash_of_keys(GroupTable* table, const TupleTableSlot* row) {
  uint64 hash = table->seed;
  for (int i = 0; i < table->key_count; ++i) {
    GroupKey* key = &table->keys[i];
    const NullableDatum value = value_of_row(row, key->column.number);
    hash = scattered(value.isnull ? scattered(hash) : hash ^ hash_of_key(key, value.value));
  }
  return hash;
}

Group* find_group(GroupTable* table, uint64 hash, const TupleTableSlot* row) {
  const Size mask = table->size - 1;
  for (Size i = hash & mask;; i = (i + 1) & mask) {
    const GroupEntry& entry = table->entries[i];
    if (entry.group == nullptr) return nullptr;
    if (entry.hash == hash && has_keys(table, entry.group, row)) return entry.group;
  }
}

Group* add_group(GroupTable* table, uint64 hash, TupleTableSlot* row) {
  if (2 * (table->count + 1) > table->size) grow_entries(table);
  Group* group = new_group(table);
  NullableDatum* values = values_of(table, group);
  const MemoryContext previous = MemoryContextSwitchTo(table->memory);
  for (int i = 0; i < table->column_count; ++i) {
    const GroupColumn& column = table->columns[i];
    values[i].value = slot_getattr(row, column.number + 1, &values[i].isnull);
    if (values[i].isnull) continue;
    values[i].value = i < table->key_count
                          ? copy_of_key(column, values[i].value)
                          : datumCopy(values[i].value, column.by_value, column.length);
  }
  MemoryContextSwitchTo(previous);
  *free_entry(table, hash) = {hash, group};
  return group;
}

Group* group_of_number(const GroupTable* table, Size number) {
  return place_of_group(table, number);
}

void show_values(const GroupTable* table, const Group* group, TupleTableSlot* row) {
  const NullableDatum* values = values_of(table, group);
  for (int i = 0; i < table->column_count; ++i) {
    row->tts_values[table->columns[i].number] = values[i].value;
    row->tts_isnull[table->columns[i].number] = values[i].isnull;
  }
}

}  // namespace dpquantile
