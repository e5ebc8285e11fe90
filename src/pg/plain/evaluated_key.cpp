#include "pg/plain/evaluated_key.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// These stable functions depend on the time zone, and on nothing else outside of their arguments.
constexpr char kOfTimeZone[] =
    "date_trunc timezone date timestamp timestamptz extract date_part date_bin to_timestamp "
    "to_date timestamptz_pl_interval timestamptz_mi_interval";

Oid language_of(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->prolang;
  ReleaseSysCache(row);
  return language;
}

// For check_functions_in_node(): whether the function cannot be called while planning.
bool is_other_function(Oid function, void*) {
  if (function >= FirstUnpinnedObjectId) return true;
  // An error in a function that is a query would leave a snapshot.
  if (language_of(function) != INTERNALlanguageId) return true;
  const char volatility = func_volatile(function);
  return volatility == PROVOLATILE_VOLATILE ||
         (volatility == PROVOLATILE_STABLE && !is_one_of(get_func_name(function), kOfTimeZone));
}

bool is_known_node(const Node* node) {
  switch (nodeTag(node)) {
    case T_Const:
    case T_FuncExpr:
    case T_OpExpr:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_NullIfExpr:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_CaseExpr:
    case T_CaseWhen:
    case T_CaseTestExpr:
    case T_ScalarArrayOpExpr:
    case T_ArrayExpr:
    case T_DistinctExpr:
    case T_List:
      return true;
    default:
      return false;
  }
}

bool has_unknown_part(const Node* expression, const Node* inner) {
  return search(expression, [&](Node* node) {
    if (equal(node, inner)) return Look::kPast;
    const bool is_known =
        is_known_node(node) && !check_functions_in_node(node, is_other_function, nullptr);
    return is_known ? Look::kBelow : Look::kFound;
  });
}

// Only functions of PostgreSQL's own are called, which change nothing that an error would leave.
Node* computed_or_null(Node* expression) {
  const MemoryContext context = CurrentMemoryContext;
  Node* volatile computed = nullptr;
  visit_nodes(expression, complete_arguments);
  PG_TRY();
  {
    computed = as<Node>(evaluate_expr(as<Expr>(expression), exprType(expression),
                                      exprTypmod(expression), exprCollation(expression)));
  }
  PG_CATCH();
  {
    const int code = geterrcode();
    const bool is_of_values = ERRCODE_TO_CATEGORY(code) == ERRCODE_DATA_EXCEPTION;
    if (!is_of_values) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
  }
  PG_END_TRY();
  return computed;
}

struct Order {
  FmgrInfo* compare;
  Oid collation;
};

int compare_values(const ListCell* left, const ListCell* right, const Order& order) {
  return DatumGetInt32(FunctionCall2Coll(order.compare, order.collation,
                                         static_cast<const Const*>(lfirst(left))->constvalue,
                                         static_cast<const Const*>(lfirst(right))->constvalue));
}

}  // namespace

bool can_be_evaluated(const Node* expression, const Node* inner) {
  return !expression_returns_set(const_cast<Node*>(expression)) &&
         !has_unknown_part(expression, inner);
}

Node* with_part(const Node* expression, const Node* part, const Node* other) {
  return mapped(const_cast<Node*>(expression), [&](Node* node) {
    return equal(node, part) ? static_cast<Node*>(copyObjectImpl(other)) : nullptr;
  });
}

Node* counterpart(const List* nodes, const List* others, const Node* node) {
  const ListCell* cell;
  foreach (cell, nodes) {
    if (!equal(lfirst(cell), node)) continue;
    return static_cast<Node*>(copyObjectImpl(list_nth(others, foreach_current_index(cell))));
  }
  return nullptr;
}

Const* evaluated(const Level* level, const Node* expression, const Node* inner,
                 const Const* value) {
  Node* whole = with_part(expression, inner, as<Node>(value));
  if (contain_mutable_functions(whole)) level->statement->has_values_of_time_zone = true;
  Node* computed = computed_or_null(whole);
  if (computed == nullptr || !IsA(computed, Const)) return nullptr;
  auto* constant = as<Const>(computed);
  constant->location = -1;
  return constant->constisnull ? nullptr : constant;
}

List* different_values(List* values, const Node* expression) {
  const TypeCacheEntry* type =
      lookup_type_cache(exprType(expression), TYPECACHE_CMP_PROC_FINFO | TYPECACHE_CMP_PROC);
  if (!OidIsValid(type->cmp_proc)) return NIL;
  static Order order;
  order = {const_cast<FmgrInfo*>(&type->cmp_proc_finfo), exprCollation(expression)};
  list_sort(values, [](const ListCell* left, const ListCell* right) {
    return compare_values(left, right, order);
  });
  List* different = NIL;
  for (int i = 0; i < list_length(values); ++i) {
    if (i > 0 &&
        compare_values(list_nth_cell(values, i - 1), list_nth_cell(values, i), order) == 0) {
      continue;
    }
    different = lappend(different, list_nth(values, i));
  }
  return different;
}

Const* as_stored(const Node* column, const Const* value) {
  auto* kept = static_cast<Const*>(copyObjectImpl(value));
  if (value->consttype >= FirstUnpinnedObjectId) return kept;
  auto* given = static_cast<Const*>(copyObjectImpl(value));
  given->consttypmod = -1;
  Node* cast =
      coerce_to_target_type(nullptr, as<Node>(given), value->consttype, value->consttype,
                            exprTypmod(column), COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
  auto* stored =
      cast == nullptr || cast == as<Node>(given) ? nullptr : as<Const>(computed_or_null(cast));
  if (stored == nullptr || !IsA(stored, Const) || stored->constisnull) return kept;
  const List* both = list_make2(stored, kept);
  if (list_length(different_values(const_cast<List*>(both), column)) != 1) return kept;
  kept->constvalue = stored->constvalue;
  return kept;
}

bool has_null(const List* values) {
  for (const auto* constant : each<const Const>(values)) {
    if (constant->constisnull) return true;
  }
  return false;
}

Const* null_like(const Node* expression) {
  return makeNullConst(exprType(expression), exprTypmod(expression), exprCollation(expression));
}

List* evaluated_list(const Level* level, const Node* expression, const Node* inner,
                     const List* values, bool* gives_null) {
  if (!can_be_evaluated(expression, inner)) return NIL;
  List* computed = NIL;
  for (const auto* constant : each<const Const>(values)) {
    CHECK_FOR_INTERRUPTS();
    Const* value = evaluated(level, expression, inner, constant);
    if (value != nullptr) computed = lappend(computed, value);
    *gives_null |= value == nullptr && !constant->constisnull;
  }
  List* different = different_values(computed, expression);
  return list_length(different) <= kMaxElements ? different : NIL;
}

}  // namespace dpquantile
