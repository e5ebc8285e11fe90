#pragma once

#include "pg/limits/row_partitions.hpp"

extern "C" {
#include "executor/executor.h"
}

// What the nodes of this room share: they read all rows of a child into parts before they give the
// first. A node has the members scan, child, rows, and memory, which is null without rows.
namespace dpquantile {

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
