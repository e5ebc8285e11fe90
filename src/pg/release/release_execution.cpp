#include "pg/release/release_execution.hpp"

#include <climits>

#include "pg/aggregate/call_parameters.hpp"
#include "pg/limits/grouped_rows_node.hpp"
#include "pg/release/allocator_traces.hpp"
#include "pg/release/answer_bytes.hpp"
#include "pg/release/bounded_users.hpp"
#include "pg/release/spill_limit.hpp"
#include "pg/release/state_source.hpp"
#include "pg/release/trip_wire.hpp"
#include "pg/server/client_messages.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/server/version.hpp"
#include "pg/server/work_memory.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

ReleaseCheck release_check = nullptr;
PriceCheck price_check = nullptr;

MemoryContext query_context(const ReleaseNode* node) {
  return node->scan.ss.ps.state->es_query_cxt;
}

// Switches to empty memory for one step or one group. Returns the memory context before.
MemoryContext switch_to_scratch(const ReleaseNode* node) {
  ExprContext* expressions = node->scan.ss.ps.ps_ExprContext;
  ResetExprContext(expressions);
  return MemoryContextSwitchTo(expressions->ecxt_per_tuple_memory);
}

void refuse_parallel_worker() {
  if (!IsParallelWorker()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("private answers cannot be released inside a parallel worker"),
                  errdetail("Every worker would release its own answers and be charged for them."),
                  errhint("Declare the functions that ask private queries PARALLEL UNSAFE.")));
}

void prepare_calls(ReleaseNode* node) {
  const MemoryContext previous = switch_to_scratch(node);
  for (int i = 0; i < node->call_count; ++i) {
    prepare_call(&node->calls[i], node->scan.ss.ps.ps_ExprContext, query_context(node));
  }
  MemoryContextSwitchTo(previous);
}

bool waits_for_groups(const ReleaseNode* node, const ReleaseCall& call) {
  return node->plan.has_keys && is_charged_by_group(call);
}

bool any_waits_for_groups(const ReleaseNode* node) {
  for (int i = 0; i < node->call_count; ++i) {
    if (waits_for_groups(node, node->calls[i])) return true;
  }
  return false;
}

bool any_bounds_users(const ReleaseNode* node) {
  for (int i = 0; i < node->call_count; ++i) {
    if (node->calls[i].family->bounds_groups_of_users()) return true;
  }
  return false;
}

ChargedRows rows_of(const ReleaseNode* node) {
  return {node->plan.has_keys, node->plan.joins_rows, node->plan.protects_persons};
}

// For all groups, or for the first one if a call is charged for each. In the current memory
// context.
std::span<const Charge> first_charges(const ReleaseNode* node) {
  auto* charges = static_cast<Charge*>(palloc(sizeof(Charge) * node->call_count));
  for (int i = 0; i < node->call_count; ++i) {
    const ReleaseCall& call = node->calls[i];
    const int times = waits_for_groups(node, call) ? 1 : node->plan.grouping_sets;
    charges[i] = charge_for(call, rows_of(node), times);
  }
  return {charges, static_cast<std::size_t>(node->call_count)};
}

// Charges for the groups after the first, where a call is charged for each.
void charge_others(const ReleaseNode* node, int64 groups) {
  if (groups < 2) return;
  if (groups > PG_INT32_MAX) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a query with %lld groups cannot be charged for each group",
                           static_cast<long long>(groups)),
                    errhint("The first group was charged before the rows were read. Group by fewer "
                            "keys.")));
  }
  const MemoryContext previous = switch_to_scratch(node);
  auto* charges = static_cast<Charge*>(palloc(sizeof(Charge) * node->call_count));
  std::size_t count = 0;
  for (int i = 0; i < node->call_count; ++i) {
    const ReleaseCall& call = node->calls[i];
    if (!waits_for_groups(node, call)) continue;
    charges[count++] = charge_for(call, rows_of(node), static_cast<int>(groups - 1));
  }
  // A refusal tells the number of groups, which is public.
  begin_charge_while_reading();
  (void)charge_budget({charges, count}, node->tables, true);
  end_charge_while_reading();
  MemoryContextSwitchTo(previous);
}

