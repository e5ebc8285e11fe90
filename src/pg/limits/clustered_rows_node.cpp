#include "pg/limits/clustered_rows_node.hpp"

#include <algorithm>
#include <bit>

#include "core/base/vector_hash.hpp"
#include "pg/limits/kept_rows.hpp"
#include "pg/limits/row_partitions.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/tuplesort.h"
}

namespace dpquantile {

namespace {

struct GroupKey {
  int column;  // of the child, from 0
  int kept;    // among those that are kept
  Oid collation;
  int16 length;
  bool by_value;
  bool is_number;  // whether values are equal if and only if their Datums are
  FmgrInfo hash;
  FmgrInfo equal;
};

// A row of a part in memory
struct RowPlace {
  uint32 block;  // among those of the part
  uint32 number;
};

struct KnownGroup {
  uint64 hash;
  RowPlace first;  // a row with its keys
  uint32 rows;     // and later the place of its next row
};

// An entry of the table of groups
struct GroupEntry {
  uint32 bits;    // of the hash
  uint32 number;  // of the group, from 1; 0: none
};

// A vote on what more than half of the rows of a part have: each row is for or against it, and at
// zero the next row is for itself. What more than half have stays.
struct Majority {
  uint64 hash;
  Size votes;
};

// Zero before it is set up.
struct ClusteredRowsNode {
  CustomScanState scan;
  PlanState* child;
  ClusteredRowsPlan plan;
  Bitmapset* left_out;  // columns that are not kept, from 0
  GroupKey* keys;
  int key_count;
  bool has_references;    // whether a key is no value of its own
  bool has_only_numbers;  // whether all keys are numbers (GroupKey)
  MemoryContext memory;   // of the rows; null before they are read
  RowPartitions rows;
  uint64 seed;           // of the hashes
  Majority* majorities;  // of the parts, unless rows come part by part

  // A part that is too large, without its largest group, in parts by further bits of the hashes
  MemoryContext divided_memory;  // null if no part is divided
  RowPartitions divided;
  Majority* divided_majorities;
  bool gives_divided;  // whether rows of these are given
  int divided_part;

  // The part whose rows are given
  int part;
  MemoryContext part_memory;  // of what follows
  const RowBlock** blocks;
  Size block_count;
  KnownGroup* groups;
  Size group_count;
  Size group_room;
  GroupEntry* table;
  Size table_size;   // a power of two
  RowPlace* places;  // of the rows, group by group
  Size count;
  Size next;

  // The same if rows come part by part
  RowCursor cursor;
  Size next_in_block;
  bool has_given_part;
  bool has_begun_part;  // whether the next rescan is for the rows of this part

  // The same if the part is too large: first the rows of its largest group, as they are read
  bool is_large;
  Tuplesortstate* sort;  // of the other rows if the part is of divided ones, else null
  TupleTableSlot* sorted;
  bool has_read_all;
  bool has_largest;        // whether a row of this group has been found
  NullableDatum* largest;  // its keys
};

ClusteredRowsNode* clustered_node(CustomScanState* node) {
  return reinterpret_cast<ClusteredRowsNode*>(node);
}

void prepare_keys(ClusteredRowsNode* node, TupleDesc columns) {
  node->key_count = list_length(node->plan.columns);
  node->has_only_numbers = true;
  node->keys =
      static_cast<GroupKey*>(palloc0(static_cast<Size>(node->key_count) * sizeof(GroupKey)));
  for (int i = 0; i < node->key_count; ++i) {
    GroupKey* key = &node->keys[i];
    key->column = list_nth_int(node->plan.columns, i) - 1;
    key->collation = list_nth_oid(node->plan.collations, i);
    const FormData_pg_attribute* column = TupleDescAttr(columns, key->column);
    key->length = column->attlen;
    key->by_value = column->attbyval;
    key->is_number = key->by_value && is_bytewise(column->atttypid, key->collation);
    if (!key->by_value) node->has_references = true;
    const Oid equality = list_nth_oid(node->plan.equalities, i);
    Oid hash;
    Oid of_right;
    if (!get_op_hash_functions(equality, &hash, &of_right)) {
      ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                      errmsg("the keys of the groups cannot be hashed by operator %u", equality)));
    }
    fmgr_info(hash, &key->hash);
    fmgr_info(get_opcode(equality), &key->equal);
    if (!key->is_number) node->has_only_numbers = false;
  }
}

