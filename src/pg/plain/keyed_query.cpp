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
#include "pg/plain/public_rows.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/shared_parts.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/plain/table_keys.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
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
constexpr int kMostCombinations = 10 * kMaxElements;

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
    const char* name = name_of_column(query, column);
    return name != nullptr ? name : "?column?";
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

// A key with its list alone.
Factor* factor_of_list(int number, const List* values) {
  auto* factor = static_cast<Factor*>(palloc(sizeof(Factor)));
  *factor = {list_make1_int(number), NIL};
  for (auto* value : each<Const>(values)) {
    factor->rows = lappend(factor->rows, list_make1(value));
  }
  return factor;
}

// The keys of GROUP BY or DISTINCT. A constant stays one beside others.
List* keys_of_clauses(const List* clauses, List* targets) {
  bool has_other_keys = false;
  for (const auto* key :
       each<const Node>(get_sortgrouplist_exprs(const_cast<List*>(clauses), targets))) {
    has_other_keys |= !IsA(key, Const);
  }
  List* keys = NIL;
  for (const auto* column : each<const TargetEntry>(targets)) {
    const bool is_key = get_sortgroupref_clause_noerr(column->ressortgroupref,
                                                      const_cast<List*>(clauses)) != nullptr;
    const bool stays = IsA(column->expr, Const) && has_other_keys;
    if (is_key && !stays) keys = lappend(keys, column->expr);
  }
  return keys;
}

struct ListOfKey {
  List* values;
  Const* substitute;  // as in Replacement
  // The table that has no value of the key; null for other keys.
  const char* empty_source;
};

// Of a key of a table all of whose values are NULL, or that has no rows
void note_empty_sources(const TableKeys& table, ListOfKey* lists) {
  const ListCell* cell;
  foreach (cell, table.numbers) {
    const bool has_value = list_nth(table.substitutes, foreach_current_index(cell)) != nullptr;
    if (!has_value) lists[lfirst_int(cell)].empty_source = table.source;
  }
}

[[noreturn]] void refuse_without_rows(const PlainLevel* level, const char* source) {
  refuse(level->refused, kNowhere,
         psprintf("no row of \"%s\" is left, so that the answer has no group", source),
         "The groups are those of the rows of this table that conditions on it let pass. Ask the "
         "table itself which rows there are: it is public.");
}

// Why a key has no list. `empty_source`: of ListOfKey.
void note_unlisted(PlainLevel* level, const Node* key, const char* empty_source) {
  const char* name = name_of_key(level->select->query, key);
  if (empty_source == nullptr) {
    level->unlisted =
        psprintf("Key \"%s\" has no public list of at most %d values.", name, kMaxElements);
    return;
  }
  level->unlisted = psprintf("Table \"%s\" has no value of key \"%s\": all rows have NULL there.",
                             empty_source, name);
  if (level->delta > 0 || is_after_charge()) return;
  refuse(level->refused, exprLocation(key),
         psprintf("table \"%s\" has no value of key \"%s\", so that all rows have NULL there",
                  empty_source, name),
         "Leave out the key: it does not tell groups apart.");
}

bool own_list_of(const Level* level, Node* column, List** values) {
  *values = shown_values_of(level, column);
  return other_value_of(level, column) == nullptr;
}

// Those of keys of public tables.
void find_lists_of_tables(const PlainLevel* level, const List* keys, ListOfKey* lists,
                          Replacement* replacement) {
  for (const auto* table :
       each<const TableKeys>(keys_of_tables(level->select, keys, own_list_of))) {
    if (table->rows == NIL && !is_after_charge()) refuse_without_rows(level, table->source);
    note_empty_sources(*table, lists);
    List* rows = table->rows;
    if (rows == NIL && table->is_of_stage) {
      // That of which no group is shown.
      rows = list_make1(table->substitutes);
      show_no_group(level->select->query);
    }
    if (rows == NIL || list_member_ptr(table->substitutes, nullptr)) continue;
    auto* factor = static_cast<Factor*>(palloc(sizeof(Factor)));
    *factor = {table->numbers, rows};
    replacement->factors = lappend(replacement->factors, factor);
    const ListCell* cell;
    foreach (cell, table->numbers) {
      const int number = lfirst_int(cell);
      const int column = foreach_current_index(cell);
      List* values = NIL;
      for (const auto* row : each<const List>(rows)) {
        CHECK_FOR_INTERRUPTS();
        values = list_append_unique(values, list_nth(row, column));
      }
      lists[number] = {values, static_cast<Const*>(list_nth(table->substitutes, column)), nullptr};
      replacement->of_tables = bms_add_member(replacement->of_tables, number);
      if (table->is_of_stage) {
        replacement->of_stages = bms_add_member(replacement->of_stages, number);
      }
    }
  }
}

