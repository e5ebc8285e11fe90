#include "pg/plain/shared_parts.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/time_keys.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr int kMostValuesOfPart = 10 * kMaxElements;

// A factor, and its keys as expressions of the level that computes them.
struct KeysOfPart {
  Factor* factor;
  const Level* level;
  List* expressions;  // Node, in the order of the numbers
  List* lists;        // List: all values that each may have
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
  *keys = {factor, nullptr, NIL, NIL, nullptr};
  const int number = linitial_int(factor->numbers);
  if (list_length(factor->numbers) > 1 || bms_is_member(number, replacement.of_tables)) return keys;
  if (list_nth(replacement.others, number) != nullptr) return keys;
  const auto computed = computed_key(level, static_cast<Node*>(list_nth(replacement.keys, number)));
  keys->level = computed.level;
  keys->expressions = list_make1(computed.expression);
  keys->lists = list_make1(list_nth(replacement.whole_lists, number));
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
  return rows_in_lists(different_rows(rows, keys->expressions), keys->expressions, keys->lists);
}

// ---- One column ----------------------------------------------------------------------------

// Whether a key has a part that may be the same for all values beyond the bounds of its column.
bool has_choice(Node* key) {
  return any_node(key, [](const Node* node) {
    if (IsA(node, CaseExpr) || IsA(node, MinMaxExpr)) return true;
    if (IsA(node, FuncExpr) &&
        is_one_of(get_func_name(as<FuncExpr>(node)->funcid), "width_bucket sign")) {
      return true;
    }
    return !IsA(node, Var) && !IsA(node, List) && !IsA(node, Const) && exprType(node) == BOOLOID;
  });
}

// Whether a key is computed of another one alone, or of what that is the text of.
bool is_computed_of(Node* key, const Node* other) {
  const bool is_text = IsA(other, CoerceViaIO) && exprType(other) == TEXTOID;
  const Node* known = is_text ? as<Node>(as<CoerceViaIO>(other)->arg) : other;
  return !equal(key, other) && !search(key, [=](const Node* node) {
    if (equal(node, known)) return Look::kPast;
    return IsA(node, Var) ? Look::kFound : Look::kBelow;
  });
}

// The keys that are not computed of others.
List* first_keys(const List* keys) {
  List* first = NIL;
  for (auto* key : each<Node>(keys)) {
    bool is_computed = false;
    for (const auto* other : each<const Node>(keys)) is_computed |= is_computed_of(key, other);
    if (!is_computed) first = list_append_unique(first, key);
  }
  return first;
}

bool never_fall(const List* keys, const Node* column) {
  for (const auto* key : each<const Node>(keys)) {
    if (!never_falls(key, column)) return false;
  }
  return true;
}

// Whether each value of the lists of some keys is in one of these rows, which have the constants of
// the lists.
bool have_all_values(const KeysOfPart* keys, const List* some, const List* rows) {
  const ListCell* cell;
  foreach (cell, keys->lists) {
    if (!list_member(some, list_nth(keys->expressions, foreach_current_index(cell)))) continue;
    List* found = NIL;
    for (const auto* row : each<const List>(rows)) {
      found = lappend(found, list_nth(row, foreach_current_index(cell)));
    }
    list_sort(found, [](const ListCell* left, const ListCell* right) {
      return static_cast<int>(lfirst(left) > lfirst(right)) -
             static_cast<int>(lfirst(left) < lfirst(right));
    });
    int different = 0;
    const void* last = nullptr;
    for (const auto* value : each<const Const>(found)) {
      different += static_cast<int>(value != last);
      last = value;
    }
    if (different < list_length(static_cast<const List*>(lfirst(cell)))) return false;
  }
  return true;
}

bool are_of_one_column(const KeysOfPart* one, const KeysOfPart* other) {
  return one->column != nullptr && equal(one->column, other->column);
}

// Whether a row whose column is beyond the values that these rows are made of is in one of them, or
// has a key that is not in its list. That is true if the keys are computed of one key, all of
// whose values are here, or if no key ever falls while the column grows: then the row has the first
// or the last of each list, and these are together in a row. A listed text is beyond its list only
// where a condition or a CASE takes it.
bool are_complete(const KeysOfPart* keys, const List* rows) {
  const List* first = first_keys(keys->expressions);
  if (list_length(first) == 1 || never_fall(first, keys->column)) {
    return have_all_values(keys, first, rows);
  }
  return !type_with_bounds(exprType(keys->column)) && !has_choice(as<Node>(keys->expressions));
}

