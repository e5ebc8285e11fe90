#include "pg/plain/keyed_query.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/rows_below.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/analyze.h"
#include "parser/parse_oper.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// A list with more columns than this is compared row by row, which takes long with more constants.
constexpr int kMostHashedKeys = 4;
constexpr int kMostKeysWithNull = 30;  // the bits of an integer
constexpr int kMostConstants = 2 * kMaxElements;

struct Replacement : RowsBelow {
  List* lists;        // the public values of the keys that conditions on one key leave in
  List* whole_lists;  // all of them
  Bitmapset* nulls;   // the numbers of the keys with NULL in their lists
  List* substitutes;  // for each key a value of its list that is not NULL
  List* others;       // for each key the value of its list that stands for all others, or null
};

// ---- What is replaced ----------------------------------------------------------------------

Const* substitute_of(const List* values) {
  for (auto* value : each<Const>(values)) {
    if (!value->constisnull) return value;
  }
  return nullptr;
}

// The list of a key. Of values that are equal and look different, as 1.0 and 1.00 in CASE, one is
// shown.
List* shown_values_of(const Level* level, Node* key) {
  List* values = NIL;
  const List* listed = public_values_of(level, key);
  for (auto* value : each<Const>(listed)) {
    if (!value->constisnull) values = lappend(values, value);
  }
  if (values != NIL) values = different_values(values, key);
  return has_null(listed) ? lappend(values, null_like(key)) : values;
}

// Whether all keys have public lists.
bool find_keys(const PlainLevel* level, const List* clauses, Replacement* replacement) {
  for (const auto* column : each<const TargetEntry>(level->select->query->targetList)) {
    const Index reference = column->ressortgroupref;
    if (get_sortgroupref_clause_noerr(reference, const_cast<List*>(clauses)) == nullptr) continue;
    auto* key = as<Node>(column->expr);
    List* values = shown_values_of(level->select, key);
    if (values == NIL) return false;
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

double combinations(const Replacement& replacement) {
  double count = 1;
  for (const auto* row : each<const List>(replacement.lists)) count *= list_length(row);
  return count;
}

bool are_few(const Replacement& replacement) {
  const double count = combinations(replacement);
  const int columns = list_length(replacement.keys) + (replacement.nulls == nullptr ? 0 : 1);
  return count <= kMaxElements && bms_num_members(replacement.nulls) <= kMostKeysWithNull &&
         (columns <= kMostHashedKeys || count * columns <= kMostConstants);
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

// ---- Keys that may be NULL -----------------------------------------------------------------

int bit_of(int key, const Bitmapset* nulls) {
  return 1 << bms_member_index(const_cast<Bitmapset*>(nulls), key);
}

Node* integer_constant(int value) {
  return as<Node>(
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true));
}

Expr* null_test(const Node* key) {
  NullTest* test = makeNode(NullTest);
  test->arg = static_cast<Expr*>(copyObjectImpl(key));
  test->nulltesttype = IS_NULL;
  test->location = kNowhere;
  return as<Expr>(test);
}

// CASE WHEN condition THEN value ELSE other END
Node* choice_of(Expr* condition, Node* value, Node* other) {
  CaseWhen* branch = makeNode(CaseWhen);
  branch->expr = condition;
  branch->result = as<Expr>(value);
  branch->location = kNowhere;
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = exprType(value);
  choice->casecollid = exprCollation(value);
  choice->args = list_make1(branch);
  choice->defresult = as<Expr>(other);
  choice->location = kNowhere;
  return as<Node>(choice);
}

// ---- The new query -------------------------------------------------------------------------

// The new query with NULLs in the place of lists and rows, as text. The parser makes its joins.
char* template_of(const Replacement& replacement) {
  StringInfoData text;
  initStringInfo(&text);
  const int keys = list_length(replacement.keys);
  const bool has_nulls = replacement.nulls != nullptr;
  appendStringInfoString(&text, "SELECT ");
  for (int i = 0; i < keys; ++i) appendStringInfo(&text, "k.k%d, ", i);
  if (has_nulls) appendStringInfoString(&text, "k.n, ");
  for (int i = 0; i < list_length(replacement.columns); ++i) appendStringInfo(&text, "s.c%d, ", i);
  appendStringInfoString(&text, "s.present FROM (VALUES (");
  const ListCell* cell;
  foreach (cell, replacement.keys) {
    appendStringInfo(&text, "%sNULL::%s", foreach_current_index(cell) == 0 ? "" : ", ",
                     type_and_collation(static_cast<const Node*>(lfirst(cell))));
  }
  appendStringInfo(&text, "%s), (", has_nulls ? ", 0" : "");
  foreach (cell, replacement.keys) {
    appendStringInfo(&text, "%sNULL::%s", foreach_current_index(cell) == 0 ? "" : ", ",
                     type_and_collation(static_cast<const Node*>(lfirst(cell))));
  }
  appendStringInfo(&text, "%s)) k (", has_nulls ? ", 0" : "");
  for (int i = 0; i < keys; ++i) appendStringInfo(&text, "%sk%d", i == 0 ? "" : ", ", i);
  appendStringInfo(&text, "%s) LEFT JOIN (SELECT ", has_nulls ? ", n" : "");
  append_nulls(&text, "k", replacement.keys);
  append_nulls(&text, "c", replacement.columns);
  appendStringInfo(&text, "true AS present%s) s ON ", has_nulls ? ", 0 AS n" : "");
  for (int i = 0; i < keys; ++i) {
    appendStringInfo(&text, "%sk.k%d OPERATOR(pg_catalog.=) s.k%d", i == 0 ? "" : " AND ", i, i);
  }
  if (has_nulls) appendStringInfoString(&text, " AND k.n OPERATOR(pg_catalog.=) s.n");
  return text.data;
}

// An array of the values but NULL.
Node* array_of(const List* values, const Node* key) {
  const Oid type = exprType(key);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  auto* elements =
      static_cast<Datum*>(palloc(static_cast<Size>(list_length(values)) * sizeof(Datum)));
  int count = 0;
  for (const auto* value : each<const Const>(values)) {
    if (!value->constisnull) elements[count++] = value->constvalue;
  }
  const ArrayType* array = construct_array(elements, count, type, length, by_value, alignment);
  return as<Node>(makeConst(get_array_type(type), -1, exprCollation(key), -1,
                            PointerGetDatum(array), false, false));
}

// key = ANY (list) OR key IS NULL, the latter if the list has NULL
Expr* is_in_list(const Node* key, const List* values) {
  ParseState* state = make_parsestate(nullptr);
  List* equality = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("=")));
  auto* is_listed = as<ScalarArrayOpExpr>(
      make_scalar_array_op(state, equality, true, static_cast<Node*>(copyObjectImpl(key)),
                           array_of(values, key), kNowhere));
  is_listed->inputcollid = exprCollation(key);
  free_parsestate(state);
  if (!has_null(values)) return as<Expr>(is_listed);
  return makeBoolExpr(OR_EXPR, list_make2(is_listed, null_test(key)), kNowhere);
}

