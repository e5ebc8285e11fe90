#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
}

// A plan node of the extension, which PostgreSQL calls a custom scan: what its executor calls, and
// the state of the node in an execution.
namespace dpquantile {

// Without marks, and without memory that parallel workers share. Without `explain`, EXPLAIN shows
// the name alone.
constexpr CustomExecMethods custom_methods(
    const char* name, decltype(CustomExecMethods::BeginCustomScan) begin,
    decltype(CustomExecMethods::ExecCustomScan) execute,
    decltype(CustomExecMethods::EndCustomScan) end,
    decltype(CustomExecMethods::ReScanCustomScan) rescan,
    decltype(CustomExecMethods::ExplainCustomScan) explain = nullptr,
    decltype(CustomExecMethods::ShutdownCustomScan) shut_down = nullptr) {
  CustomExecMethods methods{};
  methods.CustomName = name;
  methods.BeginCustomScan = begin;
  methods.ExecCustomScan = execute;
  methods.EndCustomScan = end;
  methods.ReScanCustomScan = rescan;
  methods.ExplainCustomScan = explain;
  methods.ShutdownCustomScan = shut_down;
  return methods;
}

// A state full of zeros. Its first member is `scan`, a CustomScanState.
template <class State>
Node* make_custom_state(const CustomExecMethods* methods) {
  auto* state = static_cast<State*>(palloc0(sizeof(State)));
  NodeSetTag(&state->scan, T_CustomScanState);
  state->scan.methods = methods;
  return reinterpret_cast<Node*>(state);
}

}  // namespace dpquantile
