#include "pg/distributed/function_rights.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
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

}  // namespace

void require_function_rights(const Node* node) {
  visit_nodes(
      node, [](Node* below) { (void)check_functions_in_node(below, require_execute, nullptr); },
      kIntoQueries);
}

}  // namespace dpquantile
