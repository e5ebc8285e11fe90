#include "pg/plain/shared_parts.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/time_keys.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

constexpr int kMostValuesOfPart = 10 * kMaxElements;

// A factor, and its keys as expressions of the level that computes them.
struct KeysOfPart {
  Factor* factor;
  const Level* level;
  List* expressions;  // Node, in the order of the numbers
  Node* column;       // the only one that they have, or null
};

// A key as the expression that a derived table has for it, unless an outer join may leave that out.
LevelExpression computed_key(const Level* level, Node* key) {
  constexpr int kMostSteps = 50;
  LevelExpression found{level, key};
  for (int i = 0; i < kMostSteps && IsA(found.expression, Var); ++i) {
    const auto* column = as<Var>(found.expression);
    const auto definition =
        column->varlevelsup > 0 ? std::nullopt : definition_of(found.level, column);
    if (!definition) break;
    const bool is_below = definition->level != found.level;
    if (is_below && may_be_absent(found.level, static_cast<int>(column->varno))) break;
    found = *definition;
  }
  return found;
}

Node* only_column(const List* expressions) {
  Node* found = nullptr;
  for (auto* expression : each<Node>(expressions)) {
    const List* columns = pull_vars_of_level(expression, 0);
    if (columns == NIL) return nullptr;
    for (auto* column : each<Node>(columns)) {
      if (found != nullptr && !equal(found, column)) return nullptr;
      found = column;
    }
  }
  return found;
}

KeysOfPart* keys_of_factor(const Level* level, const Replacement& replacement, Factor* factor) {
  auto* keys = static_cast<KeysOfPart*>(palloc(sizeof(KeysOfPart)));
  *keys = {factor, nullptr, NIL, nullptr};
  const int number = linitial_int(factor->numbers);
  if (list_length(factor->numbers) > 1 || bms_is_member(number, replacement.of_tables)) return keys;
  if (list_nth(replacement.others, number) != nullptr) return keys;
  const auto computed = computed_key(level, static_cast<Node*>(list_nth(replacement.keys, number)));
  keys->level = computed.level;
  keys->expressions = list_make1(computed.expression);
  keys->column = only_column(keys->expressions);
  return keys;
}

// ---- CASE with the same conditions ---------------------------------------------------------

// The CASE with constant results that is the only key of these, or null.
const CaseExpr* choice_of(const KeysOfPart* keys) {
  if (list_length(keys->expressions) != 1 || !IsA(linitial(keys->expressions), CaseExpr)) {
    return nullptr;
  }
  const auto* choice = static_cast<const CaseExpr*>(linitial(keys->expressions));
  for (const auto* branch : each<const CaseWhen>(choice->args)) {
    if (!IsA(branch->result, Const)) return nullptr;
  }
  return choice->defresult == nullptr || IsA(choice->defresult, Const) ? choice : nullptr;
}

bool have_same_conditions(const KeysOfPart* one, const KeysOfPart* other) {
  const CaseExpr* left = choice_of(one);
  const CaseExpr* right = choice_of(other);
  if (left == nullptr || right == nullptr || !equal(left->arg, right->arg)) return false;
  if (list_length(left->args) != list_length(right->args)) return false;
  if (contain_volatile_functions(as<Node>(const_cast<CaseExpr*>(left)))) return false;
  const ListCell* cell;
  foreach (cell, left->args) {
    const auto* branch = static_cast<const CaseWhen*>(lfirst(cell));
    const auto* same =
        static_cast<const CaseWhen*>(list_nth(right->args, foreach_current_index(cell)));
    if (!equal(branch->expr, same->expr)) return false;
  }
  return true;
}

Const* result_of(const CaseExpr* choice, int branch) {
  if (branch < list_length(choice->args)) {
    return static_cast<Const*>(
        copyObjectImpl(static_cast<const CaseWhen*>(list_nth(choice->args, branch))->result));
  }
  return choice->defresult == nullptr ? null_like(as<Node>(choice))
                                      : static_cast<Const*>(copyObjectImpl(choice->defresult));
}

List* rows_of_choices(const KeysOfPart* keys, Lists) {
  List* rows = NIL;
  const auto* first = static_cast<const CaseExpr*>(linitial(keys->expressions));
  for (int branch = 0; branch <= list_length(first->args); ++branch) {
    List* row = NIL;
    for (const auto* choice : each<const CaseExpr>(keys->expressions)) {
      row = lappend(row, result_of(choice, branch));
    }
    rows = lappend(rows, row);
  }
  return different_rows(rows, keys->expressions);
}

// ---- One column ----------------------------------------------------------------------------

