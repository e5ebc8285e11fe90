#include "pg/limits/grouped_rows_node.hpp"

#include <algorithm>
#include <bit>

#include "pg/limits/group_table.hpp"
#include "pg/limits/kept_rows.hpp"
#include "pg/limits/row_partitions.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/ruleutils.h"
}

namespace dpquantile {

namespace {

constexpr Size kKilobyte = 1024;

// Rows that are spread over parts by some bits of the hashes of their keys. One part after the
// other is grouped. Where a part has more groups than there is room for, the rows of the others are
// spread once more, in the next division.
struct SpreadRows {
  MemoryContext memory;
  RowPartitions rows;
  int shift;  // how many bits of the hashes the divisions before have taken
  int part;   // that is grouped; -1 before the first
};

// Each takes further bits of the hashes, at most 8. What is left then is grouped together.
constexpr int kMostDivisions = 6;

// Zero before it is set up.
struct GroupedRowsNode {
  CustomScanState scan;
  GroupedRowsPlan plan;
  PlanState* child;    // the rows
  AggState* grouping;  // knows how a row is added to states; is never executed itself
  Group* own_states;   // of the grouping
  GroupTable groups;
  Bitmapset* left_out;  // columns of rows that are not used, from 0

  MemoryContext memory;  // of all that follows; null before the rows are read
  MemoryContext group_memory;
  Size room;  // for groups, in bytes
  SpreadRows spread[kMostDivisions];
  int divisions;          // that have rows; the last one is read
  bool is_putting_aside;  // whether the division after them gets rows
  int64 put_aside;        // rows, for want of room
  TupleTableSlot* row;    // of a part, or of a group that is given
  Size next;              // group to give
};

GroupedRowsNode* grouped_node(CustomScanState* node) {
  return reinterpret_cast<GroupedRowsNode*>(node);
}

// ---- Setting up ----------------------------------------------------------------------------

// The columns of the rows that the grouping uses, from 1.
Bitmapset* used_columns(const Agg* grouping) {
  Bitmapset* offset = nullptr;
  pull_varattnos(as<Node>(grouping->plan.targetlist), static_cast<Index>(OUTER_VAR), &offset);
  Bitmapset* used = nullptr;
  for (int i = -1; (i = bms_next_member(offset, i)) >= 0;) {
    used = bms_add_member(used, i + FirstLowInvalidHeapAttributeNumber);
  }
  for (int i = 0; i < grouping->numCols; ++i) used = bms_add_member(used, grouping->grpColIdx[i]);
  return used;
}

bool is_key(const Agg* grouping, const Node* column) {
  if (!IsA(column, Var)) return false;
  const AttrNumber number = as<Var>(column)->varattno;
  for (int i = 0; i < grouping->numCols; ++i) {
    if (grouping->grpColIdx[i] == number) return true;
  }
  return false;
}

// The columns of rows, from 0, that groups show beside the keys.
List* shown_columns(const Agg* grouping) {
  List* shown = NIL;
  for (const auto* column :
       each<const Node>(pull_var_clause(as<Node>(grouping->plan.targetlist),
                                        PVC_INCLUDE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS))) {
    if (!IsA(column, Var) || is_key(grouping, column)) continue;
    shown = list_append_unique_int(shown, as<Var>(column)->varattno - 1);
  }
  return shown;
}

// A copy for EXPLAIN, which looks below it for the rows that sub-selects of the grouping refer to.
CustomScan* with_rows_below(const CustomScan* plan, const Agg* grouping) {
  auto* copy = static_cast<CustomScan*>(palloc(sizeof(CustomScan)));
  *copy = *plan;
  copy->scan.plan.lefttree = grouping->plan.lefttree;
  return copy;
}

void begin(CustomScanState* scan, EState* state, int flags) {
  GroupedRowsNode* node = grouped_node(scan);
  const auto* plan = as<CustomScan>(scan->ss.ps.plan);
  auto* grouping = static_cast<Agg*>(linitial(plan->custom_plans));
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  node->plan = decode_mark<GroupedRowsPlan>(plan->custom_private);
  node->grouping = as<AggState>(ExecInitNode(as<Plan>(grouping), state, flags & ~kNotNeeded));
  node->own_states = node->grouping->all_pergroups[0];
  node->child = outerPlanState(node->grouping);
  scan->custom_ps = list_make1(node->child);
  scan->ss.ps.subPlan = node->grouping->ss.ps.subPlan;
  scan->ss.ps.plan = as<Plan>(with_rows_below(plan, grouping));
  TupleDesc columns = ExecGetResultType(node->child);
  node->groups =
      make_group_table(grouping, columns, shown_columns(grouping), node->grouping->numtrans);
  const Bitmapset* used = used_columns(grouping);
  for (int i = 0; i < columns->natts; ++i) {
    if (!bms_is_member(i + 1, used)) node->left_out = bms_add_member(node->left_out, i);
  }
  node->row = ExecInitExtraTupleSlot(state, columns, &TTSOpsVirtual);
}

// ---- The states of a group -----------------------------------------------------------------

MemoryContext memory_of_states(const GroupedRowsNode* node) {
  return node->grouping->aggcontexts[0]->ecxt_per_tuple_memory;
}

// As PostgreSQL's Agg begins them.
void begin_states(const GroupedRowsNode* node, Group* group) {
  const MemoryContext previous = MemoryContextSwitchTo(memory_of_states(node));
  for (int i = 0; i < node->grouping->numtrans; ++i) {
    const AggStatePerTransData* transition = &node->grouping->pertrans[i];
    const bool is_null = transition->initValueIsNull;
    group[i].transValue = is_null ? 0
                                  : datumCopy(transition->initValue, transition->transtypeByVal,
                                              transition->transtypeLen);
    group[i].transValueIsNull = is_null;
    group[i].noTransValue = is_null;
  }
  MemoryContextSwitchTo(previous);
}

// PostgreSQL has compiled the filters, arguments and calls of all aggregates into one expression.
void add_row(const GroupedRowsNode* node, Group* group, TupleTableSlot* row) {
  AggState* grouping = node->grouping;
  grouping->all_pergroups[0] = group;
  grouping->tmpcontext->ecxt_outertuple = row;
  DPQ_EVALUATE(grouping->phase->evaltrans, grouping->tmpcontext);
}

// ---- The groups in memory ------------------------------------------------------------------

Size used_memory(const GroupedRowsNode* node) {
  return MemoryContextMemAllocated(node->group_memory, true) +
         MemoryContextMemAllocated(memory_of_states(node), true);
}

// For one more group. What decides it are the states that are in memory, except of protected rows.
// Where there has been no room once, there is none for the rest: states may take less memory again,
// and rows of a new group may have been put aside.
bool has_room(const GroupedRowsNode* node) {
  const GroupTable& groups = node->groups;
  if (node->is_putting_aside) return false;
  if (!node->plan.may_put_aside || groups.count == 0 || node->divisions == kMostDivisions)
    return true;
  if ((groups.count + 1) * static_cast<Size>(node->plan.bytes_of_group) > node->room) return false;
  return used_memory(node) < node->room;
}

void begin_table(GroupedRowsNode* node) {
  node->next = 0;
  begin_groups(&node->groups, node->group_memory);
}

void forget_groups(GroupedRowsNode* node) {
  ExecClearTuple(node->row);
  ExecClearTuple(node->grouping->ss.ps.ps_ResultTupleSlot);
  node->grouping->all_pergroups[0] = node->own_states;
  ReScanExprContext(node->grouping->aggcontexts[0]);
  MemoryContextReset(node->group_memory);
  node->groups.count = 0;
  node->next = 0;
}

// ---- Rows that are spread ------------------------------------------------------------------

// PostgreSQL would allocate megabytes at a time.
MemoryContext make_context(MemoryContext parent, Size bytes) {
  const Size block = std::clamp(std::bit_floor(bytes / 64), Size{ALLOCSET_DEFAULT_INITSIZE},
                                Size{ALLOCSET_DEFAULT_MAXSIZE});
  return AllocSetContextCreate(parent, "dpquantile grouped rows", ALLOCSET_DEFAULT_MINSIZE,
                               ALLOCSET_DEFAULT_INITSIZE, block);
}

// As many parts as there can be, so that few states are in memory. A block of 8 kB is read from the
// file at once, and takes too much of a small memory.
RowStorage storage_of_parts(Size bytes) {
  constexpr Size kPage = BLCKSZ;
  return {kMostParts, bytes, bytes / 8 >= kMostParts * kPage ? kPage : kPage / 2, false};
}

int bits_of_parts(const RowPartitions& rows) {
  return std::countr_zero(static_cast<unsigned>(rows.count));
}

// Numbers take less time to be hashed again than to be kept with a hash. Rows of protected tables
// come without one, so that all of them take less.
RowStorage storage_of_division(const GroupedRowsNode* node) {
  const Size bytes = memory_of_grouped_rows();
  if (!node->plan.may_put_aside) return storage_of_parts(bytes);
  RowStorage storage = storage_within(bytes);
  storage.has_numbers = !node->groups.has_only_numbers;
  return storage;
}

void begin_division(GroupedRowsNode* node) {
  SpreadRows* division = &node->spread[node->divisions];
  const RowStorage storage = storage_of_division(node);
  division->memory = make_context(node->memory, storage.bytes);
  division->part = -1;
  division->shift =
      node->divisions == 0 ? 0 : division[-1].shift + bits_of_parts(division[-1].rows);
  make_partitions(&division->rows, node->row->tts_tupleDescriptor, node->left_out, storage,
                  division->memory);
  if (node->plan.may_put_aside) {
    division->rows.memory_left = node->plan.in_parts && node->divisions == 0 ? node->room / 2 : 0;
  }
  node->is_putting_aside = true;
}

// The part is chosen by the highest bits of a hash, the entry in the table by the lowest.
void put_aside(GroupedRowsNode* node, uint64 hash, TupleTableSlot* row) {
  if (!node->is_putting_aside) begin_division(node);
  SpreadRows* division = &node->spread[node->divisions];
  write_row(&division->rows, part_of_number(&division->rows, hash << division->shift), row, hash);
}

// What has been put aside is next.
void end_putting_aside(GroupedRowsNode* node) {
  if (!node->is_putting_aside) return;
  node->is_putting_aside = false;
  end_writing(&node->spread[node->divisions++].rows);
}

void end_division(GroupedRowsNode* node) {
  SpreadRows* division = &node->spread[--node->divisions];
  close_partitions(&division->rows);
  MemoryContextDelete(division->memory);
}

// Goes to the next part of the last level that has one. False after the last of all.
bool find_next_part(GroupedRowsNode* node) {
  while (node->divisions > 0) {
    SpreadRows* division = &node->spread[node->divisions - 1];
    if (division->part >= 0) forget_part(&division->rows, division->part);
    if (++division->part < division->rows.count) return true;
    end_division(node);
  }
  return false;
}

// ---- Reading -------------------------------------------------------------------------------

void take_row(GroupedRowsNode* node, uint64 hash, TupleTableSlot* row) {
  Group* group = find_group(&node->groups, hash, row);
  if (unlikely(group == nullptr)) {
    if (!has_room(node)) {
      ++node->put_aside;
      return put_aside(node, hash, row);
    }
    group = add_group(&node->groups, hash, row);
    begin_states(node, group);
  }
  add_row(node, group, row);
}

// What a function leaves in memory goes with the next row.
void read_child(GroupedRowsNode* node) {
  while (TupleTableSlot* row = next_row(node)) {
    ResetExprContext(node->grouping->tmpcontext);
    slot_getsomeattrs(row, node->groups.last_key);
    const uint64 hash = hash_of_keys(&node->groups, row);
    node->plan.in_parts ? put_aside(node, hash, row) : take_row(node, hash, row);
  }
}

void read_part(GroupedRowsNode* node) {
  SpreadRows* division = &node->spread[node->divisions - 1];
  RowPartitions* rows = &division->rows;
  TupleTableSlot* row = node->row;
  ExecStoreAllNullTuple(row);
  RowCursor cursor = cursor_of_part(rows, division->part);
  while (next_block(rows, &cursor)) {
    CHECK_FOR_INTERRUPTS();
    for (Size i = 0; i < cursor.block->rows; ++i) {
      ResetExprContext(node->grouping->tmpcontext);
      read_row(rows, cursor.block, i, row->tts_values, row->tts_isnull);
      const uint64 hash =
          rows->has_numbers ? user_of_row(rows, cursor.block, i) : hash_of_keys(&node->groups, row);
      take_row(node, hash, row);
    }
  }
}

// Reads rows into groups by `read`, and makes those ready to be read that are put aside.
void group_rows(GroupedRowsNode* node, void (*read)(GroupedRowsNode*)) {
  begin_table(node);
  const MemoryContext previous =
      MemoryContextSwitchTo(node->grouping->tmpcontext->ecxt_per_tuple_memory);
  read(node);
  MemoryContextSwitchTo(previous);
  end_putting_aside(node);
  ExecStoreAllNullTuple(node->row);
}

void begin_reading(GroupedRowsNode* node) {
  const Size bytes = memory_of_grouped_rows();
  node->room = room_for_groups(node->plan.in_parts);
  node->memory = make_context(node->scan.ss.ps.state->es_query_cxt, bytes);
  node->group_memory =
      AllocSetContextCreate(node->memory, "dpquantile groups of rows", ALLOCSET_DEFAULT_SIZES);
  node->groups.seed = draw_number();
  if (node->plan.in_parts) begin_division(node);  // also where no row comes
  group_rows(node, read_child);
}

// ---- Giving --------------------------------------------------------------------------------

// As PostgreSQL's Agg shows a group: its columns are computed of a row of it and of the states.
TupleTableSlot* give_group(GroupedRowsNode* node, const Group* group) {
  const PlanState* grouping = &node->grouping->ss.ps;
  ExprContext* context = grouping->ps_ExprContext;
  ResetExprContext(context);
  show_values(&node->groups, group, node->row);
  context->ecxt_outertuple = node->row;
  for (int i = 0; i < node->grouping->numaggs; ++i) {
    const AggStatePerAggData* call = &node->grouping->peragg[i];
    const Group& state = group[call->transno];
    context->ecxt_aggnulls[i] = state.transValueIsNull;
    context->ecxt_aggvalues[i] =
        MakeExpandedObjectReadOnly(state.transValue, state.transValueIsNull, call->resulttypeLen);
  }
  return ExecProject(grouping->ps_ProjInfo);
}

// Null after the last group. Not projected once more: PostgreSQL would show the first of two keys
// for both if they are equal expressions.
TupleTableSlot* execute(CustomScanState* scan) {
  GroupedRowsNode* node = grouped_node(scan);
  if (node->memory == nullptr) begin_reading(node);
  while (node->next == node->groups.count) {
    forget_groups(node);
    if (!find_next_part(node)) return nullptr;
    group_rows(node, read_part);
  }
  return give_group(node, group_of_number(&node->groups, node->next++));
}

void forget_rows_and_groups(GroupedRowsNode* node) {
  if (node->memory == nullptr) return;
  forget_groups(node);
  end_putting_aside(node);
  while (node->divisions > 0) end_division(node);
  MemoryContextDelete(node->memory);
  node->memory = nullptr;
}

void rescan(CustomScanState* scan) {
  GroupedRowsNode* node = grouped_node(scan);
  forget_rows_and_groups(node);
  PlanState* grouping = &node->grouping->ss.ps;
  if (scan->ss.ps.chgParam != nullptr) UpdateChangedParamSet(grouping, scan->ss.ps.chgParam);
  ExecReScan(grouping);
}

void end(CustomScanState* scan) {
  GroupedRowsNode* node = grouped_node(scan);
  forget_rows_and_groups(node);
  ExecEndNode(&node->grouping->ss.ps);
}

void explain(CustomScanState* scan, List* ancestors, ExplainState* explain) {
  auto* plan = as<CustomScan>(scan->ss.ps.plan);
  const auto* grouping = static_cast<const Agg*>(linitial(plan->custom_plans));
  List* context = set_deparse_context_plan(explain->deparse_cxt, as<Plan>(plan), ancestors);
  const bool prefix = DPQ_EXPLAINED_ENTRIES(explain) > 1 || explain->verbose;
  List* keys = NIL;
  for (auto* entry : each<TargetEntry>(plan->custom_scan_tlist)) {
    const auto* column =
        static_cast<const TargetEntry*>(list_nth(grouping->plan.targetlist, entry->resno - 1));
    if (!is_key(grouping, as<Node>(column->expr))) continue;
    keys = lappend(keys, deparse_expression(as<Node>(entry->expr), context, prefix, true));
  }
  ExplainPropertyList("Group Key", keys, explain);
  const GroupedRowsNode* node = grouped_node(scan);
  if (node->plan.in_parts || explain->format != EXPLAIN_FORMAT_TEXT) {
    ExplainPropertyBool("In Parts", node->plan.in_parts, explain);
  }
  if (explain->analyze && node->put_aside > 0) {
    ExplainPropertyInteger("Rows Put Aside", nullptr, node->put_aside, explain);
  }
}

const CustomExecMethods kExecMethods =
    custom_methods(kGroupedRowsName, begin, execute, end, rescan, explain);

Node* make_grouped_rows_node(CustomScan*) {
  return make_custom_state<GroupedRowsNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kGroupedRowsName, make_grouped_rows_node};

}  // namespace

// The answers of the groups take a part of the memory, at most half. Of what is left groups get
// half where all rows are spread, and three quarters where few are; the rows get the rest.
Size room_for_groups(bool in_parts) {
  const Size bytes = memory_of_grouped_rows();
  const Size answers = Min(static_cast<Size>(answer_memory()) * kKilobyte, bytes / 2);
  return in_parts ? (bytes - answers) / 2 : (bytes - answers) / 4 * 3;
}

bool groups_in_parts(const PlanState* groups) {
  if (!IsA(groups, CustomScanState)) return false;
  const auto* scan = as<CustomScanState>(groups);
  return scan->methods == &kExecMethods &&
         reinterpret_cast<const GroupedRowsNode*>(scan)->plan.in_parts;
}

void GroupedRowsPlan::each_field(MarkFields* fields) {
  fields->truth("in_parts", &in_parts);
  fields->truth("may_put_aside", &may_put_aside);
  fields->integer("bytes_of_group", &bytes_of_group);
}

const CustomScanMethods* grouped_rows_methods() {
  return &kScanMethods;
}

void install_grouped_rows_node() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
