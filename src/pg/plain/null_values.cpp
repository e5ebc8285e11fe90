#include "pg/plain/null_values.hpp"

#include "pg/grants/reference.hpp"
#include "pg/plain/calls_with_value.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/person_aggregates.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// ---- Conditions ----------------------------------------------------------------------------

// Whether an expression is NULL if a part of it is.
bool passes_null_on(const Node* expression, const Node* part) {
  check_stack_depth();
  if (equal(expression, part)) return true;
  const auto any_passes = [&](const List* arguments) {
    for (const auto* argument : each<const Node>(arguments)) {
      if (passes_null_on(argument, part)) return true;
    }
    return false;
  };
  switch (nodeTag(expression)) {
    case T_FuncExpr:
      return func_strict(as<FuncExpr>(expression)->funcid) &&
             any_passes(as<FuncExpr>(expression)->args);
    case T_OpExpr:
      return op_strict(as<OpExpr>(expression)->opno) && any_passes(as<OpExpr>(expression)->args);
    case T_RelabelType:
      return passes_null_on(as<Node>(as<RelabelType>(expression)->arg), part);
    case T_CoerceViaIO:
      return passes_null_on(as<Node>(as<CoerceViaIO>(expression)->arg), part);
    case T_BoolExpr: {
      const auto* condition = as<BoolExpr>(expression);
      return condition->boolop == NOT_EXPR && any_passes(condition->args);
    }
    default:
      return false;
  }
}

// Whether a condition is not true where a part of it is NULL. Of no elements IN is false.
bool rules_out_null(const Node* condition, const Node* part) {
  check_stack_depth();
  if (IsA(condition, ScalarArrayOpExpr)) {
    const auto* search = as<ScalarArrayOpExpr>(condition);
    return search->useOr && op_strict(search->opno) &&
           passes_null_on(static_cast<const Node*>(linitial(search->args)), part);
  }
  if (IsA(condition, NullTest)) {
    const auto* test = as<NullTest>(condition);
    return test->nulltesttype == IS_NOT_NULL && passes_null_on(as<Node>(test->arg), part);
  }
  if (IsA(condition, BooleanTest)) {
    const auto* test = as<BooleanTest>(condition);
    const bool is_of_values = test->booltesttype == IS_TRUE || test->booltesttype == IS_FALSE ||
                              test->booltesttype == IS_NOT_UNKNOWN;
    return is_of_values && passes_null_on(as<Node>(test->arg), part);
  }
  if (!IsA(condition, BoolExpr) || as<BoolExpr>(condition)->boolop == NOT_EXPR) {
    return passes_null_on(condition, part);
  }
  const bool is_or = as<BoolExpr>(condition)->boolop == OR_EXPR;
  for (const auto* term : each<const Node>(as<BoolExpr>(condition)->args)) {
    if (rules_out_null(term, part) != is_or) return !is_or;
  }
  return is_or;
}

bool is_ruled_out(const Level* level, const Node* part) {
  for (const auto* term : each<const Node>(terms_of_all_rows(level))) {
    if (rules_out_null(term, part)) return true;
  }
  return false;
}

// ---- Columns -------------------------------------------------------------------------------

// Whether an outer join may put NULLs in the place of an entry's rows.
bool is_on_open_side(const Node* from, int entry, bool is_absent) {
  if (IsA(from, RangeTblRef)) return is_absent && as<RangeTblRef>(from)->rtindex == entry;
  if (IsA(from, FromExpr)) {
    for (const auto* node : each<const Node>(as<FromExpr>(from)->fromlist)) {
      if (is_on_open_side(node, entry, is_absent)) return true;
    }
    return false;
  }
  const auto* join = as<JoinExpr>(from);
  const bool keeps_left = join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT;
  const bool keeps_right = join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT;
  return is_on_open_side(join->larg, entry, is_absent || !keeps_left) ||
         is_on_open_side(join->rarg, entry, is_absent || !keeps_right);
}

// The column of an entry that an expression shows as it is, perhaps as another type of the same
// form; null if it shows something else.
const Var* shown_column(const Level* level, const Node* expression) {
  while (true) {
    if (IsA(expression, RelabelType)) {
      expression = as<Node>(as<RelabelType>(expression)->arg);
      continue;
    }
    if (!IsA(expression, Var) || as<Var>(expression)->varlevelsup > 0) return nullptr;
    const Node* merged = merged_column(level->query, as<Var>(expression));
    if (merged == nullptr) return as<Var>(expression);
    expression = merged;
  }
}

