#include "pg/limits/limited_rows_node.hpp"

#include <new>

#include "core/base/bytes_hash.hpp"
#include "core/contributions/limited_rows.hpp"
#include "pg/aggregate/row_hash.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/limits/kept_rows.hpp"
#include "pg/limits/row_partitions.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include "commands/explain.h"
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "executor/executor.h"
#include "miscadmin.h"
}

namespace dpquantile {

namespace {

// The rows of a query that uses no value of them: only how many there are matters.
struct RowCounts {
  RowCounts(int most, uint64 secret, MemoryContext context)
      : memory(context),
        limited(static_cast<std::uint64_t>(most), get_hash_memory_limit(), secret, &memory) {}

  ContextMemory memory;
  LimitedCounts limited;
};

// Users that are counted together
constexpr Size kAtOnce = 1024;

// Zero before it is set up.
struct LimitedRowsNode {
  CustomScanState scan;
  PlanState* child;
  AttrNumber user_column;
  int most;
  bool gives_all_rows;
  Bitmapset* left_out;   // columns that are not kept, from 0
  UserHash* user_hash;   // null for EXPLAIN
  bool is_number;        // whether ids stand for themselves
  bool has_bytes;        // whether bytes stand for ids
  MemoryContext memory;  // of the rows; null before they are read
  RowPartitions rows;
  RowHash row_hash;
  BytesHashKey* id_key;  // used if bytes stand for ids
  uint64 seed;           // of the numbers of users
  RowCounts* counts;     // null if rows are kept; those of users without room are kept in any case
  uint64* users;         // kAtOnce
  Size user_count;
  uint64 counted;  // rows that are to be given