// The columns of dp_keep_group without which no group is shown. In the current memory context.
List* decisions_of(const ReleaseNode* node) {
  const auto* plan = as<CustomScan>(node->scan.ss.ps.plan);
  List* columns = NIL;
  for (const auto* term : each<const Node>(plan->scan.plan.qual)) {
    if (!IsA(term, Var)) continue;
    const int column = as<Var>(term)->varattno;
    for (int i = 0; i < node->call_count; ++i) {
      const ReleaseCall& call = node->calls[i];
      if (call.column == column && call.family->selects_groups)
        columns = lappend_int(columns, column);
    }
  }
  return columns;
}

void draw(ReleaseNode* node, ReleaseCall* call, TupleTableSlot* states, TupleTableSlot* answers) {
  const int index = call->column - 1;
  double error = 0;
  const NullableDatum answer = answer_call(
      call, node->random, {states->tts_values[index], states->tts_isnull[index]}, &error);
  answers->tts_values[index] = answer.value;
  answers->tts_isnull[index] = answer.isnull;
  if (call->error_column == 0) return;
  answers->tts_values[call->error_column - 1] = Float8GetDatum(error);
  answers->tts_isnull[call->error_column - 1] = false;
}

// Draws the answers of the calls that decide whether the group is shown, or of the others.
void draw_calls(ReleaseNode* node, bool decide, TupleTableSlot* states, TupleTableSlot* answers) {
  for (int i = 0; i < node->call_count; ++i) {
    ReleaseCall* call = &node->calls[i];
    if (list_member_int(node->decisions, call->column) == decide) draw(node, call, states, answers);
  }
}

bool is_shown(const ReleaseNode* node, const TupleTableSlot* answers) {
  for (const int number : each_int(node->decisions)) {
    const int index = number - 1;
    if (answers->tts_isnull[index] || !DatumGetBool(answers->tts_values[index])) return false;
  }
  return true;
}

// Draws the answers of a group, puts them in the place of its states, and keeps them. Of a group
// that dp_keep_group hides, nothing else is drawn or kept: that would take time, and memory, which
// tell that there is such a group.
void answer_group(ReleaseNode* node, TupleTableSlot* states) {
  const MemoryContext previous = switch_to_scratch(node);
  TupleTableSlot* answers = node->drawn;
  slot_getallattrs(states);
  ExecClearTuple(answers);
  const Size columns = node->scan.ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts;
  memcpy(answers->tts_values, states->tts_values, columns * sizeof(Datum));
  memcpy(answers->tts_isnull, states->tts_isnull, columns * sizeof(bool));
  draw_calls(node, true, states, answers);
  const bool shown = is_shown(node, answers);
  if (shown) {
    draw_calls(node, false, states, answers);
    ExecStoreVirtualTuple(answers);
  }
  MemoryContextSwitchTo(previous);
  if (shown) add_answer(node->answers, answers);
}

// Null after the last group.
TupleTableSlot* next_group(ReleaseNode* node) {
  CHECK_FOR_INTERRUPTS();
  TupleTableSlot* states = ExecProcNode(node->child);
  return TupIsNull(states) ? nullptr : states;
}

void answer_groups(ReleaseNode* node) {
  while (TupleTableSlot* states = next_group(node)) answer_group(node, states);
}

// One role pays for all groups. A function that the query calls may have set another role.
void require_payer(Oid payer) {
  if (GetOuterUserId() == payer) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                  errmsg("the role changed while a private query read its rows"),
                  errhint("Leave SET ROLE out of the functions that the query calls.")));
}

// The same order, read from behind. Keys that are hashes under a secret come last among the keys
// (pg/protect/release_block.cpp), so that groups are sorted by these first: the time of a sort
// depends on single groups where their order can be chosen.
ReleasePlan in_order_of_hashes(const ReleasePlan& plan) {
  ReleasePlan reversed = plan;
  for (const auto part : {&ReleasePlan::sort_columns, &ReleasePlan::operators,
                          &ReleasePlan::collations, &ReleasePlan::nulls_first}) {
    const List* given = plan.*part;
    List* list = NIL;
    for (int i = list_length(given); i-- > 0;) {
      list = IsA(given, OidList) ? lappend_oid(list, list_nth_oid(given, i))
                                 : lappend_int(list, list_nth_int(given, i));
    }
    reversed.*part = list;
  }
  return reversed;
}