// A term of a join that compares a column of an entry with another one.
struct ComparedColumns {
  const Var* key;  // of the entry; null if the term is another one
  const Var* own;
  Oid equality;  // key = own
};

ComparedColumns compared_columns(const Level* level, const Node* term, int entry) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return {};
  const auto* comparison = as<OpExpr>(term);
  const Oid collation = comparison->inputcollid;
  if (OidIsValid(collation) && !get_collation_isdeterministic(collation)) return {};
  const Var* left = shown_column(level, static_cast<const Node*>(linitial(comparison->args)));
  const Var* right = shown_column(level, static_cast<const Node*>(lsecond(comparison->args)));
  if (left == nullptr || right == nullptr || left->varno == right->varno) return {};
  if (static_cast<int>(left->varno) == entry) return {left, right, comparison->opno};
  if (static_cast<int>(right->varno) != entry) return {};
  return {right, left, get_commutator(comparison->opno)};
}

// Whether terms of a join say that the columns of a foreign key are equal to those that it names,
// and nothing else. Several must be of one row.
bool compare_reference(const Level* level, const List* terms, int entry,
                       const Reference* reference) {
  if (!reference->is_checked || has_children_besides_partitions(reference->relation)) return false;
  if (list_length(terms) != reference->columns) return false;
  Index of_rows = 0;
  for (const auto* term : each<const Node>(terms)) {
    const auto [key, own, equality] = compared_columns(level, term, entry);
    if (key == nullptr) return false;
    const auto origin = origin_of(level, as<Node>(own));
    bool is_of_reference = false;
    for (int i = 0; origin && i < reference->columns; ++i) {
      is_of_reference |=
          key->varattno == reference->key[i] && origin->column == reference->own[i] &&
          origin->relation == reference->relation && equality == reference->equality[i];
    }
    const auto number = static_cast<Index>(own->varno);
    const bool is_same_row = of_rows == number && entry_of(level, own->varno).below == nullptr;
    if (!is_of_reference || (of_rows != 0 && !is_same_row)) return false;
    of_rows = number;
  }
  return true;
}

bool is_valid(const ColumnOrigin& not_null) {
  HeapTuple constraint = DPQ_NOT_NULL_CONSTRAINT(not_null.relation, not_null.column);
  if (!HeapTupleIsValid(constraint)) return true;
  const bool is_valid = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(constraint))->convalidated;
  heap_freetuple(constraint);
  return is_valid;
}

// Finds whether values may be NULL. After so many nodes they may: derived tables can double each
// other, level by level.
class NullSearch {
 public:
  explicit NullSearch(TimesOf times) : times_(times) {}

  bool may_be_null(const Level* level, Node* expression);
  bool may_be_absent(const Level* level, int entry);

 private:
  bool compares_null(const Level* level, int entry);
  bool column_may_be_null(const Level* level, const Var* column);
  bool all_may_be_null(const Level* level, const List* arguments);
  bool any_may_be_null(const Level* level, Node* expression);
  bool element_may_be_null(const Level* level, const ScalarArrayOpExpr* search);
  bool case_may_be_null(const Level* level, const CaseExpr* choice);

  static constexpr int kMostNodes = 1000;
  int nodes_ = 0;
  TimesOf times_;
};

// Whether the outer join of an entry compares a column of other rows with it that may be NULL. If
// not, no other outer join has left these rows out.
bool NullSearch::compares_null(const Level* level, int entry) {
  for (const auto* term :
       each<const Node>(terms_of(condition_of_outer_join(level->query, entry)))) {
    const Var* own = compared_columns(level, term, entry).own;
    if (own == nullptr || may_be_null(level, as<Node>(const_cast<Var*>(own)))) return true;
  }
  return false;
}

}  // namespace

// The constraint is as public as all catalogs.
bool finds_row_of_reference(const Level* level, int entry) {
  const List* terms = terms_of(condition_of_outer_join(level->query, entry));
  if (terms == NIL || !is_readable_table(level, entry)) return false;
  const Var* first = compared_columns(level, static_cast<const Node*>(linitial(terms)), entry).own;
  const auto origin = first == nullptr ? std::nullopt : origin_of(level, as<Node>(first));
  if (!origin) return false;
  const Oid referenced = entry_of(level, entry).table->relid;
  for (const auto* reference :
       each<const Reference>(references_between(origin->relation, referenced))) {
    if (compare_reference(level, terms, entry, reference)) return true;
  }
  return false;
}