// The key of a row in the list: another one is the one that stands for all others.
Node* listed_key(const Replacement& replacement, int number) {
  auto* key = static_cast<Node*>(copyObjectImpl(list_nth(replacement.keys, number)));
  const void* other = list_nth(replacement.others, number);
  if (other == nullptr) return key;
  const auto* values = static_cast<const List*>(list_nth(replacement.whole_lists, number));
  return choice_of(is_in_list(key, values), key, static_cast<Node*>(copyObjectImpl(other)));
}

// A key as the join compares it: with another value in the place of NULL, if its list has NULL.
Node* compared_key(const Replacement& replacement, int number) {
  Node* key = listed_key(replacement, number);
  if (!bms_is_member(number, replacement.nulls)) return key;
  CoalesceExpr* choice = makeNode(CoalesceExpr);
  choice->coalescetype = exprType(key);
  choice->coalescecollid = exprCollation(key);
  choice->args = list_make2(key, copyObjectImpl(list_nth(replacement.substitutes, number)));
  choice->location = kNowhere;
  return as<Node>(choice);
}

// CASE WHEN key IS NULL THEN bit ELSE 0 END
Node* bit_of_null(const Replacement& replacement, int key) {
  return choice_of(null_test(listed_key(replacement, key)),
                   integer_constant(bit_of(key, replacement.nulls)), integer_constant(0));
}

// The number that says which keys of a row are NULL.
Node* number_of_nulls(const Replacement& replacement) {
  Node* number = nullptr;
  int key = -1;
  while ((key = bms_next_member(replacement.nulls, key)) >= 0) {
    Node* bit = bit_of_null(replacement, key);
    number = number == nullptr
                 ? bit
                 : as<Node>(makeFuncExpr(F_INT4OR, INT4OID, list_make2(number, bit), InvalidOid,
                                         InvalidOid, COERCE_EXPLICIT_CALL));
  }
  return number;
}

// The old FROM and WHERE, as a derived table of keys and columns.
Query* make_source_of_keys(const Query* query, const Replacement& replacement) {
  Query* source = make_source(query);
  for (int key = 0; key < list_length(replacement.keys); ++key) {
    add_source_column(source, compared_key(replacement, key), psprintf("k%d", key));
  }
  add_source_columns(source, replacement.columns, "c");
  add_source_column(source, bool_constant(true), "present");
  if (replacement.nulls != nullptr) add_source_column(source, number_of_nulls(replacement), "n");
  put_below(source);
  return source;
}

