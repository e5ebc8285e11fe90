#include "pg/plain/keyed_query.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/empty_answers.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/list_join.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/persons_by_group.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A list with more columns than this is compared row by row, which takes long with more constants.
constexpr int kMostHashedKeys = 4;
constexpr int kMostKeysWithNull = 30;  // the bits of an integer
constexpr int kMostConstants = 2 * kMaxElements;

// ---- What is replaced ----------------------------------------------------------------------

Const* substitute_of(const List* values) {
  for (auto* value : each<Const>(values)) {
    if (!value->constisnull) return value;
  }
  return nullptr;
}

const char* name_of_key(const Query* query, const Node* key) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (!equal(column->expr, key)) continue;
    if (!column->resjunk && column->resname != nullptr) return column->resname;
    if (!IsA(key, Var) || as<Var>(key)->varattno < 1) break;
    const auto* table = rt_fetch(as<Var>(key)->varno, query->rtable);
    return get_rte_attribute_name(const_cast<RangeTblEntry*>(table), as<Var>(key)->varattno);
  }
  return "?column?";
}

// Whether a key is of columns of tables that are not protected alone, of which nobody lists keys.
bool is_of_public_table(const PlainLevel* level, Node* key) {
  bool has_column = false;
  const bool has_other = search(key, [&](Node* node) {
    if (!IsA(node, Var)) return IsA(node, Query) ? Look::kFound : Look::kBelow;
    has_column = true;
    const auto origin = origin_of(level->select, node);
    const bool is_public = origin && find_protected_relation(origin->relation) == nullptr;
    return is_public ? Look::kPast : Look::kFound;
  });
  return has_column && !has_other;
}

// Whether all keys have public lists. Else the level notes why.
bool find_keys(PlainLevel* level, const List* clauses, Replacement* replacement) {
  const List* columns =
      get_sortgrouplist_exprs(const_cast<List*>(clauses), level->select->query->targetList);
  bool has_other_keys = false;
  for (const auto* key : each<const Node>(columns)) has_other_keys |= !IsA(key, Const);
  for (const auto* column : each<const TargetEntry>(level->select->query->targetList)) {
    const Index reference = column->ressortgroupref;
    if (get_sortgroupref_clause_noerr(reference, const_cast<List*>(clauses)) == nullptr) continue;
    auto* key = as<Node>(column->expr);
    // It stays a key beside those of the lists.
    if (IsA(key, Const) && has_other_keys) continue;
    List* values = shown_values_of(level->select, key);
    if (values == NIL) {
      level->unlisted = psprintf("Key \"%s\" has no public list of at most %d values.",
                                 name_of_key(level->select->query, key), kMaxElements);
      level->is_public_key = is_of_public_table(level, key);
      return false;
    }
    if (has_null(values)) {
      replacement->nulls = bms_add_member(replacement->nulls, list_length(replacement->keys));
    }
    replacement->keys = lappend(replacement->keys, key);
    replacement->lists = lappend(replacement->lists, values);
    replacement->substitutes = lappend(replacement->substitutes, substitute_of(values));
    replacement->others =
        lappend(replacement->others, const_cast<Const*>(other_value_of(level->select, key)));
    replacement->whole_lists = lappend(replacement->whole_lists, values);
  }
  return true;
}

int longest_list(const Replacement& replacement) {
  int longest = 0;
  for (const auto* values : each<const List>(replacement.lists)) {
    longest = Max(longest, list_length(values));
  }
  return longest;
}

// Most of many combinations would have no rows. But who has made a list wants all of it.
int most_combinations(const Replacement& replacement) {
  const int longest = has_array_types(replacement) ? longest_list(replacement) : 0;
  const int most = Max(kMaxElements, Min(longest, kMostListed));
  const int columns = list_length(replacement.keys) + (replacement.nulls == nullptr ? 0 : 1);
  return columns <= kMostHashedKeys ? most : Min(most, kMostConstants / columns);
}