namespace {

bool NullSearch::may_be_absent(const Level* level, int entry) {
  return is_on_open_side(as<Node>(level->query->jointree), entry, false) &&
         !(finds_row_of_reference(level, entry) && !compares_null(level, entry));
}

bool NullSearch::column_may_be_null(const Level* level, const Var* column) {
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return true;
  if (may_be_absent(level, static_cast<int>(column->varno))) return true;
  auto* here = static_cast<Var*>(copyObjectImpl(column));
  here->varlevelsup = 0;
  if (const auto definition = definition_of(level, here)) {
    return may_be_null(definition->level, definition->expression);
  }
  if (const List* definitions = definitions_in_branches(level, here)) {
    for (const auto* definition : each<const LevelExpression>(definitions)) {
      if (may_be_null(definition->level, definition->expression)) return true;
    }
    return false;
  }
  const Entry& entry = entry_of(level, static_cast<int>(column->varno));
  if (!OidIsValid(entry.relation)) return true;
  if (entry.below == nullptr) return !is_stated_not_null({entry.relation, column->varattno});
  // A protected view has what its query shows.
  const List* columns = entry.below->query->targetList;
  return hides_rows(entry.below) || column->varattno > list_length(columns) ||
         may_be_null(
             entry.below,
             as<Node>(
                 static_cast<const TargetEntry*>(list_nth(columns, column->varattno - 1))->expr));
}

bool is_count(const Aggref* call) {
  return call->aggfnoid == F_COUNT_ || call->aggfnoid == F_COUNT_ANY;
}

// Whether an aggregate of rows of which none is NULL is not NULL. Others may want two rows, or give
// NULL as a value. Sums may be too large.
bool has_value_of_rows(const Level* level, const Aggref* call) {
  if (call->aggfilter != nullptr) return false;
  const PersonAggregate* found = find_person_aggregate(call->aggfnoid);
  if (found == nullptr ||
      !is_one_of(get_func_name(call->aggfnoid),
                 "avg bit_and bit_or bit_xor bool_and bool_or every max min percentile_cont "
                 "percentile_disc stddev_pop sum var_pop")) {
    return false;
  }
  auto* value = as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
  return found->call == PersonCall::kAsItIs || is_short_text(level, value) ||
         bounds_of(level, value, BoundsFor::kAllNumbers);
}

// Others are NULL for a row of which there is no other row, or no frame.
bool is_number_of_rows(const WindowFunc* call) {
  switch (call->winfnoid) {
    case F_ROW_NUMBER:
    case F_RANK_:
    case F_DENSE_RANK_:
    case F_COUNT_:
    case F_COUNT_ANY:
      return true;
    default:
      return false;
  }
}

bool NullSearch::all_may_be_null(const Level* level, const List* arguments) {
  for (auto* argument : each<Node>(arguments)) {
    if (!may_be_null(level, argument)) return false;
  }
  return true;
}

}  // namespace

bool is_stated_not_null(const ColumnOrigin& column) {
  HeapTuple row =
      SearchSysCache2(ATTNUM, ObjectIdGetDatum(column.relation), Int16GetDatum(column.column));
  if (!HeapTupleIsValid(row)) return false;
  const bool is_stated = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row))->attnotnull;
  ReleaseSysCache(row);
  // A child may leave NOT NULL out.
  return is_stated && is_valid(column) && !has_children_besides_partitions(column.relation);
}

