#include "pg/plain/keyed_query.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/private_function.hpp"
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
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
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
// More aggregates cannot be charged, and each has an argument and a filter at most.
constexpr int kMostColumns = 200;

// The keys and the columns of the derived table, and what stands for them in the new query.
struct Replacement {
  List* keys;         // expressions of GROUP BY
  List* lists;        // their public values
  Bitmapset* nulls;   // the numbers of the keys with NULL in their lists
  List* substitutes;  // for each key a value of its list that is not NULL
  List* columns;      // what the aggregates read: their arguments and filters
  List* new_keys;     // Vars of the list of keys
  List* new_columns;  // Vars of the derived table
  bool moves_ctes;    // whether the query has WITH queries
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
  }
  return true;
}

bool is_key(const Replacement& replacement, const Node* node) {
  return list_member(replacement.keys, node);
}

void add_column(Replacement* replacement, Node* expression) {
  if (expression == nullptr || !contain_vars_of_level(expression, 0)) return;
  if (list_member(replacement->columns, expression)) return;
  CHECK_FOR_INTERRUPTS();
  replacement->columns = lappend(replacement->columns, expression);
}

// Arguments and filter of a call are computed of the rows, so below the join. Implicit casts stay
// above it, where the release finds and leaves them out, as in a query without a list. The cast of
// a percentile to float8 stays above: what it is one of tells its grid.
void add_columns(Replacement* replacement, const Aggref* call) {
  for (auto* entry : each<TargetEntry>(call->args)) {
    const bool is_of_percentile = AGGKIND_IS_ORDERED_SET(call->aggkind);
    add_column(replacement, is_of_percentile && entry == linitial(call->args)
                                ? value_of_percentile(call)
                                : without_implicit_cast(as<Node>(entry->expr)));
  }
  add_column(replacement, as<Node>(call->aggfilter));
}

// Returns whether there is a column that no key and no aggregate has.
bool find_columns(const Node* expression, Replacement* replacement) {
  return search(expression, [&](Node* node) {
    if (is_key(*replacement, node)) return Look::kPast;
    const bool is_column = IsA(node, Var) && as<Var>(node)->varlevelsup == 0;
    if (is_column || IsA(node, SubLink)) return Look::kFound;
    if (!IsA(node, Aggref)) return Look::kBelow;
    // The WITH queries move below the join, and subqueries of parameters stay.
    if (replacement->moves_ctes && checkExprHasSubLink(node)) return Look::kFound;
    add_columns(replacement, as<Aggref>(node));
    return Look::kPast;
  });
}

