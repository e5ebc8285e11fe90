#include "pg/release/statement_calls.hpp"

#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace dpquantile {

namespace {

// In the memory of its execution.
struct Statement {
  const EState* state;
  List* nodes;  // ReleaseNode
  bool is_checked;
  bool is_told;  // which answers are smaller than their errors
  MemoryContextCallback end;
  Statement* next;
};

Statement* statements = nullptr;

void forget(void* ended) {
  for (Statement** place = &statements; *place != nullptr; place = &(*place)->next) {
    if (*place != ended) continue;
    *place = (*place)->next;
    return;
  }
}

Statement* find_statement(const EState* state) {
  for (Statement* statement = statements; statement != nullptr; statement = statement->next) {
    if (statement->state == state) return statement;
  }
  return nullptr;
}

Statement* make_statement(EState* state) {
  auto* statement =
      static_cast<Statement*>(MemoryContextAllocZero(state->es_query_cxt, sizeof(Statement)));
  statement->state = state;
  statement->end = {forget, statement, nullptr};
  MemoryContextRegisterResetCallback(state->es_query_cxt, &statement->end);
  statement->next = statements;
  statements = statement;
  return statement;
}

// A subquery that is computed once is known before it is; a value of the query around is not.
bool is_known(const ReleaseNode* node) {
  const EState* state = node->scan.ss.ps.state;
  for (int i = 0; i < node->call_count; ++i) {
    const bool waits = any_node(node->calls[i].parameters, [=](const Node* parameter) {
      return IsA(parameter, Param) && as<Param>(parameter)->paramkind == PARAM_EXEC &&
             state->es_param_exec_vals[as<Param>(parameter)->paramid].execPlan == nullptr;
    });
    if (waits) return false;
  }
  return true;
}

}  // namespace

void add_to_statement(ReleaseNode* node) {
  EState* state = node->scan.ss.ps.state;
  Statement* statement = find_statement(state);
  if (statement == nullptr) statement = make_statement(state);
  const MemoryContext previous = MemoryContextSwitchTo(state->es_query_cxt);
  statement->nodes = lappend(statement->nodes, node);
  MemoryContextSwitchTo(previous);
}

void check_statement(const EState* state) {
  Statement* statement = find_statement(state);
  if (statement == nullptr || statement->is_checked) return;
  statement->is_checked = true;
  for (auto* node : each<ReleaseNode>(statement->nodes)) {
    if (is_known(node)) check_prices(node);
  }
}

void tell_of_statement(const EState* state) {
  Statement* statement = find_statement(state);
  if (statement == nullptr || statement->is_told) return;
  ErrorNotes notes{};
  for (const auto* node : each<const ReleaseNode>(statement->nodes)) {
    add_notes(&notes, node->notes);
  }
  statement->is_told = tell_of_notes(notes);
}

}  // namespace dpquantile
