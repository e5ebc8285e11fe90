#include "pg/release/limited_rows_node.hpp"

#include "core/contributions/limited_rows.hpp"
#include "pg/aggregate/row_hash.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/release/query_random.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "commands/explain.h"
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

// Zero before it is set up.
struct LimitedRowsNode {
  CustomScanState scan;
  PlanState* child;
  AttrNumber user_column;
  int most;
  UserHash* user_hash;   // null for EXPLAIN
  MemoryContext memory;  // of the rows; null before they are read
  Tuplestorestate* rows;
  TupleTableSlot* stored;
  const uint8* kept;  // of each row that has a user
  Size next;          // the next of them
};

LimitedRowsNode* limited_node(CustomScanState* node) {
  return reinterpret_cast<LimitedRowsNode*>(node);
}

// The node copies the child's columns to the first of its own.
void require_columns_of_child(const LimitedRowsNode* node) {
  const int columns = node->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts;
  if (columns == node->stored->tts_tupleDescriptor->natts + 1) return;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the rows of each user cannot be limited: the plan has other columns")));
}

void begin(CustomScanState* scan, EState* state, int flags) {
  LimitedRowsNode* node = limited_node(scan);
  const auto* plan = reinterpret_cast<const CustomScan*>(scan->ss.ps.plan);
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  auto* child = static_cast<Plan*>(linitial(plan->custom_plans));
  node->child = ExecInitNode(child, state, flags & ~kNotNeeded);
  scan->custom_ps = list_make1(node->child);
  node->user_column = static_cast<AttrNumber>(linitial_int(plan->custom_private));
  node->most = lsecond_int(plan->custom_private);
  node->stored = ExecInitExtraTupleSlot(state, ExecGetResultType(node->child), &TTSOpsMinimalTuple);
  require_columns_of_child(node);
  if ((flags & EXEC_FLAG_EXPLAIN_ONLY) != 0) return;
  // An error comes before the charge.
  const auto* entry =
      static_cast<const TargetEntry*>(list_nth(plan->custom_scan_tlist, node->user_column - 1));
  node->user_hash =
      make_user_hash(reinterpret_cast<const Node*>(entry->expr), CurrentMemoryContext);
}

// ---- Reading -------------------------------------------------------------------------------

// An array that grows, in PostgreSQL's memory: a longjmp crosses it.
struct HashedRows {
  HashedRow* rows;
  Size count;
  Size room;
};

void add_row(HashedRows* hashed, const HashedRow& row) {
  if (hashed->count == hashed->room) {
    hashed->room = 2 * hashed->room;
    hashed->rows =
        static_cast<HashedRow*>(repalloc_huge(hashed->rows, hashed->room * sizeof(HashedRow)));
  }
  hashed->rows[hashed->count++] = row;
}

SipKey random_key(MemoryContext query_context) {
  RandomStream* random = make_query_random(query_context);
  SipKey key;
  report(guarded([&] {
    for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(random->bits64());
  }));
  return key;
}

// The child allocates what lasts as long as the query in the current memory context.
TupleTableSlot* next_row(const LimitedRowsNode* node) {
  CHECK_FOR_INTERRUPTS();
  const MemoryContext previous = MemoryContextSwitchTo(node->scan.ss.ps.state->es_query_cxt);
  TupleTableSlot* row = ExecProcNode(node->child);
  MemoryContextSwitchTo(previous);
  return TupIsNull(row) ? nullptr : row;
}

// Stores the rows of the child, and returns the hashes of those that have a user.
HashedRows read_rows(LimitedRowsNode* node, const SipKey& key) {
  constexpr Size kRoom = 1024;
  HashedRows hashed{static_cast<HashedRow*>(palloc(kRoom * sizeof(HashedRow))), 0, kRoom};
  RowHash row_hash = make_row_hash(key);
  ExprContext* expressions = node->scan.ss.ps.ps_ExprContext;
  while (TupleTableSlot* row = next_row(node)) {
    tuplestore_puttupleslot(node->rows, row);
    bool is_null;
    const Datum user = slot_getattr(row, node->user_column, &is_null);
    if (is_null) continue;
    ResetExprContext(expressions);
    const MemoryContext previous = MemoryContextSwitchTo(expressions->ecxt_per_tuple_memory);
    const HashedRow found = {hash_user(node->user_hash, user), hash_row(&row_hash, row)};
    MemoryContextSwitchTo(previous);
    add_row(&hashed, found);
  }
  return hashed;
}

