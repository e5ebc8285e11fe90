#include "pg/aggregate/execution.hpp"

extern "C" {
#include "executor/executor.h"
#include "nodes/plannodes.h"
}

// PostgreSQL does not tell a final function which execution it belongs to. This file counts the
// executions of a node.
//
// A hashed node runs the shutdown callbacks of its expression context on every rescan and at no
// other time, also if the rescan reads the filled hash table again. Other nodes run these callbacks
// before every group. They have projected_set = -1 at the start of each execution and at no other
// time; a wrapper around the node's ExecProcNode sees this.
namespace dpquantile {

namespace {

struct NodeWatch {
  AggState* node;
  uint64 execution;
  bool rescan_callback_armed;
  ExecProcNodeMtd exec_proc_node;
  MemoryContextCallback forget;
  NodeWatch* next;
};

// The watched nodes of all running queries of this session.
NodeWatch* watches = nullptr;

NodeWatch* find_watch(const PlanState* node) {
  NodeWatch* watch = watches;
  while (watch != nullptr && &watch->node->ss.ps != node) watch = watch->next;
  return watch;
}

void forget_watch(void* argument) {
  NodeWatch** link = &watches;
  while (*link != argument) link = &(*link)->next;
  *link = (*link)->next;
}

TupleTableSlot* count_execution(PlanState* node) {
  NodeWatch* watch = find_watch(node);
  if (watch->node->projected_set == -1) ++watch->execution;
  return watch->exec_proc_node(node);
}

void on_rescan(Datum argument) {
  auto* watch = reinterpret_cast<NodeWatch*>(DatumGetPointer(argument));
  watch->rescan_callback_armed = false;
  ++watch->execution;
}

NodeWatch* watch_node(AggState* node) {
  MemoryContext query = node->ss.ps.state->es_query_cxt;
  auto* watch = static_cast<NodeWatch*>(MemoryContextAllocZero(query, sizeof(NodeWatch)));
  watch->node = node;
  watch->forget.func = forget_watch;
  watch->forget.arg = watch;
  watch->next = watches;
  watches = watch;
  MemoryContextRegisterResetCallback(query, &watch->forget);
  if (node->aggstrategy != AGG_HASHED) {
    watch->exec_proc_node = node->ss.ps.ExecProcNode;
    node->ss.ps.ExecProcNode = count_execution;
  }
  return watch;
}

}  // namespace

uint64 current_execution(AggState* node) {
  NodeWatch* watch = find_watch(&node->ss.ps);
  if (watch == nullptr) watch = watch_node(node);
  if (node->aggstrategy == AGG_HASHED && !watch->rescan_callback_armed) {
    RegisterExprContextCallback(node->ss.ps.ps_ExprContext, on_rescan, PointerGetDatum(watch));
    watch->rescan_callback_armed = true;
  }
  return watch->execution;
}

int count_grouping_sets(const AggState* node) {
  const auto* plan = reinterpret_cast<const Agg*>(node->ss.ps.plan);
  int sets = Max(list_length(plan->groupingSets), 1);
  ListCell* cell;
  foreach (cell, plan->chain) {
    sets += Max(list_length(static_cast<Agg*>(lfirst(cell))->groupingSets), 1);
  }
  return sets;
}

bool has_group_keys(const AggState* node) {
  return node->aggstrategy != AGG_PLAIN;
}

}  // namespace dpquantile
