#include "pg/vocabulary/node_functions.hpp"

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
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

// These run the functions of any view, type or function that they are asked for: they read it, make
// a value of it, or make the constants in its body. Those that show a view or rule ask for it in
// SQL, in which search_path may have an operator before PostgreSQL's.
bool runs_what_is_named(Oid function) {
  switch (function) {
#ifdef F_PG_INPUT_IS_VALID
    case F_PG_INPUT_IS_VALID:
    case F_PG_INPUT_ERROR_INFO:
#endif
    case F_FMGR_SQL_VALIDATOR:
    case F_FMGR_C_VALIDATOR:
    case F_FMGR_INTERNAL_VALIDATOR:
    case F_TABLE_TO_XML:
    case F_TABLE_TO_XMLSCHEMA:
    case F_TABLE_TO_XML_AND_XMLSCHEMA:
    case F_SCHEMA_TO_XML:
    case F_SCHEMA_TO_XMLSCHEMA:
    case F_SCHEMA_TO_XML_AND_XMLSCHEMA:
    case F_DATABASE_TO_XML:
    case F_DATABASE_TO_XMLSCHEMA:
    case F_DATABASE_TO_XML_AND_XMLSCHEMA:
    case F_PG_GET_VIEWDEF_TEXT:
    case F_PG_GET_VIEWDEF_OID:
    case F_PG_GET_VIEWDEF_TEXT_BOOL:
    case F_PG_GET_VIEWDEF_OID_BOOL:
    case F_PG_GET_VIEWDEF_OID_INT4:
    case F_PG_GET_RULEDEF_OID:
    case F_PG_GET_RULEDEF_OID_BOOL:
      return true;
    default:
      return false;
  }
}

}  // namespace

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
  const Size length = strlen(name);
  for (const char* at = names; (at = strstr(at, name)) != nullptr; ++at) {
    const bool begins = at == names || at[-1] == ' ';
    if (begins && (at[length] == ' ' || at[length] == '\0')) return true;
  }
  return false;
}

bool is_outside_function(Oid function) {
  return OidIsValid(function) && !runs_what_is_named(function) &&
         func_volatile(function) != PROVOLATILE_VOLATILE;
}

}  // namespace dpquantile