// Reads the states of all groups, in an order of their keys.
int64 read_groups(ReleaseNode* node, const SortedAnswers& states) {
  const Oid payer = GetOuterUserId();
  int64 groups = 0;
  while (TupleTableSlot* group = next_group(node)) {
    add_answer(states, group);
    ++groups;
  }
  finish_answers(states);
  require_payer(payer);
  return groups;
}

// Leaves each user in few groups, for the calls that say so. The numbers of users are in `memory`.
void bound_users(ReleaseNode* node, const SortedAnswers& states, TupleTableSlot* slot,
                 MemoryContext memory) {
  const MemoryContext previous = MemoryContextSwitchTo(memory);
  for (int i = 0; i < node->call_count; ++i) {
    ReleaseCall* call = &node->calls[i];
    if (!call->family->bounds_groups_of_users()) continue;
    call->bounded_users = bounded_users(*call, node->plan, states, slot, node->random);
    rewind_answers(states);
  }
  MemoryContextSwitchTo(previous);
}

void forget_users(ReleaseNode* node) {
  for (int i = 0; i < node->call_count; ++i) node->calls[i].bounded_users = nullptr;
}

// Reads all groups, charges for those that are not charged yet, and answers them.
void charge_and_answer_groups(ReleaseNode* node) {
  TupleDesc columns = ExecGetResultType(node->child);
  SortedAnswers states = begin_answers(in_order_of_hashes(node->plan), columns, node->memory);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
  const int64 groups = read_groups(node, states);
  if (any_waits_for_groups(node)) charge_others(node, groups);
  MemoryContext counts = AllocSetContextCreate(CurrentMemoryContext, "dpquantile users of groups",
                                               ALLOCSET_DEFAULT_SIZES);
  bound_users(node, states, slot, counts);
  while (next_answer(states, slot)) {
    CHECK_FOR_INTERRUPTS();
    answer_group(node, slot);
    for (int i = 0; i < node->call_count; ++i) {
      if (node->calls[i].bounded_users != nullptr) ++node->calls[i].bounded_users;
    }
  }
  forget_users(node);
  MemoryContextDelete(counts);
  ExecDropSingleTupleTableSlot(slot);
  end_answers(&states);
}

void read_and_answer(ReleaseNode* node) {
  if (any_waits_for_groups(node) || any_bounds_users(node)) {
    charge_and_answer_groups(node);
  } else {
    answer_groups(node);
  }
  finish_answers(node->answers);
}

// Messages below notice tell the client how many rows a sort has. If nothing may tell of the rows,
// a warning or a notice must not: PostgreSQL may give it for some values only. A scan of a large
// table tells others how far it has come, and the next one begins there: that would show where a
// join has found the key of a protected row.
void read_and_answer_quietly(ReleaseNode* node, bool is_quiet) {
  const volatile Withheld withheld = is_quiet ? Withheld::kAllBelowError : Withheld::kBelowNotice;
  SpillLimit limit{};
  if (is_quiet) {
    limit = begin_spill_limit(node->scan.ss.ps.state->es_plannedstmt);
    if (node->memory != MAX_KILOBYTES) node->memory = drawn_work_memory();
  }
  begin_without_messages(withheld);
  begin_released_read();
  PG_TRY();
  read_and_answer(node);
  PG_FINALLY();
  {
    end_released_read();
    end_without_messages(withheld);
    if (is_quiet) end_spill_limit(limit);
  }
  PG_END_TRY();
}

TupleDesc answer_columns(const ReleaseNode* node) {
  return node->drawn->tts_tupleDescriptor;
}