bool are_few(const Replacement& replacement) {
  return combinations(replacement) <= most_combinations(replacement) &&
         bms_num_members(replacement.nulls) <= kMostKeysWithNull;
}

void check_combinations(const PlainLevel* level, const Replacement& replacement) {
  if (are_few(replacement)) return;
  // PostgreSQL 18 forgets where keys are in the text.
  refuse_with_code(
      level->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
      psprintf("the %d keys in GROUP BY have %.0f combinations, which are too many groups",
               list_length(replacement.keys), combinations(replacement)),
      "Group by fewer columns, or by coarser ones.");
}

// The conditions, prepared for rows of keys. Those that cannot be computed may be true of each row.
List* tests_of(const Level* level, const List* keys, const List* conditions) {
  List* tests = NIL;
  for (auto* condition : each<Node>(conditions)) {
    // WHERE false is how tools ask for the columns of an answer.
    if (!contain_var_clause(condition) || !can_be_evaluated(condition, keys)) continue;
    auto* test = static_cast<PreparedExpression*>(palloc(sizeof(PreparedExpression)));
    *test = prepare_expression(level, condition, keys);
    tests = lappend(tests, test);
  }
  return tests;
}

bool is_true(const PreparedExpression& test, const List* row) {
  const NullableDatum value = compute(test, row);
  return !value.isnull && DatumGetBool(value.value);
}

bool may_be_shown(const List* tests, const List* row) {
  for (const auto* test : each<const PreparedExpression>(tests)) {
    if (!is_true(*test, row)) return false;
  }
  return true;
}

// How many values a condition of the form key = value or key IN (values) names; 0 for others.
int count_named_values(const Node* condition, const Node* key) {
  const bool is_operation = IsA(condition, OpExpr);
  if (!is_operation && !IsA(condition, ScalarArrayOpExpr)) return 0;
  const auto* search = as<ScalarArrayOpExpr>(condition);
  const Oid operation = is_operation ? as<OpExpr>(condition)->opno : search->opno;
  const List* sides = is_operation ? as<OpExpr>(condition)->args : search->args;
  if (!op_mergejoinable(operation, exprType(key)) || list_length(sides) != 2) return 0;
  if (is_operation) return equal(linitial(sides), key) || equal(lsecond(sides), key) ? 1 : 0;
  const auto* array = static_cast<const Node*>(lsecond(sides));
  if (!search->useOr || !equal(linitial(sides), key)) return 0;
  if (IsA(array, ArrayExpr)) return list_length(as<ArrayExpr>(array)->elements);
  if (!IsA(array, Const) || as<Const>(array)->constisnull) return 0;
  const ArrayType* values = DatumGetArrayTypeP(as<Const>(array)->constvalue);
  return ArrayGetNItems(ARR_NDIM(values), ARR_DIMS(values));
}

// Whether a condition is true of no value of the key but of those that its list has for themselves.
bool is_of_listed_values(const Level* level, const Replacement& replacement, int number,
                         const Node* condition) {
  const auto* new_key = static_cast<const Node*>(list_nth(replacement.new_keys, number));
  const List* keys = list_make1(const_cast<Node*>(new_key));
  const int named = count_named_values(condition, new_key);
  if (named == 0 || !can_be_evaluated(condition, keys)) return false;
  const PreparedExpression test = prepare_expression(level, condition, keys);
  int listed = 0;
  for (auto* value : each<Node>(static_cast<List*>(list_nth(replacement.lists, number)))) {
    if (equal(value, list_nth(replacement.others, number))) continue;
    if (is_true(test, list_make1(value))) ++listed;
  }
  return listed >= named;
}

// The condition that a key is the one that stands for all others.
Expr* is_other(const Node* new_key, const Const* other) {
  if (other->constisnull) return null_test(new_key);
  ParseState* state = make_parsestate(nullptr);
  List* equality = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("=")));
  Expr* condition = make_op(state, equality, static_cast<Node*>(copyObjectImpl(new_key)),
                            static_cast<Node*>(copyObjectImpl(other)), nullptr, kNowhere);
  as<OpExpr>(condition)->inputcollid = exprCollation(new_key);
  free_parsestate(state);
  return condition;
}