// All combinations of the values of the keys, as rows of VALUES.
List* rows_of(const Replacement& replacement) {
  List* rows = list_make1(NIL);
  for (auto* item : each<List>(replacement.lists)) {
    List* longer = NIL;
    const ListCell* row;
    foreach (row, rows) {
      const ListCell* value;
      foreach (value, item) {
        List* extended = list_copy(static_cast<List*>(lfirst(row)));
        longer = lappend(longer, lappend(extended, copyObjectImpl(lfirst(value))));
      }
    }
    rows = longer;
  }
  return rows;
}

// Whether a condition on keys is true, or may be, for a row of them.
bool may_be_true(const Level* level, const List* keys, const Node* condition, const List* row) {
  Node* of_row = mapped(const_cast<Node*>(condition),
                        [&](Node* node) { return counterpart(keys, row, node); });
  if (!can_be_evaluated(of_row, nullptr)) return true;
  const Const* value = evaluated(level, of_row, nullptr, nullptr);
  return value != nullptr && DatumGetBool(value->constvalue);
}

bool may_be_shown(const Level* level, const List* keys, const List* conditions, const List* row) {
  CHECK_FOR_INTERRUPTS();
  for (const auto* condition : each<const Node>(conditions)) {
    // WHERE false is how tools ask for the columns of an answer.
    if (!contain_var_clause(const_cast<Node*>(condition))) continue;
    if (!may_be_true(level, keys, condition, row)) return false;
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
  const int named = count_named_values(condition, new_key);
  if (named == 0 || !can_be_evaluated(condition, new_key)) return false;
  int listed = 0;
  for (auto* value : each<Node>(static_cast<List*>(list_nth(replacement.lists, number)))) {
    if (equal(value, list_nth(replacement.others, number))) continue;
    if (may_be_true(level, list_make1(const_cast<Node*>(new_key)), condition, list_make1(value))) {
      ++listed;
    }
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

// Leaves out values of each key that conditions on it alone leave out, if there are too many
// combinations of all.
void shorten_lists(const Level* level, const List* conditions, Replacement* replacement) {
  if (are_few(*replacement)) return;
  List* shorter = NIL;
  for (int i = 0; i < list_length(replacement->keys); ++i) {
    List* key = list_make1(list_nth(replacement->new_keys, i));
    List* left = NIL;
    for (auto* value : each<Node>(static_cast<const List*>(list_nth(replacement->lists, i)))) {
      if (may_be_shown(level, key, conditions, list_make1(value))) left = lappend(left, value);
    }
    shorter = lappend(shorter, left);
  }
  replacement->lists = shorter;
}

// Keys that WHERE leaves out are in no answer. Without any other it would have no group.
void check_keys_are_left(const PlainLevel* level, const Replacement& replacement,
                         const List* conditions) {
  if (conditions == NIL) return;
  for (const auto* row : each<const List>(rows_of(replacement))) {
    if (may_be_shown(level->select, replacement.new_keys, conditions, row)) return;
  }
  refuse(level->refused, kNowhere,
         "WHERE leaves out all keys of GROUP BY that are publicly known, so the answer would have "
         "no group",
         "Column domains of dp_protected_tables lists them. Ask the owner of the table for "
         "dp_set_domain if there are others.");
}

// The rows as the join compares them.
List* compared_rows(const Replacement& replacement) {
  List* rows = rows_of(replacement);
  if (replacement.nulls == nullptr) return rows;
  ListCell* cell;
  foreach (cell, rows) {
    auto* row = static_cast<List*>(lfirst(cell));
    int number = 0;
    int key = -1;
    while ((key = bms_next_member(replacement.nulls, key)) >= 0) {
      ListCell* value = list_nth_cell(row, key);
      if (!static_cast<const Const*>(lfirst(value))->constisnull) continue;
      number |= bit_of(key, replacement.nulls);
      lfirst(value) = copyObjectImpl(list_nth(replacement.substitutes, key));
    }
    lfirst(cell) = lappend(row, integer_constant(number));
  }
  return rows;
}

// VALUES itself, in the place of the derived table that the parser makes of it.
void fill_template(Query* made, const Replacement& replacement, Query* source) {
  auto* keys = static_cast<RangeTblEntry*>(linitial(made->rtable));
  auto* values = static_cast<RangeTblEntry*>(linitial(keys->subquery->rtable));
  values->values_lists = compared_rows(replacement);
  static_cast<RangeTblEntry*>(lsecond(made->rtable))->subquery = source;
}

// ---- Rows without a group ------------------------------------------------------------------

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

// PostgreSQL would show a group of the rows whose key is NULL. Whether there are any is not looked
// at.
void note_keys_without_null(const PlainLevel* level, const Replacement& replacement) {
  Statement* statement = level->select->statement;
  for (int i = 0; i < list_length(replacement.keys); ++i) {
    auto* key = static_cast<Node*>(list_nth(replacement.keys, i));
    const bool has_group =
        bms_is_member(i, replacement.nulls) || list_nth(replacement.others, i) != nullptr;
    if (has_group || !may_be_null(level->select, key)) continue;
    const char* name = name_of_key(level->select->query, key);
    bool is_known = false;
    for (const auto* known : each<const char>(statement->keys_without_null)) {
      is_known = is_known || strcmp(known, name) == 0;
    }
    if (is_known) continue;
    statement->keys_without_null = lappend(statement->keys_without_null, pstrdup(name));
  }
}

// ---- What refers to the old FROM -----------------------------------------------------------

// CASE WHEN (n & bit) = 0 THEN key ELSE NULL END
Node* shown_key(Node* key, const Node* number_of_nulls, int bit) {
  Node* is_null = as<Node>(makeFuncExpr(
      F_INT4AND, INT4OID, list_make2(copyObjectImpl(number_of_nulls), integer_constant(bit)),
      InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
  Expr* has_value = make_opclause(Int4EqualOperator, BOOLOID, false, as<Expr>(is_null),
                                  as<Expr>(integer_constant(0)), InvalidOid, InvalidOid);
  return choice_of(has_value, key, as<Node>(null_like(key)));
}

void find_new_columns(const Query* made, Replacement* replacement) {
  const int keys = list_length(replacement->keys);
  const bool has_nulls = replacement->nulls != nullptr;
  const ListCell* cell;
  foreach (cell, made->targetList) {
    auto* column = as<Node>(static_cast<TargetEntry*>(lfirst(cell))->expr);
    const int number = foreach_current_index(cell);
    if (number < keys) {
      replacement->new_keys = lappend(replacement->new_keys, column);
    } else if (number > keys || !has_nulls) {
      replacement->new_columns = lappend(replacement->new_columns, column);
    }
  }
  if (!has_nulls) return;
  const Node* number_of_nulls =
      as<Node>(static_cast<const TargetEntry*>(list_nth(made->targetList, keys))->expr);
  int key = -1;
  while ((key = bms_next_member(replacement->nulls, key)) >= 0) {
    ListCell* new_key = list_nth_cell(replacement->new_keys, key);
    lfirst(new_key) = shown_key(static_cast<Node*>(lfirst(new_key)), number_of_nulls,
                                bit_of(key, replacement->nulls));
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

// Whether the queries around only show the keys, perhaps in another order, or some of them.
// Otherwise the query asks which keys the rows have, and the list does not tell that.
bool is_shown(const Level* level) {
  for (const Level* around = level->parent; around != nullptr; around = around->parent) {
    if (!is_plain(around->query)) return false;
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

Node* group_by_public_keys(PlainLevel* level, bool may_choose_keys) {
  Query* query = level->select->query;
  Replacement replacement{};
  replacement.moves_ctes = query->cteList != NIL;
  if (!find_keys(level, query->groupClause, &replacement)) return nullptr;
  if (find_columns(as<Node>(query->targetList), &replacement) ||
      find_columns(query->havingQual, &replacement)) {
    return nullptr;
  }
  check_columns(level, replacement);
  Query* made = parse_template(template_of(replacement));
  find_new_columns(made, &replacement);
  List* conditions =
      list_concat(key_conditions(level->select, replacement.keys, replacement.new_keys),
                  key_conditions_below(level->select, replacement.keys, replacement.new_keys));
  conditions = conditions_on_groups(level->select, replacement, conditions);
  shorten_lists(level->select, conditions, &replacement);
  if (may_choose_keys && !are_few(replacement)) return nullptr;
  check_combinations(level, replacement);
  check_keys_are_left(level, replacement, conditions);
  note_keys_without_null(level, replacement);
  Query* source = make_source_of_keys(query, replacement);
  fill_template(made, replacement, source);
  if (conditions != NIL) made->jointree->quals = as<Node>(make_ands_explicit(conditions));
  select_from_made(query, made, replacement);
  read_again(level->select);
  return static_cast<Node*>(llast(replacement.new_columns));
}

bool list_public_keys(PlainLevel* level) {
  Query* query = level->select->query;
  Replacement replacement{};
  if (!is_of_keys_alone(query) || !is_shown(level->select) || !has_all_rows(level->select)) {
    return false;
  }
  const List* clauses = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  if (!find_keys(level, clauses, &replacement)) return false;
  if (find_columns(as<Node>(query->targetList), &replacement) ||
      find_columns(query->jointree->quals, &replacement)) {
    return false;
  }
  check_combinations(level, replacement);
  Query* made = parse_template(template_of(replacement));
  find_new_columns(made, &replacement);
  fill_template(made, replacement, nullptr);
  use_list(query, made, replacement);
  return true;
}

}  // namespace dpquantile