// Returns whether the answers of an earlier execution are shown again.
bool answer_again(ReleaseNode* node, const ReleaseTerms& terms) {
  if (terms.reuse <= 0) return false;
  begin_to_keep_answers();
  if (terms.is_fresh) return false;
  const KeptAnswers kept = find_kept_answers(terms.key, terms.reuse);
  if (kept.size == 0 || !unpack_answers(kept, answer_columns(node), node->answers)) return false;
  pfree(kept.bytes);
  finish_answers(node->answers);
  return true;
}

// Whether dp_keep_group is computed without being a condition for the groups to be shown.
bool decides_otherwise(const ReleaseNode* node) {
  for (int i = 0; i < node->call_count; ++i) {
    const ReleaseCall& call = node->calls[i];
    if (call.family->selects_groups && !list_member_int(node->decisions, call.column)) return true;
  }
  return false;
}

void keep(const ReleaseNode* node, const ReleaseTerms& terms, int64 first_charge) {
  if (terms.reuse <= 0 || most_kept_bytes() == 0) return;
  const MemoryContext previous = switch_to_scratch(node);
  if (!decides_otherwise(node)) {
    keep_answers(terms.key, {terms.relations, first_charge, node->call_count},
                 pack_answers(node->answers, answer_columns(node), most_kept_bytes()));
  }
  MemoryContextSwitchTo(previous);
}

// The charges are in the node's scratch memory.
void charge_and_answer(ReleaseNode* node, std::span<const Charge> charges,
                       const ReleaseTerms& terms) {
  ExprContext* expressions = node->scan.ss.ps.ps_ExprContext;
  const MemoryContext previous = MemoryContextSwitchTo(expressions->ecxt_per_tuple_memory);
  const int64 first_charge = charge_budget(charges, node->tables, false);
  MemoryContextSwitchTo(previous);
  WatchedRead read;
  watch_read(&read, node->tables);
  begin_read_memory();
  PG_TRY();
  read_and_answer_quietly(node, terms.is_quiet);
  PG_CATCH();
  fail_read(&read);
  PG_END_TRY();
  end_read(&read);
  if (terms.finish != nullptr) terms.finish(node);
  keep(node, terms, first_charge);
  end_read_memory();
}

}  // namespace

void install_release_check(ReleaseCheck check, PriceCheck prices) {
  release_check = check;
  price_check = prices;
}

void check_prices(ReleaseNode* node) {
  refuse_parallel_worker();
  require_matching_sql();
  prepare_calls(node);
  const MemoryContext previous = switch_to_scratch(node);
  if (price_check != nullptr) price_check(node, first_charges(node));
  MemoryContextSwitchTo(previous);
}

void execute_release(ReleaseNode* node) {
  refuse_parallel_worker();
  require_matching_sql();
  const MemoryContext previous = MemoryContextSwitchTo(query_context(node));
  fix_allocator_sizes();
  if (node->random == nullptr) {
    node->random = make_query_random(query_context(node));
    return_pages_at_end(query_context(node));
  }
  prepare_calls(node);
  if (node->decisions == NIL) node->decisions = decisions_of(node);
  const bool is_elsewhere = state_source() != nullptr && state_source()->prepare(node);
  // dp_restrict_role hides the size of temporary files, but is refused where rows are elsewhere.
  node->memory = is_elsewhere ? MAX_KILOBYTES : answer_memory();
  const MemoryContext lasting = switch_to_scratch(node);
  const std::span<const Charge> charges = first_charges(node);
  ReleaseTerms terms = release_check == nullptr ? ReleaseTerms{} : release_check(node, charges);
  MemoryContextSwitchTo(lasting);
  // The lists are in the scratch memory, which each group gives back.
  terms.relations = list_copy(terms.relations);
  node->tables = list_copy(terms.charged_tables);
  // Beside the answers there are rows then, and the states of a part.
  const int memory = groups_in_parts(node->child) ? node->memory / 2 : node->memory;
  node->answers = begin_answers(node->plan, answer_columns(node), memory);
  if (!answer_again(node, terms)) charge_and_answer(node, charges, terms);
  begin_notes(&node->notes, {node->calls, static_cast<std::size_t>(node->call_count)},
              node->scan.ss.ps.state);
  node->released = true;
  MemoryContextSwitchTo(previous);
}

}  // namespace dpquantile
