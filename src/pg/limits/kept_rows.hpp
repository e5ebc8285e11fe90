#pragma once

#include <bit>

#include "pg/limits/row_partitions.hpp"

extern "C" {
#include "executor/executor.h"
#include "miscadmin.h"
}

// What the nodes of this room share: they read all rows of a child before they give the first. A
// node has the members scan and child, and for all but next_row() also rows, and memory, which is
// null without rows.
namespace dpquantile {

// In the current memory context
template <class Value>
Value* array_of(Size count) {
  return static_cast<Value*>(MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(Value)));
}

// Null after the last row of the child, which allocates what lasts as long as the query in the
// current memory context.
template <class KeepingNode>
TupleTableSlot* next_row(const KeepingNode* node) {
  CHECK_FOR_INTERRUPTS();
  const MemoryContext previous = MemoryContextSwitchTo(node->scan.ss.ps.state->es_query_cxt);
  TupleTableSlot* row = ExecProcNode(node->child);
  MemoryContextSwitchTo(previous);
  return TupIsNull(row) ? nullptr : row;
}

// The part of a number whose bits are evenly spread, by the highest of them.
inline int part_of_number(const RowPartitions* rows, uint64 number) {
  const int bits = std::countr_zero(static_cast<unsigned>(rows->count));
  return bits == 0 ? 0 : static_cast<int>(number >> (64 - bits));
}

// The row as the plan above wants it; null after the last one.
inline TupleTableSlot* projected(CustomScanState* scan, TupleTableSlot* row) {
  if (row == nullptr || scan->ss.ps.ps_ProjInfo == nullptr) return row;
  ResetExprContext(scan->ss.ps.ps_ExprContext);
  scan->ss.ps.ps_ExprContext->ecxt_scantuple = row;
  return ExecProject(scan->ss.ps.ps_ProjInfo);
}

// The slot may point into the rows.
template <class KeepingNode>
void forget_rows(KeepingNode* node) {
  if (node->memory == nullptr) return;
  ExecClearTuple(node->scan.ss.ss_ScanTupleSlot);
  close_partitions(&node->rows);
  MemoryContextDelete(node->memory);
  node->memory = nullptr;
}

template <class KeepingNode>
void read_again(KeepingNode* node) {
  forget_rows(node);
  PlanState* plan = &node->scan.ss.ps;
  if (plan->chgParam != nullptr) UpdateChangedParamSet(node->child, plan->chgParam);
  if (node->child->chgParam == nullptr) ExecReScan(node->child);
}

template <class KeepingNode>
void end_reading(KeepingNode* node) {
  forget_rows(node);
  ExecEndNode(node->child);
}

}  // namespace dpquantile