void begin(CustomScanState* scan, EState* state, int flags) {
  ClusteredRowsNode* node = clustered_node(scan);
  const auto* plan = as<CustomScan>(scan->ss.ps.plan);
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  node->child =
      ExecInitNode(static_cast<Plan*>(linitial(plan->custom_plans)), state, flags & ~kNotNeeded);
  scan->custom_ps = list_make1(node->child);
  node->plan = decode_mark<ClusteredRowsPlan>(plan->custom_private);
  for (const int column : each_int(node->plan.left_out)) {
    node->left_out = bms_add_member(node->left_out, column - 1);
  }
  TupleDesc columns = ExecGetResultType(node->child);
  prepare_keys(node, columns);
  node->sorted = ExecInitExtraTupleSlot(state, columns, &TTSOpsMinimalTuple);
}

// PostgreSQL would allocate megabytes at a time.
MemoryContext make_context(MemoryContext parent, Size bytes) {
  const Size block = std::clamp(std::bit_floor(bytes / 64), Size{ALLOCSET_DEFAULT_INITSIZE},
                                Size{ALLOCSET_DEFAULT_MAXSIZE});
  return AllocSetContextCreate(parent, "dpquantile clustered rows", ALLOCSET_DEFAULT_MINSIZE,
                               ALLOCSET_DEFAULT_INITSIZE, block);
}

Majority* make_majorities(const RowPartitions* rows) {
  return static_cast<Majority*>(palloc0(static_cast<Size>(rows->count) * sizeof(Majority)));
}

// ---- Reading -------------------------------------------------------------------------------

// Only the bytes that the type has.
uint64 number_of_key(const GroupKey* key, Datum value) {
  switch (key->length) {
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

// The hash of some keys and one more. Few groups agree in some bits of it. NULL is a key as others.
uint64 hash_with_key(uint64 hash, GroupKey* key, NullableDatum value) {
  return scattered(hash ^ (value.isnull ? 0 : hash_of_key(key, value.value) + 1));
}

uint64 hash_of_keys(ClusteredRowsNode* node, TupleTableSlot* row) {
  uint64 hash = node->seed;
  for (int i = 0; i < node->key_count; ++i) {
    GroupKey* key = &node->keys[i];
    NullableDatum value;
    value.value = slot_getattr(row, key->column + 1, &value.isnull);
    hash = hash_with_key(hash, key, value);
  }
  return hash;
}

// What a function leaves in memory goes with the next row.
uint64 hash_of_row(ClusteredRowsNode* node, TupleTableSlot* row) {
  if (!node->has_references) return hash_of_keys(node, row);
  ExprContext* expressions = node->scan.ss.ps.ps_ExprContext;
  ResetExprContext(expressions);
  const MemoryContext previous = MemoryContextSwitchTo(expressions->ecxt_per_tuple_memory);
  const uint64 hash = hash_of_keys(node, row);
  MemoryContextSwitchTo(previous);
  return hash;
}

void vote(Majority* majority, uint64 hash) {
  if (majority->votes == 0) majority->hash = hash;
  majority->votes += majority->hash == hash ? 1 : ~Size{0};
}

void read_rows(ClusteredRowsNode* node) {
  while (TupleTableSlot* row = next_row(node)) {
    get_kept_columns(&node->rows, row);
    const uint64 hash = hash_of_row(node, row);
    const int part = part_of_number(&node->rows, hash);
    if (node->majorities != nullptr) vote(&node->majorities[part], hash);
    write_row(&node->rows, part, row, hash);
  }
  end_writing(&node->rows);
}

// ---- The present part ----------------------------------------------------------------------

RowPartitions* present_rows(ClusteredRowsNode* node) {
  return node->gives_divided ? &node->divided : &node->rows;
}

int present_part(const ClusteredRowsNode* node) {
  return node->gives_divided ? node->divided_part : node->part;
}

uint64 hash_of_largest_group(const ClusteredRowsNode* node) {
  const Majority* majorities = node->gives_divided ? node->divided_majorities : node->majorities;
  return majorities[present_part(node)].hash;
}

// ---- The groups of a part ------------------------------------------------------------------

bool are_equal(GroupKey* key, NullableDatum one, NullableDatum other) {
  if (one.isnull || other.isnull) return one.isnull && other.isnull;
  // What looks the same is equal.
  if (key->by_value ? one.value == other.value
                    : datumIsEqual(one.value, other.value, false, key->length)) {
    return true;
  }
  return DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, one.value, other.value));
}

