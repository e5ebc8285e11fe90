#include "pg/distributed/function_rights.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// For check_functions_in_node().
bool require_execute(Oid function, void*) {
  const Datum may_execute = DirectFunctionCall2(
      has_function_privilege_id, ObjectIdGetDatum(function), CStringGetTextDatum("EXECUTE"));
  if (!DatumGetBool(may_execute)) {
    aclcheck_error(
        ACLCHECK_NO_PRIV,
        get_func_prokind(function) == PROKIND_AGGREGATE ? OBJECT_AGGREGATE : OBJECT_FUNCTION,
        get_func_name(function));
  }
  InvokeFunctionExecuteHook(function);
  return false;
}

// For query_tree_walker() and expression_tree_walker().
bool require_execute_below(Node* node, void*) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(require_execute_below), nullptr, 0);
  }
  (void)check_functions_in_node(node, require_execute, nullptr);
  return expression_tree_walker(node, DPQ_TREE_WALKER(require_execute_below), nullptr);
}

}  // namespace

void require_function_rights(const Node* node) {
  (void)require_execute_below(const_cast<Node*>(node), nullptr);
}

}  // namespace dpquantile
