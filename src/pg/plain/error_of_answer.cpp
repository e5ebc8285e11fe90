#include "pg/plain/error_of_answer.hpp"

#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/own_objects.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

bool is_error_of_answer(const Node* node) {
  if (node == nullptr || !IsA(node, FuncExpr)) return false;
  const auto* call = as<FuncExpr>(node);
  const char* name = get_func_name(call->funcid);
  if (name == nullptr || strcmp(name, "dp_error_of") != 0) return false;
  return is_own_object(ProcedureRelationId, call->funcid);
}

const Aggref* answer_of_error(const Node* node) {
  if (!is_error_of_answer(node)) return nullptr;
  const List* arguments = as<FuncExpr>(node)->args;
  const auto* answer = static_cast<const Node*>(linitial(arguments));
  if (!IsA(answer, Aggref)) return nullptr;
  const auto* call = as<Aggref>(answer);
  return is_standard_aggregate(call) ? call : nullptr;
}

}  // namespace dpquantile