NullableDatum key_of_row(const ClusteredRowsNode* node, int key, const RowBlock* block,
                         Size number) {
  return value_of_row(&node->rows, block, number, node->keys[key].kept);
}

// The hash of the keys of a row. That of numbers takes less time than eight bytes more for each
// row.
uint64 hash_of_kept_row(ClusteredRowsNode* node, const RowBlock* block, Size number) {
  if (node->rows.has_numbers) return user_of_row(&node->rows, block, number);
  uint64 hash = node->seed;
  for (int i = 0; i < node->key_count; ++i) {
    hash = hash_with_key(hash, &node->keys[i], key_of_row(node, i, block, number));
  }
  return hash;
}

bool have_same_keys(ClusteredRowsNode* node, RowPlace one, const RowBlock* block, Size number) {
  const RowBlock* block_of_one = node->blocks[one.block];
  for (int i = 0; i < node->key_count; ++i) {
    if (!are_equal(&node->keys[i], key_of_row(node, i, block_of_one, one.number),
                   key_of_row(node, i, block, number))) {
      return false;
    }
  }
  return true;
}

// The part is chosen by the highest bits of a hash, the entry by the lowest.
uint32 bits_in_table(uint64 hash) {
  return static_cast<uint32>(hash >> 24);
}

// An entry without a group, for one with this hash.
GroupEntry* free_entry(ClusteredRowsNode* node, uint64 hash) {
  const Size mask = node->table_size - 1;
  Size entry = hash & mask;
  while (node->table[entry].number != 0) entry = (entry + 1) & mask;
  return &node->table[entry];
}

