#include "pg/vocabulary/node_functions.hpp"

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

struct Search {
  bool (*allows)(Oid);
  Oid found;
};

// For check_functions_in_node(). `search` is a Search*.
bool is_other(Oid function, void* search) {
  auto* context = static_cast<Search*>(search);
  if (context->allows(function)) return false;
  context->found = function;
  return true;
}

}  // namespace

void complete_arguments(Node* node) {
  if (!IsA(node, FuncExpr)) return;
  auto* call = as<FuncExpr>(node);
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
  if (!HeapTupleIsValid(row)) return;
  call->args = expand_function_arguments(call->args, false, call->funcresulttype, row);
  ReleaseSysCache(row);
}

Oid find_other_function(Node* node, bool (*allows)(Oid)) {
  Search search = {allows, InvalidOid};
  if (IsA(node, MinMaxExpr)) {
    const TypeCacheEntry* type =
        lookup_type_cache(as<MinMaxExpr>(node)->minmaxtype, TYPECACHE_CMP_PROC);
    // PostgreSQL refuses a type that has none.
    if (OidIsValid(type->cmp_proc)) (void)is_other(type->cmp_proc, &search);
  } else {
    (void)check_functions_in_node(node, is_other, &search);
  }
  return search.found;
}

List* arguments_of(const Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      return as<FuncExpr>(node)->args;
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      return as<OpExpr>(node)->args;
    case T_ScalarArrayOpExpr:
      return as<ScalarArrayOpExpr>(node)->args;
    case T_MinMaxExpr:
      return as<MinMaxExpr>(node)->args;
    default:
      return NIL;
  }
}

Oid function_of(const Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      return as<FuncExpr>(node)->funcid;
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      return as<OpExpr>(node)->opfuncid;
    case T_ScalarArrayOpExpr:
      return as<ScalarArrayOpExpr>(node)->opfuncid;
    default:
      return InvalidOid;
  }
}

int first_argument(const Node* node) {
  return variant_of_call(node) == nullptr ? 0 : kBeforeArguments;
}

Node* argument_of(const Node* node, int number) {
  const List* arguments = arguments_of(node);
  const int place = first_argument(node) + number;
  return place < list_length(arguments) ? static_cast<Node*>(list_nth(arguments, place)) : nullptr;
}

bool is_one_of(const char* name, const char* names) {
  if (name == nullptr) return false;
  const Size length = strlen(name);
  for (const char* at = names; (at = strstr(at, name)) != nullptr; ++at) {
    const bool begins = at == names || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

bool is_outside_function(Oid function) {
  const FunctionRule* rule = find_rule(function);
  return OidIsValid(function) && (rule == nullptr || rule->place != CallPlace::kNever) &&
         func_volatile(function) != PROVOLATILE_VOLATILE;
}

}  // namespace dpquantile