List* rows_of_values(const KeysOfPart* keys, const List* values) {
  List* all = list_copy(values);
  if (!has_null(all)) all = lappend(all, null_like(keys->column));
  return rows_in_lists(evaluated_rows(keys->level, keys->expressions, keys->column, all),
                       keys->expressions, keys->lists);
}

List* rows_of_column(const KeysOfPart* keys, Lists lists) {
  Node* column = keys->column;
  if (!looks_like_its_equals(column) || other_value_of(keys->level, column) != nullptr ||
      lacks_many_rows(keys->level, column)) {
    return NIL;
  }
  const auto values_between = [=](BoundsFor use) {
    return values_between_bounds(keys->level, column, use, kMostValuesOfPart);
  };
  if (const List* all = values_between(BoundsFor::kAllRows)) return rows_of_values(keys, all);
  const List* values = public_values_of(keys->level, column, lists);
  if (values == NIL) values = values_between(BoundsFor::kKeys);
  if (values == NIL) return NIL;
  List* rows = rows_of_values(keys, values);
  return are_complete(keys, rows) ? rows : NIL;
}

// ---- One moment ----------------------------------------------------------------------------

bool is_endless_choice(Node* key) {
  return has_choice(key) && !repeats(key);
}

// Choices of units that do not repeat have any part of moments beyond the bounds, unless another
// key tells what they are.
bool are_of_one_moment(const KeysOfPart* one, const KeysOfPart* other) {
  const Node* moment = moment_of_time_parts(one->expressions);
  if (moment == nullptr || !equal(moment, moment_of_time_parts(other->expressions))) return false;
  auto* left = static_cast<Node*>(linitial(one->expressions));
  auto* right = static_cast<Node*>(linitial(other->expressions));
  return (!is_endless_choice(left) || is_computed_of(left, right)) &&
         (!is_endless_choice(right) || is_computed_of(right, left));
}

List* rows_of_moments(const KeysOfPart* keys, Lists) {
  return rows_in_lists(rows_of_time_parts(keys->level, keys->expressions), keys->expressions,
                       keys->lists);
}

// ---- Factors -------------------------------------------------------------------------------

// Joins factors of which each two are `alike`, where `rows_of` finds the rows of their keys.
void join_factors(List* all, Lists lists, bool (*alike)(const KeysOfPart*, const KeysOfPart*),
                  List* (*rows_of)(const KeysOfPart*, Lists)) {
  const ListCell* cell;
  foreach (cell, all) {
    auto* first = static_cast<KeysOfPart*>(lfirst(cell));
    if (first->level == nullptr || first->factor == nullptr) continue;
    KeysOfPart joined = *first;
    Factor factor = {list_copy(first->factor->numbers), NIL};
    joined.expressions = list_copy(first->expressions);
    joined.lists = list_copy(first->lists);
    List* others = NIL;
    for (int i = foreach_current_index(cell) + 1; i < list_length(all); ++i) {
      auto* other = static_cast<KeysOfPart*>(list_nth(all, i));
      if (other->factor == nullptr || other->level != first->level || !alike(first, other))
        continue;
      factor.numbers = list_concat(factor.numbers, other->factor->numbers);
      joined.expressions = list_concat(joined.expressions, other->expressions);
      joined.lists = list_concat(joined.lists, other->lists);
      others = lappend(others, other);
    }
    if (others == NIL) continue;
    factor.rows = rows_of(&joined, lists);
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
  join_factors(all, lists, have_same_conditions, rows_of_choices);
  join_factors(all, lists, are_of_one_moment, rows_of_moments);
  join_factors(all, lists, are_of_one_column, rows_of_column);
  replacement->factors = NIL;
  for (const auto* keys : each<const KeysOfPart>(all)) {
    if (keys->factor != nullptr) {
      replacement->factors = lappend(replacement->factors, keys->factor);
    }
  }
}

}  // namespace dpquantile
