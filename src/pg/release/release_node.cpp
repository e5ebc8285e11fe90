#include "pg/release/release_node.hpp"

#include "pg/release/release_execution.hpp"
#include "pg/release/release_explain.hpp"
#include "pg/release/release_plan.hpp"
#include "pg/release/spill_limit.hpp"
#include "pg/release/statement_calls.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
}

namespace dpquantile {

namespace {

ReleaseNode* release_node(CustomScanState* node) {
  return reinterpret_cast<ReleaseNode*>(node);
}

void make_calls(ReleaseNode* node, const CustomScan* plan) {
  const List* columns = node->plan.calls;
  node->calls = static_cast<ReleaseCall*>(palloc(sizeof(ReleaseCall) * list_length(columns)));
  for (const int number : each_int(columns)) {
    node->calls[node->call_count++] = make_release_call(plan, number, &node->scan.ss.ps);
  }
}

// Behind the columns of the scan tuple are the errors that are noted with the answers. Nothing is
// noted of tables that are not protected.
void make_drawn(ReleaseNode* node, const CustomScan* plan, EState* state) {
  List* columns = list_copy(plan->custom_scan_tlist);
  for (int i = 0; i < node->call_count; ++i) {
    ReleaseCall& call = node->calls[i];
    if (!has_error_beside(call, list_nth_int(node->plan.noted, i))) continue;
    if (node->plan.tables == NIL) continue;
    Expr* error = as<Expr>(makeNullConst(FLOAT8OID, -1, InvalidOid));
    call.error_column = list_length(columns) + 1;
    columns = lappend(columns, makeTargetEntry(error, static_cast<AttrNumber>(call.error_column),
                                               pstrdup("error"), false));
  }
  node->drawn = ExecInitExtraTupleSlot(state, ExecTypeFromTL(columns), &TTSOpsVirtual);
}

// How much PostgreSQL's hash table of groups may take is decided when it is made. What is around
// the answers keeps to the session's memory.
PlanState* start_with_spill_limit(Plan* child, EState* state, int flags) {
  const SpillLimit limit = begin_spill_limit(nullptr);
  PlanState* volatile started = nullptr;
  PG_TRY();
  started = ExecInitNode(child, state, flags);
  PG_FINALLY();
  end_spill_limit(limit);
  PG_END_TRY();
  return started;
}

void begin(CustomScanState* scan, EState* state, int flags) {
  ReleaseNode* node = release_node(scan);
  const auto* plan = as<CustomScan>(scan->ss.ps.plan);
  node->plan = decode_mark<ReleasePlan>(plan->custom_private);
  constexpr int kNotNeeded = EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK;
  auto* child = static_cast<Plan*>(linitial(plan->custom_plans));
  node->child = node->plan.tables == NIL
                    ? ExecInitNode(child, state, flags & ~kNotNeeded)
                    : start_with_spill_limit(child, state, flags & ~kNotNeeded);
  scan->custom_ps = list_make1(node->child);
  make_calls(node, plan);
  make_drawn(node, plan, state);
  add_to_statement(node);
  if (list_length(plan->scan.plan.targetlist) < list_length(plan->custom_scan_tlist)) {
    node->output = ExecInitExtraTupleSlot(state, ExecGetResultType(&scan->ss.ps), &TTSOpsVirtual);
  }
}

// The columns of an answer that the node returns. PostgreSQL's own projection would show the first
// of two columns for both if they are equal expressions. But such columns differ: one key of
// GROUPING SETS may be NULL where the other is not, and a volatile key has a value of its own.
TupleTableSlot* output(ReleaseNode* node, TupleTableSlot* answer) {
  if (node->output == nullptr) return answer;
  ExecClearTuple(node->output);
  const Size columns = node->output->tts_tupleDescriptor->natts;
  memcpy(node->output->tts_values, answer->tts_values, columns * sizeof(Datum));
  memcpy(node->output->tts_isnull, answer->tts_isnull, columns * sizeof(bool));
  return ExecStoreVirtualTuple(node->output);
}

std::span<const ReleaseCall> calls_of(const ReleaseNode* node) {
  return {node->calls, static_cast<std::size_t>(node->call_count)};
}

// What it leaves in memory goes with the next answer.
void note(ReleaseNode* node, const TupleTableSlot* answer) {
  const MemoryContext previous =
      MemoryContextSwitchTo(node->scan.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
  note_answer(&node->notes, calls_of(node), node->plan.noted, answer);
  MemoryContextSwitchTo(previous);
}

TupleTableSlot* execute(CustomScanState* scan) {
  ReleaseNode* node = release_node(scan);
  PlanState* state = &scan->ss.ps;
  if (!node->released) {
    check_statement(state->state);
    execute_release(node);
  }
  ExprContext* expressions = state->ps_ExprContext;
  TupleTableSlot* answer = scan->ss.ss_ScanTupleSlot;
  while (next_answer(node->answers, answer)) {
    CHECK_FOR_INTERRUPTS();
    ResetExprContext(expressions);
    expressions->ecxt_scantuple = answer;
    if (ExecQual(state->qual, expressions)) {
      note(node, node->answers.tuple);
      return output(node, answer);
    }
    InstrCountFiltered1(state, 1);
  }
  return nullptr;
}

// The scan slot may point into the answers.
void forget_answers(ReleaseNode* node) {
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  end_answers(&node->answers);
  node->released = false;
}

void rescan(CustomScanState* scan) {
  ReleaseNode* node = release_node(scan);
  node->notes.are_made = false;  // What comes again has been shown.
  if (scan->ss.ps.chgParam == nullptr) {
    if (node->released) rewind_answers(node->answers);
    return;
  }
  forget_answers(node);
  UpdateChangedParamSet(node->child, scan->ss.ps.chgParam);
  if (node->child->chgParam == nullptr) ExecReScan(node->child);
}

// When rows have been shown. A cursor that may be read backward ends without.
void shut_down(CustomScanState* scan) {
  tell_of_statement(scan->ss.ps.state);
}

void end(CustomScanState* scan) {
  ReleaseNode* node = release_node(scan);
  tell_of_statement(scan->ss.ps.state);
  forget_answers(node);
  ExecEndNode(node->child);
}

void explain(CustomScanState* scan, List*, ExplainState* explain) {
  explain_prices(release_node(scan), explain);
}

const CustomExecMethods kExecMethods =
    custom_methods(kReleaseName, begin, execute, end, rescan, explain, shut_down);

Node* make_release_node(CustomScan*) {
  return make_custom_state<ReleaseNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kReleaseName, make_release_node};

}  // namespace

const CustomScanMethods* release_scan_methods() {
  return &kScanMethods;
}

bool is_release_node(const PlanState* state) {
  return IsA(state, CustomScanState) && as<CustomScanState>(state)->methods == &kExecMethods;
}

void install_release_node() {
  install_error_notice();
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