[[noreturn]] void refuse_too_many(const PlainLevel* level) {
  refuse_with_code(level->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
                   psprintf("the aggregates have more than %d arguments and filters", kMostColumns),
                   "Split the query into several.");
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

char* type_and_collation(const Node* expression) {
  char* type = format_type_extended(exprType(expression), exprTypmod(expression),
                                    FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
  const Oid collation = exprCollation(expression);
  if (!OidIsValid(collation) || collation == DEFAULT_COLLATION_OID) return type;
  HeapTuple row = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (!HeapTupleIsValid(row)) return type;
  const auto* form = reinterpret_cast<Form_pg_collation>(GETSTRUCT(row));
  type = psprintf(
      "%s COLLATE %s", type,
      quote_qualified_identifier(get_namespace_name(form->collnamespace), NameStr(form->collname)));
  ReleaseSysCache(row);
  return type;
}

void append_nulls(StringInfo text, const char* prefix, const List* expressions) {
  const ListCell* cell;
  foreach (cell, expressions) {
    appendStringInfo(text, "NULL::%s AS %s%d, ",
                     type_and_collation(static_cast<const Node*>(lfirst(cell))), prefix,
                     foreach_current_index(cell));
  }
}

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

Query* parse_template(const Replacement& replacement) {
  char* text = template_of(replacement);
  auto* raw = static_cast<RawStmt*>(linitial(raw_parser(text, RAW_PARSE_DEFAULT)));
  return parse_analyze_fixedparams(raw, text, nullptr, 0, nullptr);
}

Node* copy_of_key(const Replacement& replacement, int key) {
  return static_cast<Node*>(copyObjectImpl(list_nth(replacement.keys, key)));
}

// A key as the join compares it: with another value in the place of NULL, if its list has NULL.
Node* compared_key(const Replacement& replacement, int number) {
  Node* key = copy_of_key(replacement, number);
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
  NullTest* test = makeNode(NullTest);
  test->arg = as<Expr>(copy_of_key(replacement, key));
  test->nulltesttype = IS_NULL;
  test->location = kNowhere;
  return choice_of(as<Expr>(test), integer_constant(bit_of(key, replacement.nulls)),
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

TargetEntry* column_named(List** columns, Node* expression, const char* name) {
  TargetEntry* column =
      makeTargetEntry(as<Expr>(expression), static_cast<AttrNumber>(list_length(*columns) + 1),
                      pstrdup(name), false);
  *columns = lappend(*columns, column);
  return column;
}

// The old FROM and WHERE, as a derived table of keys and columns.
Query* make_source(const Query* query, const Replacement& replacement) {
  Query* source = makeNode(Query);
  source->commandType = CMD_SELECT;
  source->canSetTag = true;
  source->rtable = query->rtable;
  DPQ_MOVE_PERMISSIONS(source, query);
  source->jointree = query->jointree;
  source->cteList = query->cteList;
  source->hasRecursive = query->hasRecursive;
  source->hasModifyingCTE = query->hasModifyingCTE;
  source->hasSubLinks = query->hasSubLinks;
  const ListCell* cell;
  for (auto* table : each<RangeTblEntry>(source->rtable)) DPQ_FORGET_GROUP_ENTRY(table);
  List* columns = NIL;
  foreach (cell, replacement.keys) {
    const int key = foreach_current_index(cell);
    column_named(&columns, compared_key(replacement, key), psprintf("k%d", key));
  }
  foreach (cell, replacement.columns) {
    column_named(&columns, static_cast<Node*>(copyObjectImpl(lfirst(cell))),
                 psprintf("c%d", foreach_current_index(cell)));
  }
  column_named(&columns, bool_constant(true), "present");
  if (replacement.nulls != nullptr) column_named(&columns, number_of_nulls(replacement), "n");
  source->targetList = columns;
  IncrementVarSublevelsUp(as<Node>(source), 1, 1);
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
    if (bms_is_member(i, replacement.nulls) || !may_be_null(level->select, key)) continue;
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

// The new columns count the query levels from the same level as the old ones.
Node* moved_call(const Replacement& replacement, Node* call) {
  return mapped(call, [&](Node* node) {
    Node* column = counterpart(replacement.columns, replacement.new_columns, node);
    if (column != nullptr) as<Var>(column)->location = exprLocation(node);
    return column;
  });
}

template <class Tree>
Tree* moved(const Replacement& replacement, Tree* tree) {
  return mapped(tree, [&](Node* node) {
    Node* key = counterpart(replacement.keys, replacement.new_keys, node);
    return key == nullptr && IsA(node, Aggref) ? moved_call(replacement, node) : key;
  });
}

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

void use(Query* query, Query* made, const Replacement& replacement) {
  query->targetList = moved(replacement, query->targetList);
  query->havingQual = moved(replacement, query->havingQual);
  query->rtable = made->rtable;
  DPQ_MOVE_PERMISSIONS(query, made);
  DPQ_FORGET_GROUP_KEYS(query);
  query->jointree = made->jointree;
  query->cteList = NIL;
  query->hasRecursive = false;
  query->hasModifyingCTE = false;
  query->hasSubLinks =
      checkExprHasSubLink(as<Node>(query->targetList)) || checkExprHasSubLink(query->havingQual);
}

// ---- Lists alone ---------------------------------------------------------------------------

// The keys themselves: the first table of the template, with the condition.
void use_list(Query* query, Query* made, const Replacement& replacement) {
  Node* condition = moved(replacement, query->jointree->quals);
  auto* list = makeNode(RangeTblRef);
  list->rtindex = 1;
  made->rtable = list_make1(linitial(made->rtable));
  made->jointree = makeFromExpr(list_make1(list), condition);
  use(query, made, replacement);
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
  if (list_length(replacement.columns) > kMostColumns) refuse_too_many(level);
  Query* made = parse_template(replacement);
  find_new_columns(made, &replacement);
  List* conditions =
      list_concat(key_conditions(level->select, replacement.keys, replacement.new_keys),
                  key_conditions_below(level->select, replacement.keys, replacement.new_keys));
  shorten_lists(level->select, conditions, &replacement);
  if (may_choose_keys && !are_few(replacement)) return nullptr;
  check_combinations(level, replacement);
  check_keys_are_left(level, replacement, conditions);
  note_keys_without_null(level, replacement);
  Query* source = make_source(query, replacement);
  fill_template(made, replacement, source);
  if (conditions != NIL) made->jointree->quals = as<Node>(make_ands_explicit(conditions));
  use(query, made, replacement);
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
  Query* made = parse_template(replacement);
  find_new_columns(made, &replacement);
  fill_template(made, replacement, nullptr);
  use_list(query, made, replacement);
  return true;
}

}  // namespace dpquantile