void add_key(const PlainLevel* level, Node* key, const ListOfKey& list, Replacement* replacement) {
  List* values = list.values;
  if (has_null(values)) {
    replacement->nulls = bms_add_member(replacement->nulls, list_length(replacement->keys));
  }
  replacement->keys = lappend(replacement->keys, key);
  replacement->substitutes = lappend(replacement->substitutes, list.substitute);
  replacement->others =
      lappend(replacement->others, const_cast<Const*>(other_value_of(level->select, key)));
  replacement->whole_lists = lappend(replacement->whole_lists, values);
}

// Whether all keys have public lists. Else the level notes why.
bool find_keys(PlainLevel* level, const List* clauses, Lists lists, Replacement* replacement) {
  const List* keys = keys_of_clauses(clauses, level->select->query->targetList);
  auto* found = static_cast<ListOfKey*>(
      palloc0(static_cast<Size>(list_length(keys) + 1) * sizeof(ListOfKey)));
  if (lists == Lists::kAll) find_lists_of_tables(level, keys, found, replacement);
  const ListCell* cell;
  foreach (cell, keys) {
    auto* key = static_cast<Node*>(lfirst(cell));
    const int number = foreach_current_index(cell);
    ListOfKey* list = &found[number];
    if (lists == Lists::kStated && is_of_table(level->select, key)) return false;
    if (list->values == NIL) {
      list->values = shown_values_of(level->select, key, lists);
      list->substitute = substitute_of(list->values);
      // NULL alone is no list.
      if (list->substitute == nullptr) list->values = NIL;
      replacement->factors = lappend(replacement->factors, factor_of_list(number, list->values));
    }
    if (list->values == NIL) {
      note_unlisted(level, key, list->empty_source);
      level->is_public_key = is_of_public_table(level, key);
      return false;
    }
    add_key(level, key, *list, replacement);
  }
  join_keys_of_one_part(level->select, lists, replacement);
  return true;
}

int longest_list(const Replacement& replacement) {
  int longest = 0;
  for (const auto* factor : each<const Factor>(replacement.factors)) {
    longest = Max(longest, list_length(factor->rows));
  }
  return longest;
}

// Who has made a list wants all of it, and who groups by a day and a shop expects each of both. Of
// still more combinations most would have no rows.
int most_combinations(const Replacement& replacement) {
  const int longest = Max(longest_list(replacement), kMostCombinations);
  const int most = has_array_types(replacement) ? Min(longest, kMostListed) : kMaxElements;
  const int columns = list_length(replacement.keys) + (replacement.nulls == nullptr ? 0 : 1);
  return columns <= kMostHashedKeys ? most : Min(most, kMostConstants / columns);
}

bool are_few(const Replacement& replacement) {
  return combinations(replacement) <= most_combinations(replacement) &&
         bms_num_members(replacement.nulls) <= kMostKeysWithNull;
}

// Whether the trial of a statement in stages has decided that such lists are not taken.
bool is_left_to_choice(const Replacement& replacement) {
  return replacement.of_stages != nullptr && row_lists() == RowLists::kNotTaken;
}

