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
  // For each key the value of its list that a row is joined with, or null if none is; null: rows
  // are not joined with lists.
  List* found;
};

// ---- What is replaced ----------------------------------------------------------------------

Const* substitute_of(const List* values) {
  for (auto* value : each<Const>(values)) {
    if (!value->constisnull) return value;
  }
  return nullptr;
}

// Whether all keys have public lists.
bool find_keys(const PlainLevel* level, const List* clauses, Replacement* replacement) {
  for (const auto* column : each<const TargetEntry>(level->select->query->targetList)) {
    const Index reference = column->ressortgroupref;
    if (get_sortgroupref_clause_noerr(reference, const_cast<List*>(clauses)) == nullptr) continue;
    auto* key = as<Node>(column->expr);
    List* values = public_values_of(level->select, key);
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

int longest_list(const Replacement& replacement) {
  int longest = 0;
  for (const auto* values : each<const List>(replacement.lists)) {
    longest = Max(longest, list_length(values));
  }
  return longest;
}

bool has_array_types(const Replacement& replacement) {
  for (const auto* key : each<const Node>(replacement.keys)) {
    if (!OidIsValid(get_array_type(exprType(key)))) return false;
  }
  return true;
}

// Most of many combinations would have no rows. But who has made a list wants all of it.
bool are_few(const Replacement& replacement) {
  const int longest = has_array_types(replacement) ? longest_list(replacement) : 0;
  const int most = Max(kMaxElements, Min(longest, kMostListed));
  const double count = combinations(replacement);
  const int columns = list_length(replacement.keys) + (replacement.nulls == nullptr ? 0 : 1);
  return count <= most && bms_num_members(replacement.nulls) <= kMostKeysWithNull &&
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

bool has_nulls(const Replacement& replacement) {
  return replacement.nulls != nullptr;
}

// Whether the lists are arrays, because each constant of VALUES takes its time and memory.
bool has_arrays(const Replacement& replacement) {
  return combinations(replacement) > kMaxElements && has_array_types(replacement);
}

void append_row_of_nulls(StringInfo text, const Replacement& replacement) {
  const ListCell* cell;
  foreach (cell, replacement.keys) {
    appendStringInfo(text, "%sNULL::%s", foreach_current_index(cell) == 0 ? "(" : ", ",
                     type_and_collation(static_cast<const Node*>(lfirst(cell))));
  }
  appendStringInfo(text, "%s)", has_nulls(replacement) ? ", 0" : "");
}

void append_array(StringInfo text, const Node* key) {
  const Const* array = makeNullConst(get_array_type(exprType(key)), -1, exprCollation(key));
  appendStringInfo(text, "pg_catalog.unnest(NULL::%s)", type_and_collation(as<Node>(array)));
}

void append_arrays(StringInfo text, const Replacement& replacement) {
  appendStringInfoString(text, "ROWS FROM (");
  const ListCell* cell;
  foreach (cell, replacement.keys) {
    if (foreach_current_index(cell) > 0) appendStringInfoString(text, ", ");
    append_array(text, static_cast<const Node*>(lfirst(cell)));
  }
  if (has_nulls(replacement)) appendStringInfoString(text, ", pg_catalog.unnest(NULL::int4[])");
  appendStringInfoChar(text, ')');
}

// The new query with NULLs in the place of lists and rows, as text. The parser makes its joins.
char* template_of(const Replacement& replacement) {
  StringInfoData text;
  initStringInfo(&text);
  const int keys = list_length(replacement.keys);
  const bool has_number = has_nulls(replacement);
  appendStringInfoString(&text, "SELECT ");
  for (int i = 0; i < keys; ++i) appendStringInfo(&text, "k.k%d, ", i);
  if (has_number) appendStringInfoString(&text, "k.n, ");
  for (int i = 0; i < list_length(replacement.columns); ++i) appendStringInfo(&text, "s.c%d, ", i);
  appendStringInfoString(&text, "s.present FROM ");
  if (has_arrays(replacement)) {
    append_arrays(&text, replacement);
  } else {
    appendStringInfoString(&text, "(VALUES ");
    append_row_of_nulls(&text, replacement);
    appendStringInfoString(&text, ", ");
    append_row_of_nulls(&text, replacement);
    appendStringInfoChar(&text, ')');
  }
  appendStringInfoString(&text, " k (");
  for (int i = 0; i < keys; ++i) appendStringInfo(&text, "%sk%d", i == 0 ? "" : ", ", i);
  appendStringInfo(&text, "%s) LEFT JOIN (SELECT ", has_number ? ", n" : "");
  append_nulls(&text, "k", replacement.keys);
  append_nulls(&text, "c", replacement.columns);
  appendStringInfo(&text, "true AS present%s) s ON ", has_number ? ", 0 AS n" : "");
  for (int i = 0; i < keys; ++i) {
    appendStringInfo(&text, "%sk.k%d OPERATOR(pg_catalog.=) s.k%d", i == 0 ? "" : " AND ", i, i);
  }
  if (has_number) appendStringInfoString(&text, " AND k.n OPERATOR(pg_catalog.=) s.n");
  return text.data;
}

Node* array_constant(Datum* elements, int count, Oid type, Oid collation) {
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  const ArrayType* array = construct_array(elements, count, type, length, by_value, alignment);
  return as<Node>(
      makeConst(get_array_type(type), -1, collation, -1, PointerGetDatum(array), false, false));
}

Datum* elements_for(size_t count) {
  return static_cast<Datum*>(palloc((count + 1) * sizeof(Datum)));
}

// An array of the values but NULL.
Node* array_of(const List* values, const Node* key) {
  Datum* elements = elements_for(static_cast<size_t>(list_length(values)));
  int count = 0;
  for (const auto* value : each<const Const>(values)) {
    if (!value->constisnull) elements[count++] = value->constvalue;
  }
  return array_constant(elements, count, exprType(key), exprCollation(key));
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

const List* whole_list(const Replacement& replacement, int number) {
  return static_cast<const List*>(list_nth(replacement.whole_lists, number));
}

// Whether rows are joined with the list of a key, to know whether it has theirs: PostgreSQL would
// hash a long array when it comes to the first row.
bool is_joined(const Replacement& replacement, int number) {
  return list_nth(replacement.others, number) != nullptr &&
         list_length(whole_list(replacement, number)) > kMaxElements;
}

// Whether the list has the key of a row.
Expr* is_listed(const Replacement& replacement, int number, const Node* key) {
  const List* values = whole_list(replacement, number);
  if (!is_joined(replacement, number)) return is_in_list(key, values);
  auto* is_found =
      as<NullTest>(null_test(static_cast<const Node*>(list_nth(replacement.found, number))));
  is_found->nulltesttype = IS_NOT_NULL;
  if (!has_null(values)) return as<Expr>(is_found);
  return makeBoolExpr(OR_EXPR, list_make2(is_found, null_test(key)), kNowhere);
}

// The key of a row in the list: another one is the one that stands for all others.
Node* listed_key(const Replacement& replacement, int number) {
  auto* key = static_cast<Node*>(copyObjectImpl(list_nth(replacement.keys, number)));
  const void* other = list_nth(replacement.others, number);
  if (other == nullptr) return key;
  return choice_of(is_listed(replacement, number, key), key,
                   static_cast<Node*>(copyObjectImpl(other)));
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

// What the join compares and what aggregates read, as columns of a derived table.
void add_columns_of_keys(Query* source, const Replacement& replacement) {
  for (int key = 0; key < list_length(replacement.keys); ++key) {
    add_source_column(source, compared_key(replacement, key), psprintf("k%d", key));
  }
  add_source_columns(source, replacement.columns, "c");
  add_source_column(source, bool_constant(true), "present");
  if (has_nulls(replacement)) add_source_column(source, number_of_nulls(replacement), "n");
}

Bitmapset* joined_lists(const Replacement& replacement) {
  Bitmapset* joined = nullptr;
  for (int key = 0; key < list_length(replacement.keys); ++key) {
    if (is_joined(replacement, key)) joined = bms_add_member(joined, key);
  }
  return joined;
}

// Rows that are joined with the long lists of their keys, as text.
char* template_of_joins(const Replacement& replacement, const Bitmapset* joined) {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfoString(&text, "SELECT ");
  for (int i = 0; i < list_length(replacement.keys); ++i) appendStringInfo(&text, "r.k%d, ", i);
  for (int i = 0; i < list_length(replacement.columns); ++i) appendStringInfo(&text, "r.c%d, ", i);
  appendStringInfoString(&text, "true");
  for (int key = -1; (key = bms_next_member(joined, key)) >= 0;) {
    appendStringInfo(&text, ", o%d.k", key);
  }
  appendStringInfoString(&text, " FROM (SELECT ");
  append_nulls(&text, "k", replacement.keys);
  append_nulls(&text, "c", replacement.columns);
  appendStringInfoString(&text, "true) r");
  for (int key = -1; (key = bms_next_member(joined, key)) >= 0;) {
    appendStringInfoString(&text, " LEFT JOIN ");
    append_array(&text, static_cast<const Node*>(list_nth(replacement.keys, key)));
    appendStringInfo(&text, " o%d (k) ON o%d.k OPERATOR(pg_catalog.=) r.k%d", key, key, key);
  }
  return text.data;
}

void fill_joined_lists(const Query* made, const Replacement& replacement, const Bitmapset* joined) {
  int key = -1;
  for (auto* entry : each<RangeTblEntry>(made->rtable)) {
    if (entry->rtekind != RTE_FUNCTION) continue;
    key = bms_next_member(joined, key);
    auto* call = as<FuncExpr>(static_cast<RangeTblFunction*>(linitial(entry->functions))->funcexpr);
    call->args = list_make1(array_of(whole_list(replacement, key),
                                     static_cast<const Node*>(list_nth(replacement.keys, key))));
  }
}

// Joins the rows with long lists of their keys, of which a key stands for all others.
Query* joined_source(Query* source, const Replacement& replacement, const Bitmapset* joined) {
  add_source_columns(source, replacement.keys, "k");
  add_source_columns(source, replacement.columns, "c");
  add_source_column(source, bool_constant(true), "present");
  put_below(source);
  Query* made = parse_template(template_of_joins(replacement, joined));
  fill_joined_lists(made, replacement, joined);
  static_cast<RangeTblEntry*>(linitial(made->rtable))->subquery = source;
  const int keys = list_length(replacement.keys);
  const int columns = list_length(replacement.columns);
  Replacement rows = replacement;
  rows.keys = rows.columns = rows.found = NIL;
  for (int i = 0; i < keys; ++i) rows.found = lappend(rows.found, nullptr);
  int joined_key = -1;
  const ListCell* cell;
  foreach (cell, made->targetList) {
    const int number = foreach_current_index(cell);
    auto* column = static_cast<TargetEntry*>(lfirst(cell))->expr;
    if (number < keys) {
      rows.keys = lappend(rows.keys, column);
    } else if (number < keys + columns) {
      rows.columns = lappend(rows.columns, column);
    } else if (number > keys + columns) {
      joined_key = bms_next_member(joined, joined_key);
      lfirst(list_nth_cell(rows.found, joined_key)) = column;
    }
  }
  made->targetList = NIL;
  add_columns_of_keys(made, rows);
  return made;
}

// The old FROM and WHERE, as a derived table of keys and columns.
Query* make_source_of_keys(const Query* query, const Replacement& replacement) {
  Query* source = make_source(query);
  const Bitmapset* joined = joined_lists(replacement);
  if (joined != nullptr) {
    source = joined_source(source, replacement, joined);
  } else {
    add_columns_of_keys(source, replacement);
  }
  put_below(source);
  return source;
}

// Calls `use` with each combination of the values of the keys, until it returns false. The row has
// a constant for each key, and changes from call to call.
template <class Use>
void each_combination(const Replacement& replacement, Use use) {
  List* row = NIL;
  for (auto* values : each<List>(replacement.lists)) {
    if (values == NIL) return;
    row = lappend(row, linitial(values));
  }
  const int keys = list_length(row);
  auto* numbers = static_cast<int*>(palloc0(static_cast<Size>(keys + 1) * sizeof(int)));
  for (int key = 0; key >= 0;) {
    CHECK_FOR_INTERRUPTS();
    if (!use(row)) return;
    for (key = keys - 1; key >= 0; --key) {
      const auto* values = static_cast<const List*>(list_nth(replacement.lists, key));
      numbers[key] = (numbers[key] + 1) % list_length(values);
      lfirst(list_nth_cell(row, key)) = list_nth(values, numbers[key]);
      if (numbers[key] > 0) break;
    }
  }
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

// Leaves out values of each key that conditions on it alone leave out.
void shorten_lists(const Level* level, const List* conditions, Replacement* replacement) {
  List* shorter = NIL;
  for (int i = 0; i < list_length(replacement->keys); ++i) {
    const List* tests = tests_of(level, list_make1(list_nth(replacement->new_keys, i)), conditions);
    List* left = NIL;
    for (auto* value : each<Node>(static_cast<const List*>(list_nth(replacement->lists, i)))) {
      if (may_be_shown(tests, list_make1(value))) left = lappend(left, value);
    }
    shorter = lappend(shorter, left);
  }
  replacement->lists = shorter;
}

// Keys that WHERE leaves out are in no answer. Without any other it would have no group.
void check_keys_are_left(const PlainLevel* level, const Replacement& replacement,
                         const List* conditions) {
  if (conditions == NIL) return;
  const List* tests = tests_of(level->select, replacement.new_keys, conditions);
  bool is_left = false;
  each_combination(replacement, [&](const List* row) {
    is_left = may_be_shown(tests, row);
    return !is_left;
  });
  if (is_left) return;
  refuse(level->refused, kNowhere,
         "WHERE leaves out all keys of GROUP BY that are publicly known, so the answer would have "
         "no group",
         "Column domains of dp_protected_tables lists them. Ask the owner of the table for "
         "dp_set_domain if there are others.");
}

// A row as the join compares it.
List* compared_row(const Replacement& replacement, const List* combination) {
  auto* row = static_cast<List*>(copyObjectImpl(combination));
  if (!has_nulls(replacement)) return row;
  int number = 0;
  int key = -1;
  while ((key = bms_next_member(replacement.nulls, key)) >= 0) {
    ListCell* value = list_nth_cell(row, key);
    if (!static_cast<const Const*>(lfirst(value))->constisnull) continue;
    number |= bit_of(key, replacement.nulls);
    lfirst(value) = copyObjectImpl(list_nth(replacement.substitutes, key));
  }
  return lappend(row, integer_constant(number));
}

List* compared_rows(const Replacement& replacement) {
  List* rows = NIL;
  each_combination(replacement, [&](const List* row) {
    rows = lappend(rows, compared_row(replacement, row));
    return true;
  });
  return rows;
}

// The arrays in the place of the NULLs of the template.
void fill_arrays(RangeTblEntry* keys, const Replacement& replacement) {
  const List* rows = compared_rows(replacement);
  const ListCell* cell;
  foreach (cell, keys->functions) {
    const int column = foreach_current_index(cell);
    Datum* elements = elements_for(static_cast<size_t>(list_length(rows)));
    int count = 0;
    for (const auto* row : each<const List>(rows)) {
      elements[count++] = static_cast<const Const*>(list_nth(row, column))->constvalue;
    }
    auto* call = as<FuncExpr>(static_cast<RangeTblFunction*>(lfirst(cell))->funcexpr);
    const Oid collation = exprCollation(static_cast<Node*>(linitial(call->args)));
    call->args = list_make1(array_constant(elements, count, call->funcresulttype, collation));
  }
}

// The lists: arrays, or VALUES itself, in the place of the derived table that the parser makes of
// it.
void fill_template(Query* made, const Replacement& replacement, Query* source) {
  auto* keys = static_cast<RangeTblEntry*>(linitial(made->rtable));
  if (keys->rtekind == RTE_FUNCTION) {
    fill_arrays(keys, replacement);
  } else {
    auto* values = static_cast<RangeTblEntry*>(linitial(keys->subquery->rtable));
    values->values_lists = compared_rows(replacement);
  }
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
  const bool has_number = has_nulls(*replacement);
  const ListCell* cell;
  foreach (cell, made->targetList) {
    auto* column = as<Node>(static_cast<TargetEntry*>(lfirst(cell))->expr);
    const int number = foreach_current_index(cell);
    if (number < keys) {
      // A function in FROM does not tell it.
      as<Var>(column)->vartypmod =
          exprTypmod(static_cast<Node*>(list_nth(replacement->keys, number)));
      replacement->new_keys = lappend(replacement->new_keys, column);
    } else if (number > keys || !has_number) {
      replacement->new_columns = lappend(replacement->new_columns, column);
    }
  }
  if (!has_number) return;
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
  if (!are_few(replacement)) shorten_lists(level->select, conditions, &replacement);
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