void make_table(ClusteredRowsNode* node, Size size) {
  node->table = static_cast<GroupEntry*>(MemoryContextAllocExtended(
      CurrentMemoryContext, size * sizeof(GroupEntry), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  node->table_size = size;
}

void grow_table(ClusteredRowsNode* node) {
  pfree(node->table);
  make_table(node, 2 * node->table_size);
  for (Size i = 0; i < node->group_count; ++i) {
    const uint64 hash = node->groups[i].hash;
    *free_entry(node, hash) = {bits_in_table(hash), static_cast<uint32>(i + 1)};
  }
}

uint32 add_group(ClusteredRowsNode* node, uint64 hash, RowPlace row) {
  if (2 * (node->group_count + 1) > node->table_size) grow_table(node);
  if (node->group_count == node->group_room) {
    node->group_room *= 2;
    node->groups = static_cast<KnownGroup*>(
        repalloc_huge(node->groups, node->group_room * sizeof(KnownGroup)));
  }
  node->groups[node->group_count++] = {hash, row, 0};
  const auto number = static_cast<uint32>(node->group_count);
  *free_entry(node, hash) = {bits_in_table(hash), number};
  return number - 1;
}

uint32 group_of_row(ClusteredRowsNode* node, uint32 block_number, uint32 number) {
  const RowBlock* block = node->blocks[block_number];
  const uint64 hash = hash_of_kept_row(node, block, number);
  const Size mask = node->table_size - 1;
  for (Size i = hash & mask;; i = (i + 1) & mask) {
    const GroupEntry entry = node->table[i];
    if (entry.number == 0) return add_group(node, hash, {block_number, number});
    if (entry.bits == bits_in_table(hash) &&
        have_same_keys(node, node->groups[entry.number - 1].first, block, number)) {
      return entry.number - 1;
    }
  }
}

void list_blocks(ClusteredRowsNode* node) {
  RowPartitions* rows = present_rows(node);
  Size count = 0;
  RowCursor cursor = cursor_of_part(rows, present_part(node));
  while (next_block(rows, &cursor)) ++count;
  node->blocks = array_of<const RowBlock*>(count);
  node->block_count = 0;
  cursor = cursor_of_part(rows, present_part(node));
  while (next_block(rows, &cursor)) node->blocks[node->block_count++] = cursor.block;
}

uint32* groups_of_rows(ClusteredRowsNode* node) {
  constexpr Size kFewGroups = 512;
  node->group_count = 0;
  node->group_room = kFewGroups;
  node->groups = array_of<KnownGroup>(kFewGroups);
  make_table(node, 2 * kFewGroups);
  auto* groups = array_of<uint32>(node->count);
  Size row = 0;
  for (uint32 block = 0; block < node->block_count; ++block) {
    CHECK_FOR_INTERRUPTS();
    const auto count = static_cast<uint32>(node->blocks[block]->rows);
    for (uint32 number = 0; number < count; ++number, ++row) {
      groups[row] = group_of_row(node, block, number);
      ++node->groups[groups[row]].rows;
    }
  }
  return groups;
}

// Puts the rows into the order of their groups, of which each has a stretch of places.
void place_rows(ClusteredRowsNode* node, const uint32* groups) {
  uint32 begin = 0;
  for (Size i = 0; i < node->group_count; ++i) {
    const uint32 count = node->groups[i].rows;
    node->groups[i].rows = begin;
    begin += count;
  }
  node->places = array_of<RowPlace>(node->count);
  for (uint32 block = 0; block < node->block_count; ++block) {
    CHECK_FOR_INTERRUPTS();
    const auto count = static_cast<uint32>(node->blocks[block]->rows);
    for (uint32 number = 0; number < count; ++number) {
      node->places[node->groups[*groups++].rows++] = {block, number};
    }
  }
}

void cluster_in_memory(ClusteredRowsNode* node) {
  list_blocks(node);
  uint32* groups = groups_of_rows(node);
  place_rows(node, groups);
  pfree(groups);
  pfree(node->table);
  pfree(node->groups);
}

// ---- A part that is too large --------------------------------------------------------------

Tuplesortstate* begin_sort(const ClusteredRowsNode* node) {
  const auto count = static_cast<Size>(node->key_count);
  auto* columns = array_of<AttrNumber>(count);
  auto* orders = array_of<Oid>(count);
  auto* collations = array_of<Oid>(count);
  auto* nulls_first = static_cast<bool*>(palloc0(count * sizeof(bool)));
  for (int i = 0; i < node->key_count; ++i) {
    columns[i] = static_cast<AttrNumber>(node->keys[i].column + 1);
    orders[i] = list_nth_oid(node->plan.orders, i);
    collations[i] = node->keys[i].collation;
  }
  const auto kilobytes = static_cast<int>(Min(node->rows.most_read / 1024, Size{MAX_KILOBYTES}));
  return tuplesort_begin_heap(node->rows.columns, node->key_count, columns, orders, collations,
                              nulls_first, kilobytes, nullptr, TUPLESORT_NONE);
}

void read_into_slot(const ClusteredRowsNode* node, const RowBlock* block, Size number,
                    TupleTableSlot* slot) {
  ExecClearTuple(slot);
  read_row(&node->rows, block, number, slot->tts_values, slot->tts_isnull);
  ExecStoreVirtualTuple(slot);
}

RowStorage storage_with_hashes(const ClusteredRowsNode* node, Size bytes) {
  RowStorage storage = storage_within(bytes);
  storage.has_numbers = !node->has_only_numbers;
  return storage;
}

// Its parts have blocks for rows to come, which take half of what is read of a part.
void begin_division(ClusteredRowsNode* node) {
  node->divided_memory = make_context(node->memory, 4 * node->rows.most_read);
  const MemoryContext previous = MemoryContextSwitchTo(node->divided_memory);
  make_partitions(&node->divided, node->rows.columns, node->left_out,
                  storage_with_hashes(node, 4 * node->rows.most_read), node->divided_memory);
  node->divided.memory_left = 0;
  node->divided.most_read = node->rows.most_read;
  node->divided_majorities = make_majorities(&node->divided);
  MemoryContextSwitchTo(previous);
}

void end_division(ClusteredRowsNode* node) {
  node->gives_divided = false;
  if (node->divided_memory == nullptr) return;
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  close_partitions(&node->divided);
  MemoryContextDelete(node->divided_memory);
  node->divided_memory = nullptr;
}

// Puts a row that is not in the largest group of its part aside.
void divide_or_sort(ClusteredRowsNode* node, uint64 hash, TupleTableSlot* row) {
  if (node->sort != nullptr) return tuplesort_puttupleslot(node->sort, row);
  const auto parts = static_cast<uint64>(node->rows.count);
  const int part = part_of_number(&node->divided, hash * parts);
  vote(&node->divided_majorities[part], hash);
  write_row(&node->divided, part, row, hash);
}

void begin_large_part(ClusteredRowsNode* node) {
  node->is_large = true;
  node->count = 0;
  if (node->gives_divided) {
    node->sort = begin_sort(node);
  } else {
    begin_division(node);
  }
  node->cursor = cursor_of_part(present_rows(node), present_part(node));
  node->next_in_block = 0;
  node->has_read_all = false;
  node->has_largest = false;
  node->largest = array_of<NullableDatum>(static_cast<Size>(node->key_count));
}

void end_sort(ClusteredRowsNode* node) {
  if (node->sort == nullptr) return;
  ExecClearTuple(node->sorted);
  tuplesort_end(node->sort);
  node->sort = nullptr;
}

void keep_keys(ClusteredRowsNode* node, const RowBlock* block, Size number) {
  const MemoryContext previous = MemoryContextSwitchTo(node->part_memory);
  for (int i = 0; i < node->key_count; ++i) {
    const GroupKey* key = &node->keys[i];
    NullableDatum* kept = &node->largest[i];
    *kept = key_of_row(node, i, block, number);
    if (!kept->isnull) kept->value = datumCopy(kept->value, key->by_value, key->length);
  }
  MemoryContextSwitchTo(previous);
  node->has_largest = true;
}

bool is_in_largest_group(ClusteredRowsNode* node, const RowBlock* block, Size number) {
  if (hash_of_kept_row(node, block, number) != hash_of_largest_group(node)) return false;
  if (!node->has_largest) keep_keys(node, block, number);
  for (int i = 0; i < node->key_count; ++i) {
    if (!are_equal(&node->keys[i], node->largest[i], key_of_row(node, i, block, number))) {
      return false;
    }
  }
  return true;
}

// Fills the slot with the next row of the largest group, and puts those before it aside. False
// after the last.
bool read_largest_group(ClusteredRowsNode* node, TupleTableSlot* slot) {
  do {
    while (node->cursor.block != nullptr && node->next_in_block < node->cursor.block->rows) {
      const Size number = node->next_in_block++;
      const bool is_in_it = is_in_largest_group(node, node->cursor.block, number);
      read_into_slot(node, node->cursor.block, number, slot);
      if (is_in_it) return true;
      divide_or_sort(node, hash_of_kept_row(node, node->cursor.block, number), slot);
    }
    CHECK_FOR_INTERRUPTS();
    node->next_in_block = 0;
  } while (next_block(present_rows(node), &node->cursor));
  return false;
}

// Null after the last row that is not divided.
TupleTableSlot* give_row_of_large_part(ClusteredRowsNode* node) {
  TupleTableSlot* slot = node->scan.ss.ss_ScanTupleSlot;
  if (!node->has_read_all) {
    if (read_largest_group(node, slot)) return slot;
    node->has_read_all = true;
    if (node->sort != nullptr) tuplesort_performsort(node->sort);
  }
  ExecClearTuple(slot);
  if (node->sort == nullptr) return nullptr;
  if (!tuplesort_gettupleslot(node->sort, true, false, node->sorted, nullptr)) return nullptr;
  slot_getallattrs(node->sorted);
  const auto columns = static_cast<Size>(node->rows.columns->natts);
  memcpy(slot->tts_values, node->sorted->tts_values, columns * sizeof(Datum));
  memcpy(slot->tts_isnull, node->sorted->tts_isnull, columns * sizeof(bool));
  return ExecStoreVirtualTuple(slot);
}

// ---- Part by part --------------------------------------------------------------------------

void begin_to_give_part(ClusteredRowsNode* node, int part) {
  node->part = part;
  node->cursor = cursor_of_part(&node->rows, part);
  node->next_in_block = 0;
  node->has_given_part = false;
}

// Goes to the next block of the part that has a row. False after the last, as often as it is asked.
bool find_block(ClusteredRowsNode* node) {
  while (!node->has_given_part &&
         (node->cursor.block == nullptr || node->next_in_block == node->cursor.block->rows)) {
    CHECK_FOR_INTERRUPTS();
    node->next_in_block = 0;
    node->has_given_part = !next_block(&node->rows, &node->cursor);
  }
  return !node->has_given_part;
}

// Fills the slot. Null after the last row of the part.
TupleTableSlot* give_row_of_part(ClusteredRowsNode* node) {
  TupleTableSlot* slot = node->scan.ss.ss_ScanTupleSlot;
  if (!find_block(node)) {
    ExecClearTuple(slot);
    return nullptr;
  }
  if (TupIsNull(slot)) ExecStoreVirtualTuple(slot);
  read_row(&node->rows, node->cursor.block, node->next_in_block++, slot->tts_values,
           slot->tts_isnull);
  return slot;
}

// ---- Giving --------------------------------------------------------------------------------

void begin_to_give(ClusteredRowsNode* node) {
  RowPartitions* rows = present_rows(node);
  const int part = present_part(node);
  node->count = count_rows(rows, part);
  node->next = 0;
  node->is_large = false;
  MemoryContextReset(node->part_memory);
  if (node->count == 0) return;
  const MemoryContext previous = MemoryContextSwitchTo(node->part_memory);
  begin_part(rows, part);
  if (is_in_memory(rows, part)) {
    cluster_in_memory(node);
  } else {
    begin_large_part(node);
  }
  MemoryContextSwitchTo(previous);
}

// Goes to the part after the present one, or to the first of those into which that is divided.
// False after the last.
bool find_next_part(ClusteredRowsNode* node) {
  if (node->gives_divided && ++node->divided_part < node->divided.count) return true;
  if (node->divided_memory != nullptr && !node->gives_divided) {
    end_writing(&node->divided);
    node->gives_divided = true;
    node->divided_part = 0;
    return true;
  }
  end_division(node);
  return node->part++ < node->rows.count;
}

bool begin_next_part(ClusteredRowsNode* node) {
  if (node->part > node->rows.count) return false;
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  end_sort(node);
  forget_part(present_rows(node), present_part(node));
  if (!find_next_part(node)) return false;
  begin_to_give(node);
  return true;
}

// The answers of the groups take a part of the memory while rows are given, at most half. Of what
// is left the blocks that get rows take a quarter, full ones a quarter, and the part that is given
// a half: its rows, and what is found of them.
void leave_room_for_answers(RowPartitions* rows, Size bytes) {
  const Size answers = Min(static_cast<Size>(answer_memory()) * 1024, bytes / 2);
  rows->memory_left = (bytes - answers) / 4;
  rows->most_read = (bytes - answers) / 4;
}

// As many parts as there can be, so that few states are in memory. A block of 8 kB is read from the
// file at once, and takes too much of a small memory.
RowStorage storage_of_parts(Size bytes) {
  constexpr Size kPage = BLCKSZ;
  return {kMostParts, bytes, bytes / 8 >= kMostParts * kPage ? kPage : kPage / 2, false};
}

void make_parts(ClusteredRowsNode* node) {
  const bool in_parts = node->plan.in_parts;
  const Size bytes = memory_of_clustered_rows();
  node->memory = make_context(node->scan.ss.ps.state->es_query_cxt, bytes);
  node->part_memory = AllocSetContextCreate(node->memory, "dpquantile clustered rows of a part",
                                            ALLOCSET_DEFAULT_SIZES);
  make_partitions(&node->rows, ExecGetResultType(node->child), node->left_out,
                  in_parts ? storage_of_parts(bytes) : storage_with_hashes(node, bytes),
                  node->memory);
  if (!in_parts) leave_room_for_answers(&node->rows, bytes);
}

void read_all(ClusteredRowsNode* node) {
  const bool in_parts = node->plan.in_parts;
  make_parts(node);
  const MemoryContext previous = MemoryContextSwitchTo(node->memory);
  for (int i = 0; i < node->key_count; ++i) {
    node->keys[i].kept = kept_column(&node->rows, node->keys[i].column);
  }
  // Columns that are left out stay NULL.
  ExecStoreAllNullTuple(node->scan.ss.ss_ScanTupleSlot);
  node->seed = in_parts ? draw_number() : 0;
  node->majorities = in_parts ? nullptr : make_majorities(&node->rows);
  read_rows(node);
  MemoryContextSwitchTo(previous);
  node->part = 0;
  in_parts ? begin_to_give_part(node, 0) : begin_to_give(node);
}

// The rows of a group lie anywhere in their part.
constexpr Size kAhead = 8;

void prefetch(const ClusteredRowsNode* node, Size row) {
  if (row >= node->count) return;
  const RowPlace place = node->places[row];
  prefetch_row(&node->rows, node->blocks[place.block], place.number);
}

// Fills the slot. Null after the last row.
TupleTableSlot* give_row(ClusteredRowsNode* node) {
  while (node->next == node->count) {
    TupleTableSlot* row = node->is_large ? give_row_of_large_part(node) : nullptr;
    if (row != nullptr) return row;
    if (!begin_next_part(node)) return nullptr;
  }
  const Size next = node->next++;
  prefetch(node, next + kAhead);
  const RowPlace place = node->places[next];
  TupleTableSlot* slot = node->scan.ss.ss_ScanTupleSlot;
  if (TupIsNull(slot)) ExecStoreVirtualTuple(slot);
  read_row(&node->rows, node->blocks[place.block], place.number, slot->tts_values,
           slot->tts_isnull);
  return slot;
}

TupleTableSlot* execute(CustomScanState* scan) {
  ClusteredRowsNode* node = clustered_node(scan);
  if (node->memory == nullptr) read_all(node);
  return projected(scan, node->plan.in_parts ? give_row_of_part(node) : give_row(node));
}

void rescan(CustomScanState* scan) {
  ClusteredRowsNode* node = clustered_node(scan);
  if (node->has_begun_part) {
    node->has_begun_part = false;
    return;
  }
  end_sort(node);
  end_division(node);
  read_again(node);
}

void end(CustomScanState* scan) {
  end_sort(clustered_node(scan));
  end_division(clustered_node(scan));
  end_reading(clustered_node(scan));
}

const CustomExecMethods kExecMethods =
    custom_methods(kClusteredRowsName, begin, execute, end, rescan);

Node* make_clustered_rows_node(CustomScan*) {
  return make_custom_state<ClusteredRowsNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kClusteredRowsName, make_clustered_rows_node};

// The node below a grouping, if its rows come part by part; otherwise null.
ClusteredRowsNode* parts_below(PlanState* grouping) {
  PlanState* rows = IsA(grouping, AggState) ? outerPlanState(grouping) : nullptr;
  if (rows == nullptr || !IsA(rows, CustomScanState) ||
      as<CustomScanState>(rows)->methods != &kExecMethods) {
    return nullptr;
  }
  ClusteredRowsNode* node = clustered_node(as<CustomScanState>(rows));
  return node->plan.in_parts ? node : nullptr;
}

// PostgreSQL's Agg makes its groups anew if a parameter below it has changed. This number is that
// of none.
void change_rows(ClusteredRowsNode* node) {
  PlanState* plan = &node->scan.ss.ps;
  const int none = list_length(plan->state->es_plannedstmt->paramExecTypes);
  plan->chgParam = bms_add_member(plan->chgParam, none);
}

}  // namespace

bool groups_parts(PlanState* grouping) {
  return parts_below(grouping) != nullptr;
}

bool group_next_part(PlanState* grouping) {
  ClusteredRowsNode* node = parts_below(grouping);
  if (node == nullptr || node->part + 1 >= node->rows.count) return false;
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  forget_part(&node->rows, node->part);
  begin_to_give_part(node, node->part + 1);
  node->has_begun_part = true;
  change_rows(node);
  ExecReScan(grouping);
  return true;
}

void group_all_parts_again(PlanState* grouping) {
  ClusteredRowsNode* node = parts_below(grouping);
  if (node != nullptr) change_rows(node);
}

void ClusteredRowsPlan::each_field(MarkFields* fields) {
  fields->list("columns", T_IntList, &columns);
  fields->list("equalities", T_OidList, &equalities, list_length(columns));
  fields->list("orders", T_OidList, &orders, list_length(columns));
  fields->list("collations", T_OidList, &collations, list_length(columns));
  fields->truth("in_parts", &in_parts);
  fields->list("left_out", T_IntList, &left_out);
}

const CustomScanMethods* clustered_rows_methods() {
  return &kScanMethods;
}

void install_clustered_rows_node() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