// A condition on rows says nothing of the key that stands for all others, among which rows may
// fulfil it.
List* conditions_on_groups(const Level* level, const Replacement& replacement, List* conditions) {
  List* all = NIL;
  for (auto* condition : each<Node>(conditions)) {
    List* choices = list_make1(condition);
    for (int i = 0; i < list_length(replacement.keys); ++i) {
      const auto* other = static_cast<const Const*>(list_nth(replacement.others, i));
      const auto* new_key = static_cast<const Node*>(list_nth(replacement.new_keys, i));
      const bool is_on_key = any_node(condition, [=](Node* node) { return equal(node, new_key); });
      if (other == nullptr || !is_on_key) continue;
      if (is_of_listed_values(level, replacement, i, condition)) continue;
      choices = lappend(choices, is_other(new_key, other));
    }
    const bool is_alone = list_length(choices) == 1;
    all = lappend(all, is_alone ? condition : as<Node>(makeBoolExpr(OR_EXPR, choices, kNowhere)));
  }
  return all;
}

// Those of a key for which conditions may be true that have no other key.
List* values_left(const Level* level, Node* new_key, const List* values, const List* conditions) {
  const List* tests = tests_of(level, list_make1(new_key), conditions);
  List* left = NIL;
  for (auto* value : each<Node>(values)) {
    if (may_be_shown(tests, list_make1(value))) left = lappend(left, value);
  }
  return left;
}

// What WHERE says of the new keys, here and in queries below.
List* conditions_of_where(const Level* level, const Replacement& replacement) {
  List* conditions =
      list_concat(key_conditions(level, replacement.keys, replacement.new_keys),
                  key_conditions_below(level, replacement.keys, replacement.new_keys));
  return conditions_on_groups(level, replacement, conditions);
}

// Leaves out values of each key that conditions on it alone leave out; of all values but one, as
// VALUES has a row. The conditions stay in the query.
void shorten_lists(const Level* level, const List* conditions, Replacement* replacement) {
  List* shorter = NIL;
  for (int i = 0; i < list_length(replacement->keys); ++i) {
    auto* new_key = static_cast<Node*>(list_nth(replacement->new_keys, i));
    const auto* values = static_cast<const List*>(list_nth(replacement->lists, i));
    List* left = values_left(level, new_key, values, conditions);
    shorter = lappend(shorter, left != NIL ? left : list_make1(linitial(values)));
  }
  replacement->lists = shorter;
}

// How many keys of the lists WHERE leaves. More than kMaxElements are not counted. A list of no
// more is left with these, so that a person is in no more groups.
int leave_keys(const PlainLevel* level, const List* conditions, Replacement* replacement) {
  constexpr int kEnough = kMaxElements + 1;
  const double all = combinations(*replacement);
  if (conditions == NIL) return static_cast<int>(Min(all, kEnough));
  const List* tests = tests_of(level->select, replacement->new_keys, conditions);
  int left = 0;
  each_combination(*replacement, [&](const List* row) {
    if (!may_be_shown(tests, row)) return true;
    ++left;
    List** rows = &replacement->combinations_left;
    if (all < kEnough) *rows = lappend(*rows, list_copy(row));
    return left < kEnough;
  });
  return left;
}

// Whether WHERE leaves out a whole list, or all combinations where they can be looked at.
bool leaves_none(const PlainLevel* level, Replacement replacement, const List* conditions) {
  for (int i = 0; i < list_length(replacement.keys); ++i) {
    auto* new_key = static_cast<Node*>(list_nth(replacement.new_keys, i));
    const auto* values = static_cast<const List*>(list_nth(replacement.lists, i));
    if (values_left(level->select, new_key, values, conditions) == NIL) return true;
  }
  return combinations(replacement) <= kMostListed &&
         leave_keys(level, conditions, &replacement) == 0;
}