  // The part whose rows are given
  int part;
  MemoryContext part_memory;  // of its choices
  const RowChoice* choices;   // null if none is chosen
  const Size* chosen;         // the numbers of the rows that are chosen, unless all are given
  Size chosen_count;
  Size next_chosen;
  RowCursor cursor;
  Size next_in_block;
  Size next_in_part;
  bool is_done;  // whether all rows have been given
};

LimitedRowsNode* limited_node(CustomScanState* node) {
  return reinterpret_cast<LimitedRowsNode*>(node);
}

// The node copies the child's columns to the first of its own.
void require_columns_of_child(const LimitedRowsNode* node) {
  const int columns = node->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts;
  if (columns == ExecGetResultType(node->child)->natts + 1) return;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the rows of each person cannot be limited: the plan has other columns")));
}

void begin(CustomScanState* scan, EState* state, int flags) {
  LimitedRowsNode* node = limited_node(scan);
  const auto* plan = as<CustomScan>(scan->ss.ps.plan);
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  auto* child = static_cast<Plan*>(linitial(plan->custom_plans));
  node->child = ExecInitNode(child, state, flags & ~kNotNeeded);
  scan->custom_ps = list_make1(node->child);
  const auto told = decode_mark<LimitedRowsPlan>(plan->custom_private);
  node->user_column = static_cast<AttrNumber>(told.user_column);
  node->most = told.most;
  node->gives_all_rows = told.gives_all_rows;
  for (const int column : each_int(told.left_out)) {
    node->left_out = bms_add_member(node->left_out, column - 1);
  }
  require_columns_of_child(node);
  if ((flags & EXEC_FLAG_EXPLAIN_ONLY) != 0) return;
  // An error comes before the charge.
  const auto* entry =
      static_cast<const TargetEntry*>(list_nth(plan->custom_scan_tlist, node->user_column - 1));
  node->user_hash = make_user_hash(as<Node>(entry->expr), CurrentMemoryContext);
  node->is_number = stands_for_itself(node->user_hash);
  node->has_bytes = bytes_stand_for_ids(node->user_hash);
}

// ---- Reading -------------------------------------------------------------------------------

void draw_keys(LimitedRowsNode* node) {
  constexpr Size of_ids = sizeof(BytesHashKey) / sizeof(uint64);
  const Size count = of_ids + count_secrets_of_row_hash(node->rows.number_count);
  auto* secrets = static_cast<uint64*>(palloc(count * sizeof(uint64)));
  RandomStream* random = make_query_random(node->memory);
  report(guarded([&] {
    node->seed = random->bits64();
    for (Size i = 0; i < count; ++i) secrets[i] = random->bits64();
  }));
  node->id_key = reinterpret_cast<BytesHashKey*>(secrets);
  node->row_hash = make_row_hash(secrets + of_ids);
}

// What a row leaves in memory goes with the next one.
MemoryContext memory_of_row(LimitedRowsNode* node) {
  ExprContext* expressions = node->scan.ss.ps.ps_ExprContext;
  ResetExprContext(expressions);
  return expressions->ecxt_per_tuple_memory;
}

uint64 hash_of_id(const LimitedRowsNode* node, Datum user) {
  return hash_of_bytes(*node->id_key, bytes_of_user(node->user_hash, user));
}

uint64 hash_in_row_memory(LimitedRowsNode* node, Datum user) {
  const MemoryContext previous = MemoryContextSwitchTo(memory_of_row(node));
  const uint64 hash = node->has_bytes ? hash_of_id(node, user) : hash_user(node->user_hash, user);
  MemoryContextSwitchTo(previous);
  return hash;
}

uint64 unscattered_user(LimitedRowsNode* node, Datum user) {
  if (node->is_number) return integer_of_user(node->user_hash, user);
  if (node->has_bytes && !is_stored_apart(node->user_hash, user)) return hash_of_id(node, user);
  return hash_in_row_memory(node, user);
}

// A number for the user, scattered, so that few users agree in some bits.
uint64 scattered_user(LimitedRowsNode* node, Datum user) {
  return scattered(unscattered_user(node, user) ^ node->seed);
}

void make_counts(LimitedRowsNode* node) {
  auto* counts = static_cast<RowCounts*>(palloc(sizeof(RowCounts)));
  report(guarded([&] { new (counts) RowCounts(node->most, node->seed, node->memory); }));
  node->counts = counts;
  node->users = array_of<uint64>(kAtOnce);
  node->user_count = 0;
}

void count_users(LimitedRowsNode* node) {
  Size without_room = 0;
  report(guarded([&] {
    CancelPoll cancel(cancel_requested);
    without_room = node->counts->limited.count({node->users, node->user_count}, cancel);
  }));
  for (Size i = 0; i < without_room; ++i) {
    const uint64 user = node->users[i];
    write_row(&node->rows, part_of_number(&node->rows, user), nullptr, user);
  }
  node->user_count = 0;
}

void add_row(LimitedRowsNode* node, TupleTableSlot* row, uint64 user) {
  if (node->counts == nullptr) {
    write_row(&node->rows, part_of_number(&node->rows, user), row, user);
    return;
  }
  node->users[node->user_count++] = user;
  if (node->user_count == kAtOnce) count_users(node);
}

void read_rows(LimitedRowsNode* node) {
  while (TupleTableSlot* row = next_row(node)) {
    bool has_none;
    const Datum user = slot_getattr(row, node->user_column, &has_none);
    if (!has_none) {
      add_row(node, row, scattered_user(node, user));
    } else if (node->gives_all_rows) {
      write_row(&node->rows, node->rows.count, row, 0);
    }
  }
  if (node->counts != nullptr) {
    count_users(node);
    node->counted = node->counts->limited.total();
  }
  end_writing(&node->rows);
}

// ---- Choosing ------------------------------------------------------------------------------

uint64* users_of_part(LimitedRowsNode* node, Size count) {
  auto* users = array_of<uint64>(count);
  Size number = 0;
  RowCursor cursor = cursor_of_part(&node->rows, node->part);
  while (next_block(&node->rows, &cursor)) {
    CHECK_FOR_INTERRUPTS();
    for (Size i = 0; i < cursor.block->rows; ++i) {
      users[number++] = user_of_row(&node->rows, cursor.block, i);
    }
  }
  return users;
}

void hash_in_block(LimitedRowsNode* node, const RowBlock* block, Size number, VectorHash* hash) {
  if (!node->rows.has_references) {
    hash_row(&node->rows, &node->row_hash, block, number, hash);
    return;
  }
  const MemoryContext previous = MemoryContextSwitchTo(memory_of_row(node));
  hash_row(&node->rows, &node->row_hash, block, number, hash);
  MemoryContextSwitchTo(previous);
}

// Chooses all rows of a user within the limit. Returns the others, in their places.
HashedRow* hash_beyond_limit(LimitedRowsNode* node, const uint64* users, Size* places,
                             RowChoice* choices, Size beyond) {
  auto* hashed = array_of<HashedRow>(beyond);
  Size number = 0;
  RowCursor cursor = cursor_of_part(&node->rows, node->part);
  while (next_block(&node->rows, &cursor)) {
    CHECK_FOR_INTERRUPTS();
    for (Size i = 0; i < cursor.block->rows; ++i, ++number) {
      Size* place = &places[users[number]];
      if (*place == kWithinLimit) {
        choices[number] = RowChoice::kChosen;
      } else {
        HashedRow* row = &hashed[(*place)++];
        hash_in_block(node, cursor.block, i, &row->hash);
        row->row = number;
      }
    }
  }
  return hashed;
}

const RowChoice* choose_rows(LimitedRowsNode* node, Size count) {
  const auto most = static_cast<std::uint64_t>(node->most);
  uint64* users = users_of_part(node, count);
  auto* places = array_of<Size>(count);
  auto* counts = array_of<Size>(count);
  auto* choices = array_of<RowChoice>(count);
  BeyondLimit beyond{};
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    beyond = count_rows_of_users({users, count}, most, {places, count}, {counts, count},
                                 {cancel, &memory});
  });
  const HashedRow* hashed = hash_beyond_limit(node, users, places, choices, beyond.rows);
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    choose_beyond_limit({hashed, beyond.rows}, {counts, beyond.users}, most, {choices, count},
                        {cancel, &memory});
  });
  return choices;
}