void check_combinations(const PlainLevel* level, const Replacement& replacement) {
  if (are_few(replacement)) return;
  // PostgreSQL 18 forgets where keys are in the text.
  const int with_null = bms_num_members(replacement.nulls);
  if (with_null > kMostKeysWithNull) {
    refuse_with_code(level->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
                     psprintf("%d keys in GROUP BY have lists with NULL, and at most %d may",
                              with_null, kMostKeysWithNull),
                     "Group by fewer columns, or by coalesce(key, value).");
  }
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
  for (auto* value : each<Node>(static_cast<List*>(list_nth(replacement.whole_lists, number)))) {
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

// The rows of keys that have their values together for which conditions on them alone may be true.
List* rows_left(const Level* level, const Replacement& replacement, const Factor* factor,
                const List* conditions) {
  List* keys = NIL;
  const ListCell* cell;
  foreach (cell, factor->numbers) {
    keys = lappend(keys, list_nth(replacement.new_keys, lfirst_int(cell)));
  }
  const List* tests = tests_of(level, keys, conditions);
  List* left = NIL;
  for (auto* row : each<List>(factor->rows)) {
    if (may_be_shown(tests, row)) left = lappend(left, row);
  }
  return left;
}

// The conditions but those on keys whose values are made up, for a trial: rows that come may fulfil
// them.
List* conditions_on_known(const Replacement& replacement, List* conditions) {
  if (rows_in_stages() != StageRows::kMadeUp) return conditions;
  List* known = NIL;
  for (auto* condition : each<Node>(conditions)) {
    bool is_known = true;
    int key = -1;
    while ((key = bms_next_member(replacement.of_stages, key)) >= 0) {
      const auto* new_key = list_nth(replacement.new_keys, key);
      is_known = is_known && !any_node(condition, [=](Node* node) { return equal(node, new_key); });
    }
    if (is_known) known = lappend(known, condition);
  }
  return known;
}

// Leaves out values of each factor that conditions on it alone leave out; of all rows but one, as
// VALUES has a row. The conditions stay in the query.
void shorten_lists(const Level* level, const List* conditions, Replacement* replacement) {
  List* shorter = NIL;
  for (const auto* factor : each<const Factor>(replacement->factors)) {
    auto* made = static_cast<Factor*>(palloc(sizeof(Factor)));
    *made = {factor->numbers, rows_left(level, *replacement, factor, conditions)};
    if (made->rows == NIL) made->rows = list_make1(linitial(factor->rows));
    shorter = lappend(shorter, made);
  }
  replacement->factors = shorter;
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
  for (const auto* factor : each<const Factor>(replacement.factors)) {
    if (rows_left(level->select, replacement, factor, conditions) == NIL) return true;
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
// there are any is not looked at. Infinite times without bounds are as times beyond bounds.
void note_rows_without_group(const PlainLevel* level, const Replacement& replacement) {
  Statement* statement = level->select->statement;
  for (int i = 0; i < list_length(replacement.keys); ++i) {
    auto* key = static_cast<Node*>(list_nth(replacement.keys, i));
    if (list_nth(replacement.others, i) != nullptr) continue;
    const bool has_null =
        bms_is_member(i, replacement.nulls) || bms_is_member(i, replacement.of_tables);
    if (!has_null && may_be_null(level->select, key, TimesOf::kOrdinary)) {
      note_key(level->select, key, &statement->keys_without_null);
    }
    if (lacks_many_rows(level->select, key)) {
      note_key(level->select, key, &statement->keys_without_many_rows);
    }
  }
}

// Who asks which keys the rows have that fulfil a condition may take those of a list for them.
void note_keys_of_lists(const Level* level, const Replacement& replacement) {
  for (const auto* key : each<const Node>(replacement.keys)) {
    note_key(level, key, &level->statement->keys_of_lists);
  }
}

// ---- Lists alone ---------------------------------------------------------------------------

// The keys themselves: the first table of the template, with the condition.
void use_list(Query* query, Query* made, const Replacement& replacement, Node* condition) {
  auto* list = makeNode(RangeTblRef);
  list->rtindex = 1;
  made->rtable = list_make1(linitial(made->rtable));
  made->jointree = makeFromExpr(list_make1(list), condition);
  select_from_made(query, made, replacement);
}

bool is_plain_choice(const Query* query) {
  return !query->hasAggs && !query->hasWindowFuncs && !query->hasSubLinks &&
         query->groupClause == NIL && query->groupingSets == NIL && query->distinctClause == NIL &&
         query->havingQual == nullptr && query->setOperations == nullptr && query->rowMarks == NIL;
}

bool is_plain(const Query* query) {
  return is_plain_choice(query) && query->jointree->quals == nullptr;
}

// The same of one table or query.
bool is_plain_around(const Query* query) {
  return is_plain(query) && list_length(query->jointree->fromlist) == 1 &&
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
    if (!is_plain_around(around->query) && !combines_lists(around->query)) return false;
  }
  return true;
}

bool compares_columns(const Node* term) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return false;
  const auto* left = static_cast<const Node*>(linitial(as<OpExpr>(term)->args));
  return IsA(left, Var) && IsA(lsecond(as<OpExpr>(term)->args), Var) &&
         op_mergejoinable(as<OpExpr>(term)->opno, exprType(left));
}

// Which rows of the tables in FROM a query for keys alone may have: all, as its joins bring them
// together, or those that conditions choose, also in queries below and in joins.
enum class RowsOfTables { kAll, kChosen };

// Whether FROM has such rows: those that no query below it chooses, and no join by anything but
// columns of both sides, are all.
bool has_rows_of_tables(const Level* level, const Node* from, RowsOfTables rows) {
  check_stack_depth();
  if (IsA(from, JoinExpr)) {
    const auto* join = as<JoinExpr>(from);
    for (const auto* term : each<const Node>(terms_of(join->quals))) {
      if (rows == RowsOfTables::kAll && !compares_columns(term)) return false;
    }
    return has_rows_of_tables(level, join->larg, rows) &&
           has_rows_of_tables(level, join->rarg, rows);
  }
  if (IsA(from, FromExpr)) {
    const List* parts = as<FromExpr>(from)->fromlist;
    return list_length(parts) == 1 &&
           has_rows_of_tables(level, static_cast<const Node*>(linitial(parts)), rows);
  }
  const int number = as<RangeTblRef>(from)->rtindex;
  const Entry& entry = entry_of(level, number);
  if (entry.borrowed != nullptr) return entry.table->tablesample == nullptr;
  if (entry.below == nullptr) {
    return entry.table->rtekind == RTE_VALUES || is_readable_table(level, number);
  }
  const Query* below = entry.below->query;
  return (rows == RowsOfTables::kAll ? is_plain(below) : is_plain_choice(below)) &&
         below->limitCount == nullptr && below->limitOffset == nullptr && !below->hasTargetSRFs &&
         has_rows_of_tables(entry.below, as<Node>(below->jointree), rows);
}

bool is_of_keys_alone(const Query* query) {
  return !query->hasAggs && !query->hasWindowFuncs && query->groupingSets == NIL &&
         query->havingQual == nullptr && query->rowMarks == NIL && !query->hasDistinctOn &&
         (query->groupClause != NIL) != (query->distinctClause != NIL) && query->cteList == NIL;
}

}  // namespace

namespace {

// Adds columns of tables that stand outside of aggregates to the keys, which determine them: GROUP
// BY c.id with c.name. That changes no group.
void add_dependent_keys(const Level* level) {
  Query* query = level->query;
  List* keys = get_sortgrouplist_exprs(query->groupClause, query->targetList);
  List* columns = NIL;
  const auto find = [&](Node* node) {
    if (list_member(keys, node) || IsA(node, Aggref)) return Look::kPast;
    if (IsA(node, Var) && is_of_table(level, node)) columns = list_append_unique(columns, node);
    return Look::kBelow;
  };
  (void)search(query->targetList, find);
  (void)search(query->havingQual, find);
  group_by_more(query, columns);
}

Node* group_by_lists(PlainLevel* level, bool may_choose_keys, bool counts_persons, Lists lists) {
  Query* query = level->select->query;
  Replacement replacement{};
  replacement.moves_ctes = query->cteList != NIL;
  if (!find_keys(level, query->groupClause, lists, &replacement)) return nullptr;
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
  const List* known = conditions_on_known(replacement, conditions);
  const bool is_long = longest_list(replacement) > kMaxElements;
  if (!is_long || !are_few(replacement)) shorten_lists(level->select, known, &replacement);
  if (may_choose_keys && (!are_few(replacement) || is_left_to_choice(replacement))) {
    if (leaves_none(level, replacement, known)) show_nothing(level);
    if (replacement.of_stages != nullptr) note_long_row_list();
    level->unlisted =
        are_few(replacement)
            ? kListNotTaken
            : psprintf("The keys have %.0f combinations, and only up to %d are listed.",
                       combinations(replacement), most_combinations(replacement));
    return nullptr;
  }
  check_combinations(level, replacement);
  const int left = leave_keys(level, known, &replacement);
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

}  // namespace

Node* group_by_public_keys(PlainLevel* level, bool may_choose_keys, bool counts_persons,
                           Lists lists) {
  Query* query = level->select->query;
  List* targets = query->targetList;
  List* clauses = query->groupClause;
  if (lists == Lists::kAll) add_dependent_keys(level->select);
  Node* row = group_by_lists(level, may_choose_keys, counts_persons, lists);
  if (row == nullptr) {
    query->targetList = targets;
    query->groupClause = clauses;
  }
  return row;
}

bool is_fixed_by_keys(const Level* level, const List* keys, Node* value) {
  List* all = lcons(value, list_copy(keys));
  for (const auto* table : each<const TableKeys>(keys_of_tables(level, all, own_list_of))) {
    if (linitial_int(table->numbers) != 0) continue;
    // A trial does not know it of answers.
    const bool may_be_answers = table->is_of_stage && parameters_of_answers() != NIL;
    if (may_be_answers && list_length(table->rows) > 1) return false;
    if (list_length(table->rows) <= 1) return true;
    List* others = NIL;
    List* rows = NIL;
    for (int i = 1; i < list_length(table->numbers); ++i) {
      others = lappend(others, list_nth(all, list_nth_int(table->numbers, i)));
    }
    for (const auto* row : each<const List>(table->rows)) {
      rows = lappend(rows, list_delete_first(list_copy(row)));
    }
    const int different = others == NIL ? 1 : list_length(different_rows(rows, others));
    return different == list_length(table->rows);
  }
  return false;
}

List* values_left_by_where(const Level* level, Node* key, List* values) {
  Replacement replacement{};
  replacement.keys = list_make1(key);
  replacement.new_keys = replacement.keys;
  replacement.whole_lists = list_make1(values);
  replacement.others = list_make1(const_cast<Const*>(other_value_of(level, key)));
  return values_left(level, key, values, conditions_of_where(level, replacement));
}

bool list_public_keys(PlainLevel* level) {
  Query* query = level->select->query;
  Replacement replacement{};
  if (!is_of_keys_alone(query)) return false;
  const List* clauses = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  if (!find_keys(level, clauses, Lists::kAll, &replacement)) return false;
  if (level->delta > 0 && is_left_to_choice(replacement)) return false;
  level->unlisted = "The query asks which keys the rows have, and a list does not tell that.";
  level->has_list = true;
  const auto* from = as<Node>(query->jointree);
  if (!is_shown(level->select) || find_columns(as<Node>(query->targetList), &replacement)) {
    return false;
  }
  const bool has_all = has_rows_of_tables(level->select, from, RowsOfTables::kAll) &&
                       !find_columns(query->jointree->quals, &replacement);
  // Without a delta there is no other answer than the list. A query that is asked before another
  // one, as the list of IN, is not shown with its notice beside it.
  const bool may_choose = level->delta == 0 && !query->hasSubLinks && !is_in_stages() &&
                          has_rows_of_tables(level->select, from, RowsOfTables::kChosen);
  if (!has_all && !may_choose) return false;
  check_combinations(level, replacement);
  Query* made = parse_list_join(replacement);
  find_new_columns(made, &replacement);
  List* conditions = has_all ? key_conditions(level->select, replacement.keys, replacement.new_keys)
                             : conditions_of_where(level->select, replacement);
  level->select->listed_groups = Max(leave_keys(level, conditions, &replacement), 1);
  fill_list_join(made, replacement, nullptr);
  if (!has_all) note_keys_of_lists(level->select, replacement);
  use_list(query, made, replacement,
           has_all ? over_rows_below(replacement, query->jointree->quals)
                   : as<Node>(make_ands_explicit(conditions)));
  return true;
}

}  // namespace dpquantile