// Keys that WHERE leaves out are in no answer. Without any other it has no group. Where answers
// that have been charged leave them out, that is what was asked, and nothing more is charged.
void show_nothing(const PlainLevel* level) {
  if (!is_after_charge()) {
    refuse(
        level->refused, kNowhere,
        "WHERE leaves out all keys of GROUP BY that are publicly known, so the answer would have "
        "no group",
        "Column domains of dp_protected_tables lists them. Ask the owner of the table for "
        "dp_set_domain if there are others.");
  }
  show_no_group(level->select->query);
}

// ---- Rows without a group ------------------------------------------------------------------

void note_key(const Level* level, const Node* key, List** names) {
  const char* name = name_of_key(level->query, key);
  for (const auto* known : each<const char>(*names)) {
    if (strcmp(known, name) == 0) return;
  }
  *names = lappend(*names, pstrdup(name));
}

// PostgreSQL would show a group of the rows whose key is NULL, and of each number of rows. Whether
// there are any is not looked at.
void note_rows_without_group(const PlainLevel* level, const Replacement& replacement) {
  Statement* statement = level->select->statement;
  for (int i = 0; i < list_length(replacement.keys); ++i) {
    auto* key = static_cast<Node*>(list_nth(replacement.keys, i));
    if (list_nth(replacement.others, i) != nullptr) continue;
    const bool has_null = bms_is_member(i, replacement.nulls);
    if (!has_null && may_be_null(level->select, key)) {
      note_key(level->select, key, &statement->keys_without_null);
    }
    if (lacks_many_rows(level->select, key)) {
      note_key(level->select, key, &statement->keys_without_many_rows);
    }
  }
}

// ---- Lists alone ---------------------------------------------------------------------------

// The keys themselves: the first table of the template, with the condition.
void use_list(Query* query, Query* made, const Replacement& replacement) {
  Node* condition = over_rows_below(replacement, query->jointree->quals);
  auto* list = makeNode(RangeTblRef);
  list->rtindex = 1;
  made->rtable = list_make1(linitial(made->rtable));
  made->jointree = makeFromExpr(list_make1(list), condition);
  select_from_made(query, made, replacement);
}

bool is_plain(const Query* query) {
  return !query->hasAggs && !query->hasWindowFuncs && !query->hasSubLinks &&
         query->groupClause == NIL && query->groupingSets == NIL && query->distinctClause == NIL &&
         query->havingQual == nullptr && query->setOperations == nullptr &&
         query->rowMarks == NIL && query->jointree->quals == nullptr &&
         list_length(query->jointree->fromlist) == 1 &&
         IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

bool is_without_except(const Node* part) {
  if (!IsA(part, SetOperationStmt)) return true;
  const auto* operation = as<SetOperationStmt>(part);
  return operation->op != SETOP_EXCEPT && is_without_except(operation->larg) &&
         is_without_except(operation->rarg);
}

// Whether a query combines others by UNION or INTERSECT, with ALL or without, so that of lists in
// the place of keys it gives each row that the keys may give. In recursion it computes the others
// of the lists alone.
bool combines_lists(const Query* query) {
  return query->setOperations != nullptr && is_without_except(query->setOperations);
}

// Whether the queries around only show the keys, perhaps in another order, or some of them, or
// beside others. Otherwise the query asks which keys the rows have, and the list does not tell
// that.
bool is_shown(const Level* level) {
  for (const Level* around = level->parent; around != nullptr; around = around->parent) {
    if (!is_plain(around->query) && !combines_lists(around->query)) return false;
  }
  return true;
}

// Whether FROM has all rows of the table: no query below it chooses some.
bool has_all_rows(const Level* level) {
  const auto* from = static_cast<const RangeTblRef*>(linitial(level->query->jointree->fromlist));
  const Entry& entry = entry_of(level, from->rtindex);
  if (entry.borrowed != nullptr) return entry.table->tablesample == nullptr;
  const Query* below = entry.below == nullptr ? nullptr : entry.below->query;
  return below != nullptr && is_plain(below) && below->limitCount == nullptr &&
         below->limitOffset == nullptr && !below->hasTargetSRFs && has_all_rows(entry.below);
}

bool is_of_keys_alone(const Query* query) {
  return !query->hasAggs && !query->hasWindowFuncs && query->groupingSets == NIL &&
         query->havingQual == nullptr && query->rowMarks == NIL && !query->hasDistinctOn &&
         (query->groupClause != NIL) != (query->distinctClause != NIL) && query->cteList == NIL &&
         list_length(query->jointree->fromlist) == 1 &&
         IsA(linitial(query->jointree->fromlist), RangeTblRef);
}

}  // namespace