// ---- The rows ------------------------------------------------------------------------------

// To look at each choice when the rows are given would be a branch that cannot be predicted.
void list_chosen(LimitedRowsNode* node, Size count) {
  auto* chosen = array_of<Size>(count);
  Size next = 0;
  for (Size i = 0; i < count; ++i) {
    chosen[next] = i;
    next += static_cast<Size>(node->choices[i] == RowChoice::kChosen);
  }
  node->chosen = chosen;
  node->chosen_count = next;
}

void begin_to_give(LimitedRowsNode* node, int part) {
  node->part = part;
  node->choices = nullptr;
  node->chosen_count = 0;
  node->next_chosen = 0;
  MemoryContextReset(node->part_memory);
  const Size count = count_rows(&node->rows, part);
  if (count > 0) begin_part(&node->rows, part);
  if (count > 0 && part < node->rows.count) {
    const MemoryContext previous = MemoryContextSwitchTo(node->part_memory);
    node->choices = choose_rows(node, count);
    if (!node->gives_all_rows) list_chosen(node, count);
    MemoryContextSwitchTo(previous);
  }
  node->cursor = cursor_of_part(&node->rows, part);
  node->next_in_block = 0;
  node->next_in_part = 0;
}

void read_all(LimitedRowsNode* node) {
  node->memory = AllocSetContextCreate(node->scan.ss.ps.state->es_query_cxt,
                                       "dpquantile limited rows", ALLOCSET_DEFAULT_SIZES);
  node->part_memory = AllocSetContextCreate(node->memory, "dpquantile choices of limited rows",
                                            ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(node->memory);
  make_partitions(&node->rows, ExecGetResultType(node->child), node->left_out,
                  storage_within(static_cast<Size>(drawn_work_memory()) * 1024), node->memory);
  draw_keys(node);
  node->counts = nullptr;
  node->counted = 0;
  node->is_done = false;
  // Columns that are left out stay NULL.
  ExecStoreAllNullTuple(node->scan.ss.ss_ScanTupleSlot);
  if (node->rows.kept == 0 && !node->gives_all_rows) make_counts(node);
  read_rows(node);
  MemoryContextSwitchTo(previous);
  begin_to_give(node, 0);
}

// Goes to the next block that has a row, if necessary of another part. False after the last.
bool find_block(LimitedRowsNode* node) {
  if (node->is_done) return false;
  while (node->cursor.block == nullptr || node->next_in_block == node->cursor.block->rows) {
    CHECK_FOR_INTERRUPTS();
    node->next_in_block = 0;
    if (next_block(&node->rows, &node->cursor)) continue;
    node->is_done = node->part == node->rows.count;
    if (node->is_done) return false;
    forget_part(&node->rows, node->part);
    begin_to_give(node, node->part + 1);
  }
  return true;
}

// A chosen row of which no value is used.
TupleTableSlot* give_counted_row(LimitedRowsNode* node) {
  TupleTableSlot* row = node->scan.ss.ss_ScanTupleSlot;
  --node->counted;
  ExecStoreAllNullTuple(row);
  const int columns = node->rows.columns->natts;
  row->tts_values[columns] = BoolGetDatum(true);
  row->tts_isnull[columns] = false;
  return row;
}

// How many rows there are before the next one that is given.
Size rows_to_skip(const LimitedRowsNode* node) {
  if (node->gives_all_rows) return 0;
  if (node->next_chosen == node->chosen_count) return ~Size{0};
  return node->chosen[node->next_chosen] - node->next_in_part;
}

// Goes to the next row that is given. False after the last.
bool find_row(LimitedRowsNode* node) {
  while (find_block(node)) {
    const Size skipped = rows_to_skip(node);
    const Size left = node->cursor.block->rows - node->next_in_block;
    node->next_in_block += Min(skipped, left);
    node->next_in_part += Min(skipped, left);
    if (skipped < left) return true;
  }
  return false;
}

// Fills the slot. Null after the last row.
TupleTableSlot* give_row(LimitedRowsNode* node) {
  TupleTableSlot* row = node->scan.ss.ss_ScanTupleSlot;
  ExecClearTuple(row);
  if (node->counted > 0) return give_counted_row(node);
  if (!find_row(node)) return nullptr;
  const Size number = node->next_in_part++;
  const bool is_chosen = node->choices != nullptr && node->choices[number] == RowChoice::kChosen;
  ++node->next_chosen;
  read_row(&node->rows, node->cursor.block, node->next_in_block++, row->tts_values,
           row->tts_isnull);
  const int columns = node->rows.columns->natts;
  row->tts_values[columns] = BoolGetDatum(is_chosen);
  row->tts_isnull[columns] = false;
  return ExecStoreVirtualTuple(row);
}

TupleTableSlot* execute(CustomScanState* scan) {
  LimitedRowsNode* node = limited_node(scan);
  if (node->memory == nullptr) read_all(node);
  return projected(scan, give_row(node));
}

void rescan(CustomScanState* scan) {
  read_again(limited_node(scan));
}

void end(CustomScanState* scan) {
  end_reading(limited_node(scan));
}

void explain(CustomScanState* scan, List*, ExplainState* explain) {
  ExplainPropertyInteger("Most Rows of a Person", nullptr, limited_node(scan)->most, explain);
}

const CustomExecMethods kExecMethods =
    custom_methods(kLimitedRowsName, begin, execute, end, rescan, explain);

Node* make_limited_rows_node(CustomScan*) {
  return make_custom_state<LimitedRowsNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kLimitedRowsName, make_limited_rows_node};

}  // namespace

void LimitedRowsPlan::each_field(MarkFields* fields) {
  fields->integer("user_column", &user_column);
  fields->integer("most", &most);
  fields->truth("gives_all_rows", &gives_all_rows);
  fields->list("left_out", T_IntList, &left_out);
}

const CustomScanMethods* limited_rows_methods() {
  return &kScanMethods;
}

void install_limited_rows_node() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
