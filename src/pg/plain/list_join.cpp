#include "pg/plain/list_join.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/server/array_constant.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

bool has_nulls(const Replacement& replacement) {
  return replacement.nulls != nullptr;
}

double combinations(const Replacement& replacement) {
  double count = 1;
  for (const auto* factor : each<const Factor>(replacement.factors)) {
    count *= list_length(factor->rows);
  }
  return count;
}

bool has_array_types(const Replacement& replacement) {
  for (const auto* key : each<const Node>(replacement.keys)) {
    if (!OidIsValid(get_array_type(exprType(key)))) return false;
  }
  return true;
}

Expr* null_test(const Node* key) {
  NullTest* test = makeNode(NullTest);
  test->arg = static_cast<Expr*>(copyObjectImpl(key));
  test->nulltesttype = IS_NULL;
  test->location = kNowhere;
  return as<Expr>(test);
}

namespace {

// ---- Keys that may be NULL -----------------------------------------------------------------

int bit_of(int key, const Bitmapset* nulls) {
  return 1 << bms_member_index(const_cast<Bitmapset*>(nulls), key);
}

Node* integer_constant(int value) {
  return as<Node>(
      makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true));
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
  if (has_nulls(replacement))
    appendStringInfoString(text, ", pg_catalog.unnest(NULL::pg_catalog.int4[])");
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

// CASE WHEN key IS NULL THEN bit ELSE 0 END. A key that stands for all others, and is not NULL,
// stands for no NULL where the list has one.
Node* bit_of_null(const Replacement& replacement, int key) {
  const auto* other = static_cast<const Const*>(list_nth(replacement.others, key));
  const bool is_other_null = other != nullptr && other->constisnull;
  const auto* tested = is_other_null ? listed_key(replacement, key)
                                     : static_cast<const Node*>(list_nth(replacement.keys, key));
  return choice_of(null_test(tested), integer_constant(bit_of(key, replacement.nulls)),
                   integer_constant(0));
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

// Joins the rows with long lists of their keys, of which a key stands for all others. Their keys
// and columns are those of the new query then.
Query* joined_source(Query* source, const Bitmapset* joined, Replacement* rows) {
  add_source_columns(source, rows->keys, "k");
  add_source_columns(source, rows->columns, "c");
  add_source_column(source, bool_constant(true), "present");
  put_below(source);
  Query* made = parse_template(template_of_joins(*rows, joined));
  fill_joined_lists(made, *rows, joined);
  static_cast<RangeTblEntry*>(linitial(made->rtable))->subquery = source;
  const int keys = list_length(rows->keys);
  const int columns = list_length(rows->columns);
  rows->keys = rows->columns = rows->found = NIL;
  for (int i = 0; i < keys; ++i) rows->found = lappend(rows->found, nullptr);
  int joined_key = -1;
  const ListCell* cell;
  foreach (cell, made->targetList) {
    const int number = foreach_current_index(cell);
    auto* column = static_cast<TargetEntry*>(lfirst(cell))->expr;
    if (number < keys) {
      rows->keys = lappend(rows->keys, column);
    } else if (number < keys + columns) {
      rows->columns = lappend(rows->columns, column);
    } else if (number > keys + columns) {
      joined_key = bms_next_member(joined, joined_key);
      lfirst(list_nth_cell(rows->found, joined_key)) = column;
    }
  }
  made->targetList = NIL;
  return made;
}

TargetEntry* add_group_column(Query* groups, Node* expression, const char* name) {
  add_source_column(groups, expression, name);
  return static_cast<TargetEntry*>(llast(groups->targetList));
}

void add_key(Query* groups, Node* expression, const char* name) {
  TargetEntry* column = add_group_column(groups, expression, name);
  column->ressortgroupref = static_cast<Index>(column->resno);
  groups->groupClause = lappend(groups->groupClause, grouping_by(column));
}

// Makes of the rows, whose last column is the person, a person group by the person and the keys in
// the lists, and a query of its rows, of whose columns keys and columns are then.
Query* grouped_source(Query* source, Replacement* rows) {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  add_key(source, static_cast<Node*>(copyObjectImpl(llast(rows->columns))), "person");
  List* keys = NIL;
  for (int i = 0; i < list_length(rows->keys); ++i) {
    add_key(source, listed_key(*rows, i), psprintf("k%d", i));
    keys = lappend(keys, column_of_table(static_cast<TargetEntry*>(llast(source->targetList))));
  }
  List* columns = NIL;
  for (int i = 0; i < list_length(rows->columns) - 1; ++i) {
    auto* condition = static_cast<Node*>(copyObjectImpl(list_nth(rows->columns, i)));
    const TargetEntry* column =
        add_group_column(source, aggregate_of_condition(F_BOOL_OR, condition), psprintf("c%d", i));
    columns = lappend(columns, column_of_table(column));
  }
  source->hasAggs = columns != NIL;
  put_below(source);
  select_from(made, source);
  List* others = NIL;
  for (int i = 0; i < list_length(keys); ++i) others = lappend(others, nullptr);
  rows->keys = keys;
  rows->columns = columns;
  rows->others = others;
  return made;
}

}  // namespace

Query* parse_list_join(const Replacement& replacement) {
  return parse_template(template_of(replacement));
}

Query* make_source_of_keys(const Query* query, const Replacement& replacement) {
  Query* source = make_source(query);
  Replacement rows = replacement;
  if (rows.person != nullptr) rows.columns = lappend(list_copy(rows.columns), rows.person);
  const Bitmapset* joined = joined_lists(rows);
  if (joined != nullptr) source = joined_source(source, joined, &rows);
  if (rows.person != nullptr) source = grouped_source(source, &rows);
  add_columns_of_keys(source, rows);
  put_below(source);
  return source;
}

namespace {

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
  for (const auto* row : each<const List>(replacement.combinations_left)) {
    rows = lappend(rows, compared_row(replacement, row));
  }
  if (rows != NIL) return rows;
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

}  // namespace

// The lists: arrays, or VALUES itself, in the place of the derived table that the parser makes of
// it.
void fill_list_join(Query* made, const Replacement& replacement, Query* source) {
  auto* keys = static_cast<RangeTblEntry*>(linitial(made->rtable));
  if (keys->rtekind == RTE_FUNCTION) {
    fill_arrays(keys, replacement);
  } else {
    auto* values = static_cast<RangeTblEntry*>(linitial(keys->subquery->rtable));
    values->values_lists = compared_rows(replacement);
  }
  static_cast<RangeTblEntry*>(lsecond(made->rtable))->subquery = source;
}

namespace {

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

}  // namespace

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

}  // namespace dpquantile