Node* group_by_public_keys(PlainLevel* level, bool may_choose_keys, bool counts_persons) {
  Query* query = level->select->query;
  Replacement replacement{};
  replacement.moves_ctes = query->cteList != NIL;
  if (!find_keys(level, query->groupClause, &replacement)) return nullptr;
  auto* columns = as<Node>(query->targetList);
  Node* having = query->havingQual;
  if (counts_persons) {
    replacement.person = counted_person(level->select);
    columns = with_numbers_of_rows(columns);
    having = with_numbers_of_rows(having);
  }
  if (find_columns(columns, &replacement) || find_columns(having, &replacement)) return nullptr;
  check_columns(level, replacement);
  Query* made = parse_list_join(replacement);
  find_new_columns(made, &replacement);
  List* conditions = conditions_of_where(level->select, replacement);
  const bool is_long = combinations(replacement) > kMaxElements;
  if (!is_long || !are_few(replacement)) shorten_lists(level->select, conditions, &replacement);
  if (may_choose_keys && !are_few(replacement)) {
    if (leaves_none(level, replacement, conditions)) show_nothing(level);
    level->unlisted = psprintf("The keys have %.0f combinations, and only up to %d are listed.",
                               combinations(replacement), most_combinations(replacement));
    return nullptr;
  }
  check_combinations(level, replacement);
  const int left = leave_keys(level, conditions, &replacement);
  if (left == 0) show_nothing(level);
  note_rows_without_group(level, replacement);
  Query* source = make_source_of_keys(query, replacement);
  fill_list_join(made, replacement, source);
  if (conditions != NIL) made->jointree->quals = as<Node>(make_ands_explicit(conditions));
  query->targetList = as<List>(columns);
  query->havingQual = having;
  select_from_made(query, made, replacement);
  read_again(level->select);
  level->select->listed_groups = Max(left, 1);
  return static_cast<Node*>(llast(replacement.new_columns));
}

List* values_left_by_where(const Level* level, Node* key, List* values) {
  Replacement replacement{};
  replacement.keys = list_make1(key);
  replacement.new_keys = replacement.keys;
  replacement.lists = list_make1(values);
  replacement.others = list_make1(const_cast<Const*>(other_value_of(level, key)));
  return values_left(level, key, values, conditions_of_where(level, replacement));
}

bool list_public_keys(PlainLevel* level) {
  Query* query = level->select->query;
  Replacement replacement{};
  if (!is_of_keys_alone(query)) return false;
  const List* clauses = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  if (!find_keys(level, clauses, &replacement)) return false;
  level->unlisted = "The query asks which keys the rows have, and a list does not tell that.";
  if (!is_shown(level->select) || !has_all_rows(level->select)) return false;
  if (find_columns(as<Node>(query->targetList), &replacement) ||
      find_columns(query->jointree->quals, &replacement)) {
    return false;
  }
  check_combinations(level, replacement);
  Query* made = parse_list_join(replacement);
  find_new_columns(made, &replacement);
  const List* conditions = key_conditions(level->select, replacement.keys, replacement.new_keys);
  level->select->listed_groups = Max(leave_keys(level, conditions, &replacement), 1);
  fill_list_join(made, replacement, nullptr);
  use_list(query, made, replacement);
  return true;
}

}  // namespace dpquantile