bool is_time(const Node* column) {
  const Oid type = exprType(column);
  return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool is_choice(const Node* key) {
  return IsA(key, CaseExpr) || (!IsA(key, Var) && exprType(key) == BOOLOID);
}

bool are_of_one_column(const KeysOfPart* one, const KeysOfPart* other) {
  return one->column != nullptr && equal(one->column, other->column);
}

bool are_complete(const KeysOfPart* keys) {
  if (is_time(keys->column) || list_member(keys->expressions, keys->column)) return true;
  for (const auto* key : each<const Node>(keys->expressions)) {
    if (is_choice(key)) return false;
  }
  return true;
}

List* rows_of_column(const KeysOfPart* keys, Lists lists) {
  Node* column = keys->column;
  if (!are_complete(keys) || !looks_like_its_equals(column)) return NIL;
  if (other_value_of(keys->level, column) != nullptr || lacks_many_rows(keys->level, column)) {
    return NIL;
  }
  List* values = list_copy(public_values_of(keys->level, column, lists));
  if (values == NIL) values = values_between_bounds(keys->level, column, kMostValuesOfPart);
  if (values == NIL) return NIL;
  if (!has_null(values)) values = lappend(values, null_like(column));
  return evaluated_rows(keys->level, keys->expressions, column, values);
}

// ---- One moment ----------------------------------------------------------------------------

bool are_of_one_moment(const KeysOfPart* one, const KeysOfPart* other) {
  const Node* moment = moment_of_time_parts(one->expressions);
  return moment != nullptr && equal(moment, moment_of_time_parts(other->expressions));
}

List* rows_of_moments(const KeysOfPart* keys, Lists) {
  return rows_of_time_parts(keys->level, keys->expressions);
}

// ---- Factors -------------------------------------------------------------------------------

// Rows as the lists of their keys have them.
List* listed_rows(const Replacement& replacement, const Factor* factor, const KeysOfPart* keys,
                  const List* rows) {
  List* lists = NIL;
  const ListCell* cell;
  foreach (cell, factor->numbers) {
    lists = lappend(lists, list_nth(replacement.whole_lists, lfirst_int(cell)));
  }
  return rows_in_lists(rows, keys->expressions, lists);
}

// Joins factors of which each two are `alike`, where `rows_of` finds the rows of their keys.
void join_factors(Replacement* replacement, List* all, Lists lists,
                  bool (*alike)(const KeysOfPart*, const KeysOfPart*),
                  List* (*rows_of)(const KeysOfPart*, Lists)) {
  const ListCell* cell;
  foreach (cell, all) {
    auto* first = static_cast<KeysOfPart*>(lfirst(cell));
    if (first->level == nullptr || first->factor == nullptr) continue;
    KeysOfPart joined = *first;
    Factor factor = {list_copy(first->factor->numbers), NIL};
    joined.expressions = list_copy(first->expressions);
    List* others = NIL;
    for (int i = foreach_current_index(cell) + 1; i < list_length(all); ++i) {
      auto* other = static_cast<KeysOfPart*>(list_nth(all, i));
      if (other->factor == nullptr || other->level != first->level || !alike(first, other))
        continue;
      factor.numbers = list_concat(factor.numbers, other->factor->numbers);
      joined.expressions = list_concat(joined.expressions, other->expressions);
      others = lappend(others, other);
    }
    if (others == NIL) continue;
    factor.rows = listed_rows(*replacement, &factor, &joined, rows_of(&joined, lists));
    if (factor.rows == NIL) continue;
    joined.factor = static_cast<Factor*>(palloc(sizeof(Factor)));
    *joined.factor = factor;
    *first = joined;
    for (auto* other : each<KeysOfPart>(others)) other->factor = nullptr;
  }
}

}  // namespace

void join_keys_of_one_part(const Level* level, Lists lists, Replacement* replacement) {
  if (list_length(replacement->factors) < 2) return;
  List* all = NIL;
  for (auto* factor : each<Factor>(replacement->factors)) {
    all = lappend(all, keys_of_factor(level, *replacement, factor));
  }
  join_factors(replacement, all, lists, have_same_conditions, rows_of_choices);
  join_factors(replacement, all, lists, are_of_one_column, rows_of_column);
  join_factors(replacement, all, lists, are_of_one_moment, rows_of_moments);
  replacement->factors = NIL;
  for (const auto* keys : each<const KeysOfPart>(all)) {
    if (keys->factor != nullptr) {
      replacement->factors = lappend(replacement->factors, keys->factor);
    }
  }
}

}  // namespace dpquantile