namespace {

// What is never NULL, whatever its parts are.
bool has_always_value(const Node* expression) {
  switch (nodeTag(expression)) {
    case T_NullTest:
    case T_BooleanTest:
    case T_DistinctExpr:
    case T_ArrayExpr:
    case T_GroupingFunc:
      return true;
    case T_SubLink:
      return as<SubLink>(expression)->subLinkType == EXISTS_SUBLINK;
    case T_SQLValueFunction:
      return as<SQLValueFunction>(expression)->op != SVFOP_CURRENT_SCHEMA;
    default:
      return false;
  }
}

bool is_call(const Node* expression) {
  return IsA(expression, FuncExpr) || IsA(expression, OpExpr) || IsA(expression, CoerceViaIO);
}

bool NullSearch::any_may_be_null(const Level* level, Node* expression) {
  return any_child(expression, [=, this](Node* part) { return may_be_null(level, part); });
}

// IN, ANY and ALL are NULL where an element is NULL and the others do not decide.
bool NullSearch::element_may_be_null(const Level* level, const ScalarArrayOpExpr* search) {
  const auto* array = static_cast<const Node*>(lsecond(search->args));
  while (IsA(array, RelabelType)) array = as<Node>(as<RelabelType>(array)->arg);
  if (IsA(array, ArrayExpr)) {
    return as<ArrayExpr>(array)->multidims ||
           any_may_be_null(level, as<Node>(const_cast<ArrayExpr*>(as<ArrayExpr>(array))));
  }
  const auto* known = as<Const>(folded(array, level->statement->parameters));
  return !IsA(known, Const) || known->constisnull ||
         array_contains_nulls(DatumGetArrayTypeP(known->constvalue));
}

// Conditions that are NULL are not true.
bool NullSearch::case_may_be_null(const Level* level, const CaseExpr* choice) {
  for (const auto* branch : each<const CaseWhen>(choice->args)) {
    const auto* condition = as<Node>(branch->expr);
    auto* result = as<Node>(branch->result);
    const bool is_known = choice->arg == nullptr && rules_out_null(condition, result);
    if (!is_known && may_be_null(level, result)) return true;
  }
  return choice->defresult == nullptr || may_be_null(level, as<Node>(choice->defresult));
}

// What is not named here may be NULL.
bool NullSearch::may_be_null(const Level* level, Node* expression) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (++nodes_ > kMostNodes) return true;
  if (IsA(expression, Const)) return as<Const>(expression)->constisnull;
  if (has_always_value(expression) || is_ruled_out(level, expression)) return false;
  if (is_call(expression) && has_known_value(level, expression)) return false;
  switch (nodeTag(expression)) {
    case T_Var:
      return column_may_be_null(level, as<Var>(expression));
    case T_Param: {
      const auto* known = as<Const>(folded(expression, level->statement->parameters));
      return !IsA(known, Const) || known->constisnull;
    }
    case T_List:
    case T_TargetEntry:
    case T_RelabelType:
    case T_CollateExpr:
    case T_BoolExpr:
      return any_may_be_null(level, expression);
    case T_FuncExpr:
      if (as<FuncExpr>(expression)->funcid == F_CONCAT) {
        return !gives_value_for_values(level, expression, times_);
      }
      [[fallthrough]];
    case T_OpExpr:
    case T_CoerceViaIO:
      return !gives_value_for_values(level, expression, times_) ||
             any_may_be_null(level, expression);
    case T_ScalarArrayOpExpr:
      return !gives_value_for_values(level, expression, times_) ||
             element_may_be_null(level, as<ScalarArrayOpExpr>(expression)) ||
             any_may_be_null(level, expression);
    case T_CoalesceExpr:
      return all_may_be_null(level, as<CoalesceExpr>(expression)->args);
    case T_MinMaxExpr:
      return all_may_be_null(level, as<MinMaxExpr>(expression)->args);
    case T_CaseExpr:
      return case_may_be_null(level, as<CaseExpr>(expression));
    case T_Aggref:  // of a person group: count() of nothing is 0
      if (is_count(as<Aggref>(expression))) return false;
      return !has_value_of_rows(level, as<Aggref>(expression)) ||
             any_may_be_null(level, expression);
    case T_WindowFunc:
      if (as<WindowFunc>(expression)->winfnoid == F_NTILE) {
        return any_may_be_null(level, as<Node>(as<WindowFunc>(expression)->args));
      }
      return !is_number_of_rows(as<WindowFunc>(expression));
    default:
      return true;
  }
}

}  // namespace

const Node* condition_of_outer_join(const Query* query, int entry) {
  const Node* found = nullptr;
  visit_nodes(query->jointree, [&](const Node* node) {
    if (!IsA(node, JoinExpr)) return;
    const auto* join = as<JoinExpr>(node);
    const Node* side = join->jointype == JOIN_LEFT    ? join->rarg
                       : join->jointype == JOIN_RIGHT ? join->larg
                                                      : nullptr;
    if (side == nullptr || !IsA(side, RangeTblRef)) return;
    if (as<RangeTblRef>(side)->rtindex == entry) found = join->quals;
  });
  return found;
}

bool may_be_absent(const Level* level, int entry) {
  return NullSearch(TimesOf::kAny).may_be_absent(level, entry);
}

bool may_be_null(const Level* level, Node* expression, TimesOf times) {
  return NullSearch(times).may_be_null(level, expression);
}

}  // namespace dpquantile
