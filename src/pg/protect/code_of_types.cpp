#include "pg/protect/code_of_types.hpp"

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

bool takes_all_types(Oid function) {
  const FunctionRule* rule = find_rule(function);
  return rule != nullptr && rule->takes_any_type;
}

// Only a superuser makes base types, and casts of them.
bool is_of_superuser(Oid type) {
  const HeapTuple row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(row)) return false;
  const Oid owner = reinterpret_cast<Form_pg_type>(GETSTRUCT(row))->typowner;
  ReleaseSysCache(row);
  return superuser_arg(owner);
}

bool is_trusted_base(Oid type) {
  return passes_gate(TypeRelationId, type) ||
         (get_typtype(type) == TYPTYPE_BASE && is_of_superuser(type));
}

// Whether a value can be written, in any form, without code of a user. PostgreSQL looks for casts
// of the base type of a domain.
bool is_trusted(Oid type) {
  const Oid base = getBaseType(type);
  if (get_typtype(base) == TYPTYPE_PSEUDO) return base == UNKNOWNOID || base == VOIDOID;
  const Oid element = get_element_type(base);
  return OidIsValid(element) ? is_trusted(element) : is_trusted_base(base);
}

// Whether a value can be made from a text or from JSON without code of a user.
bool is_made_without_code(Oid type) {
  const Oid element = get_element_type(type);
  if (OidIsValid(element)) return is_made_without_code(element);
  return get_typtype(type) == TYPTYPE_ENUM || is_trusted_base(type);
}

const JudgedLevel* level_of(const JudgedLevel* level, const Var* column) {
  for (Index i = 0; i < column->varlevelsup && level != nullptr; ++i) level = level->parent;
  return level;
}

// What a function may do with the types of its arguments.
enum class Use {
  kWritten,  // their values are written
  kMade,     // values of them are made, too: of the fields of a row
};

bool is_trusted_for(Oid type, Use use) {
  return is_trusted(type) && (use == Use::kWritten || is_made_without_code(type));
}

bool are_trusted(const List* expressions, Use use) {
  for (auto* node : each<Node>(expressions)) {
    if (!is_trusted_for(exprType(node), use)) return false;
  }
  return true;
}

// A whole row of an entry of FROM has the types of its columns. Those of a table may be changed
// until the query starts, by code that the planner evaluates, such as the predicate of another
// index.
bool is_trusted_row(const JudgedLevel* level, const Node* node, Use use) {
  if (IsA(node, RowExpr)) {
    const auto* row = as<RowExpr>(node);
    return row->row_typeid == RECORDOID && are_trusted(row->args, use);
  }
  if (!IsA(node, Var) || as<Var>(node)->varattno != InvalidAttrNumber) {
    return false;
  }
  const auto* row = as<Var>(node);
  const JudgedLevel* of = level_of(level, row);
  if (of == nullptr || row->varno < 1 || row->varno > list_length(of->query->rtable)) return false;
  RangeTblEntry* entry = rt_fetch(row->varno, of->query->rtable);
  if (entry->rtekind == RTE_RELATION) return false;
  List* columns = NIL;
  DPQ_EXPAND_ENTRY(entry, row->varno, &columns);
  return are_trusted(columns, use);
}

struct Call {
  Oid function;  // invalid if the node is no call
  List* arguments;
};

Call call_of(Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
      return {as<FuncExpr>(node)->funcid, arguments_of(node)};
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      set_opfuncid(as<OpExpr>(node));
      return {as<OpExpr>(node)->opfuncid, arguments_of(node)};
    case T_ScalarArrayOpExpr:
      set_sa_opfuncid(as<ScalarArrayOpExpr>(node));
      return {as<ScalarArrayOpExpr>(node)->opfuncid, arguments_of(node)};
    case T_Aggref: {
      const auto* aggregate = as<Aggref>(node);
      return {aggregate->aggfnoid, list_concat_copy(aggregate->aggdirectargs, aggregate->args)};
    }
    case T_WindowFunc: {
      const auto* window = as<WindowFunc>(node);
      return {window->winfnoid, window->args};
    }
    default:
      return {InvalidOid, NIL};
  }
}

Node* value_of(void* argument) {
  auto* node = static_cast<Node*>(argument);
  if (IsA(node, TargetEntry)) {
    node = as<Node>(as<TargetEntry>(node)->expr);
  }
  if (IsA(node, NamedArgExpr)) {
    node = as<Node>(as<NamedArgExpr>(node)->arg);
  }
  return node;
}

// The functions of this extension make no values of types of users.
Oid type_in_call(const JudgedLevel* level, const Node* node, const Call& call) {
  if (call.function >= FirstNormalObjectId || takes_all_types(call.function)) return InvalidOid;
  const Oid result = exprType(node);
  const Use use = result == RECORDOID ? Use::kMade : Use::kWritten;
  if (use == Use::kWritten && !is_trusted_for(result, Use::kMade)) return result;
  const ListCell* cell;
  foreach (cell, call.arguments) {
    const Node* argument = value_of(lfirst(cell));
    const Oid type = exprType(argument);
    if (!is_trusted_for(type, use) && !is_trusted_row(level, argument, use)) return type;
  }
  return InvalidOid;
}

Oid type_in_columns(const RangeTblFunction* function) {
  for (const Oid oid : each_oid(function->funccoltypes)) {
    if (!is_made_without_code(oid)) return oid;
  }
  return InvalidOid;
}

}  // namespace

Oid type_with_code(const JudgedLevel* level, Node* node) {
  if (IsA(node, CoerceViaIO)) {
    const Oid type = as<CoerceViaIO>(node)->resulttype;
    return is_made_without_code(type) ? InvalidOid : type;
  }
  if (IsA(node, RangeTblFunction)) {
    return type_in_columns(as<RangeTblFunction>(node));
  }
  const Call call = call_of(node);
  return OidIsValid(call.function) ? type_in_call(level, node, call) : InvalidOid;
}

}  // namespace dpquantile