const uint8* choose_rows(const HashedRows& hashed, int most, const SipKey& key) {
  auto* kept = static_cast<uint8*>(MemoryContextAllocHuge(CurrentMemoryContext, hashed.count + 1));
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    limit_rows({hashed.rows, hashed.count}, static_cast<std::uint64_t>(most), key,
               {kept, hashed.count}, {cancel, &memory});
  });
  return kept;
}

void read_and_choose(LimitedRowsNode* node) {
  node->memory = AllocSetContextCreate(node->scan.ss.ps.state->es_query_cxt,
                                       "dpquantile limited rows", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext previous = MemoryContextSwitchTo(node->memory);
  node->rows = tuplestore_begin_heap(false, false, work_mem);
  const SipKey key = random_key(node->scan.ss.ps.state->es_query_cxt);
  const HashedRows hashed = read_rows(node, key);
  node->kept = choose_rows(hashed, node->most, random_key(node->scan.ss.ps.state->es_query_cxt));
  node->next = 0;
  pfree(hashed.rows);
  MemoryContextSwitchTo(previous);
}

// ---- The rows ------------------------------------------------------------------------------

bool is_chosen(LimitedRowsNode* node) {
  bool is_null;
  (void)slot_getattr(node->stored, node->user_column, &is_null);
  return !is_null && node->kept[node->next++] != 0;
}

TupleTableSlot* execute(CustomScanState* scan) {
  LimitedRowsNode* node = limited_node(scan);
  if (node->memory == nullptr) read_and_choose(node);
  if (!tuplestore_gettupleslot(node->rows, true, false, node->stored)) return nullptr;
  slot_getallattrs(node->stored);
  TupleTableSlot* row = scan->ss.ss_ScanTupleSlot;
  ExecClearTuple(row);
  const int columns = node->stored->tts_tupleDescriptor->natts;
  memcpy(row->tts_values, node->stored->tts_values, columns * sizeof(Datum));
  memcpy(row->tts_isnull, node->stored->tts_isnull, columns * sizeof(bool));
  row->tts_values[columns] = BoolGetDatum(is_chosen(node));
  row->tts_isnull[columns] = false;
  ExecStoreVirtualTuple(row);
  if (scan->ss.ps.ps_ProjInfo == nullptr) return row;
  ResetExprContext(scan->ss.ps.ps_ExprContext);
  scan->ss.ps.ps_ExprContext->ecxt_scantuple = row;
  return ExecProject(scan->ss.ps.ps_ProjInfo);
}

// The slots may point into the rows.
void forget_rows(LimitedRowsNode* node) {
  if (node->memory == nullptr) return;
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  ExecClearTuple(node->stored);
  tuplestore_end(node->rows);
  MemoryContextDelete(node->memory);
  node->memory = nullptr;
}

void rescan(CustomScanState* scan) {
  LimitedRowsNode* node = limited_node(scan);
  forget_rows(node);
  if (scan->ss.ps.chgParam != nullptr) UpdateChangedParamSet(node->child, scan->ss.ps.chgParam);
  if (node->child->chgParam == nullptr) ExecReScan(node->child);
}

void end(CustomScanState* scan) {
  LimitedRowsNode* node = limited_node(scan);
  forget_rows(node);
  ExecEndNode(node->child);
}

void explain(CustomScanState* scan, List*, ExplainState* explain) {
  ExplainPropertyInteger("Most Rows of a User", nullptr, limited_node(scan)->most, explain);
}

const CustomExecMethods kExecMethods = {
    .CustomName = kLimitedRowsName,
    .BeginCustomScan = begin,
    .ExecCustomScan = execute,
    .EndCustomScan = end,
    .ReScanCustomScan = rescan,
    .MarkPosCustomScan = nullptr,
    .RestrPosCustomScan = nullptr,
    .EstimateDSMCustomScan = nullptr,
    .InitializeDSMCustomScan = nullptr,
    .ReInitializeDSMCustomScan = nullptr,
    .InitializeWorkerCustomScan = nullptr,
    .ShutdownCustomScan = nullptr,
    .ExplainCustomScan = explain,
};

Node* make_limited_rows_node(CustomScan*) {
  auto* node = static_cast<LimitedRowsNode*>(palloc0(sizeof(LimitedRowsNode)));
  NodeSetTag(&node->scan, T_CustomScanState);
  node->scan.methods = &kExecMethods;
  return reinterpret_cast<Node*>(node);
}

const CustomScanMethods kScanMethods = {kLimitedRowsName, make_limited_rows_node};

}  // namespace

const CustomScanMethods* limited_rows_methods() {
  return &kScanMethods;
}

void install_limited_rows_node() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
