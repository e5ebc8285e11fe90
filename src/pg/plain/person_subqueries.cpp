#include "pg/plain/person_subqueries.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/public_subqueries.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/group_keys.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- Nodes ---------------------------------------------------------------------------------

Node* all_of(List* terms) {
  return terms == NIL ? nullptr : as<Node>(make_ands_explicit(terms));
}

// The node with a column of the query in which it is in the place of one of the level around that
// query. `depth`: how many queries further below.
Node* with_column(Node* node, const Var* outer, const Var* inner, Index depth) {
  if (IsA(node, Var) && equal(node, column_below(outer, depth + 1))) {
    return as<Node>(column_below(inner, depth));
  }
  if (IsA(node, Query)) ++depth;
  return with_children(
      node, [=](Node* child) { return with_column(child, outer, inner, depth); }, kIntoQueries);
}

// ---- What a subquery asks ------------------------------------------------------------------

// What a subquery lacks to be one about the person of a row.
enum class Lack {
  kNothing,
  kRows,         // it shows no protected rows, or answers
  kPerson,       // it does not compare its persons with that of the row
  kOtherColumn,  // it takes another column of the row
  kAggregate,    // it may have several rows for a person
  kClause,       // it has other clauses
};

// A comparison of a column of the subquery with the row around.
struct Comparison {
  Node* condition;  // a term of its WHERE, or of what IN compares
  Node* term;       // in which the column stands: itself, or the parameter of IN
  Var* inner;
  Node* outer;
};

// A subquery, and how it finds the rows of a person.
struct Subquery {
  const SubLink* link;
  const Level* read;
  Query* query;  // a copy, without the terms, and with inner columns in the place of outer ones
  List* comparisons;  // Comparison*: those that tell the person first
  int telling;        // how many of them do
};

bool is_compared(const Subquery& subquery, const Node* column) {
  for (const auto* comparison : each<const Comparison>(subquery.comparisons)) {
    if (equal(comparison->inner, column)) return true;
  }
  return false;
}

bool shows_rows(const Level* read) {
  if (read == nullptr || read->borrowed_rows == NIL) return false;
  for (const auto* call : each<const Aggref>(read->aggregates)) {
    if (call->aggfnoid >= FirstUnpinnedObjectId) return false;
  }
  return true;
}

// A column, so many levels around that of the expression, or null.
Var* column_in(Node* expression, Index levels) {
  Node* column = without_relabel(expression);
  const bool is_column = IsA(column, Var) && as<Var>(column)->varlevelsup == levels;
  return is_column ? as<Var>(column) : nullptr;
}

// ---- What tells the person -----------------------------------------------------------------

// The levels in whose words the two sides of comparisons are.
struct Sides {
  const Level* inner;
  const Level* outer;
};

Node* outer_column(const Comparison* comparison) {
  return without_relabel(comparison->outer);
}

bool compare_persons(const Sides& sides, const Comparison* comparison) {
  return is_person(sides.inner, as<Node>(comparison->inner)) &&
         is_person(sides.outer, outer_column(comparison));
}

// How columns of two tables tell that rows are of one person: for each column of a key, one of each
// side that refers to it or is it.
struct Reaching {
  const Reference* reference;  // null: the rows are those of the table that has the key
  Oid table;
};

// The tables whose key a row of a table may have, as the row that it is or refers to: Reaching*.
List* reached_by(Oid table) {
  auto* own = static_cast<Reaching*>(palloc0(2 * sizeof(Reaching)));
  own[0] = {nullptr, table};
  List* reached = list_make1(&own[0]);
  const Reference* reference = reference_to_persons(table);
  if (reference == nullptr) return reached;
  own[1] = {reference, reference->referenced};
  return lappend(reached, &own[1]);
}

AttrNumber column_for_key(const Reaching* reaching, AttrNumber key) {
  if (reaching->reference == nullptr) return key;
  for (int i = 0; i < reaching->reference->columns; ++i) {
    if (reaching->reference->key[i] == key) return reaching->reference->own[i];
  }
  return InvalidAttrNumber;
}

bool is_column(const Level* level, const Node* expression, Index entry, AttrNumber number) {
  const auto origin = origin_of(level, expression);
  return origin && as<const Var>(expression)->varno == static_cast<int>(entry) &&
         origin->column == number;
}

// The comparisons of all columns of the key that both reach; NIL if one is not compared.
List* comparisons_of_key(const Sides& sides, const List* comparisons, const Comparison* first,
                         const Reaching* inner, const Reaching* outer) {
  const Reference* reference = inner->reference != nullptr ? inner->reference : outer->reference;
  if (reference == nullptr || inner->table != outer->table) return NIL;
  const auto entry = static_cast<Index>(as<Var>(outer_column(first))->varno);
  List* found = NIL;
  for (int i = 0; i < reference->columns; ++i) {
    const AttrNumber one = column_for_key(inner, reference->key[i]);
    const AttrNumber other = column_for_key(outer, reference->key[i]);
    for (auto* comparison : each<Comparison>(comparisons)) {
      if (list_length(found) > i) break;
      if (is_column(sides.inner, as<Node>(comparison->inner),
                    static_cast<Index>(first->inner->varno), one) &&
          is_column(sides.outer, outer_column(comparison), entry, other)) {
        found = lappend(found, comparison);
      }
    }
    if (list_length(found) <= i) return NIL;
  }
  return found;
}

// Whether outer joins may leave out the rows of all columns that are compared: then groups by them
// are of nobody.
bool may_all_be_absent(const Level* level, const List* comparisons) {
  const auto* from = as<Node>(level->query->jointree);
  for (const auto* comparison : each<const Comparison>(comparisons)) {
    const auto entry = static_cast<int>(comparison->inner->varno);
    if (nulling_joins(from, entry) == nullptr) return false;
  }
  return true;
}

// The comparisons by which two rows are of one person, of which one is the first; NIL if there are
// none. It compares columns: the persons of both, or those by which one refers to the row of the
// other, or both to one row.
List* comparisons_of_person(const Sides& sides, const List* comparisons, Comparison* first) {
  if (compare_persons(sides, first)) return list_make1(first);
  const auto one = origin_of(sides.inner, as<Node>(first->inner));
  const auto other = origin_of(sides.outer, outer_column(first));
  if (!one || !other || may_all_be_absent(sides.inner, comparisons)) return NIL;
  for (const auto* inner : each<const Reaching>(reached_by(one->relation))) {
    for (const auto* outer : each<const Reaching>(reached_by(other->relation))) {
      List* found = comparisons_of_key(sides, comparisons, first, inner, outer);
      if (found != NIL) return found;
    }
  }
  return NIL;
}

// Puts the comparisons that tell the person first. Returns whether there are any.
bool find_person(Subquery* subquery, const Level* outer) {
  const Sides sides = {subquery->read, outer};
  for (auto* first : each<Comparison>(subquery->comparisons)) {
    List* telling = comparisons_of_person(sides, subquery->comparisons, first);
    if (telling == NIL) continue;
    subquery->telling = list_length(telling);
    subquery->comparisons = list_concat_unique_ptr(telling, subquery->comparisons);
    return true;
  }
  return false;
}

// ---- What is compared ----------------------------------------------------------------------

bool is_of_row_around(Node* expression) {
  return contain_vars_of_level(expression, 1) && !contain_vars_of_level(expression, 0) &&
         !checkExprHasSubLink(expression) && !contain_volatile_functions(expression);
}

// A column that was compared before is in the others.
void add_comparison(Subquery* subquery, const Comparison& compared) {
  if (is_compared(*subquery, as<Node>(compared.inner))) return;
  auto* comparison = static_cast<Comparison*>(palloc(sizeof(Comparison)));
  *comparison = compared;
  subquery->comparisons = lappend(subquery->comparisons, comparison);
}

void add_term(Subquery* subquery, Node* term) {
  const OpExpr* equality = as_equality(term);
  if (equality == nullptr) return;
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  for (int i = 0; i < 2; ++i) {
    Var* inner = column_in(i == 0 ? left : right, 0);
    Node* outer = i == 0 ? right : left;
    if (inner == nullptr || !is_of_row_around(outer)) continue;
    const bool are_columns = column_in(outer, 1) != nullptr;
    if (are_columns || tells_groups_apart(equality, inner)) {
      add_comparison(subquery, {term, as<Node>(inner), inner, outer});
    }
  }
}

bool is_equality_of_groups(const Comparison* comparison) {
  return tells_groups_apart(as<OpExpr>(comparison->condition), comparison->inner);
}

// Other columns than those that tell the person are compared by the = of groups.
void keep_comparisons_of_groups(Subquery* subquery) {
  List* kept = NIL;
  for (auto* comparison : each<Comparison>(subquery->comparisons)) {
    if (list_length(kept) < subquery->telling || is_equality_of_groups(comparison)) {
      kept = lappend(kept, comparison);
    }
  }
  subquery->comparisons = kept;
}

// Whether what is equal is the same, so that one may stand for the other.
bool are_same(const Comparison* comparison) {
  const Var* inner = comparison->inner;
  return exprType(comparison->outer) == inner->vartype &&
         exprCollation(comparison->outer) == inner->varcollid &&
         looks_like_its_equals(as<Node>(inner)) && looks_like_its_equals(comparison->outer);
}

// The columns are equal in all rows that are left.
void put_inner_column(Subquery* subquery, const Comparison* comparison) {
  if (!IsA(comparison->outer, Var) || !are_same(comparison)) return;
  const Var* inner = comparison->inner;
  const auto* outer = as<Var>(comparison->outer);
  subquery->query = as<Query>(with_children(
      as<Node>(subquery->query), [=](Node* child) { return with_column(child, outer, inner, 0); },
      kIntoQueries));
}

// Takes the terms out of WHERE of the copy.
bool take_out_terms(Subquery* subquery) {
  List* terms = terms_of(subquery->query->jointree->quals);
  for (auto* term : each<Node>(terms)) add_term(subquery, term);
  if (!find_person(subquery, subquery->read)) return false;
  keep_comparisons_of_groups(subquery);
  for (const auto* comparison : each<const Comparison>(subquery->comparisons)) {
    terms = list_delete_ptr(terms, comparison->condition);
  }
  subquery->query->jointree->quals = all_of(terms);
  for (const auto* comparison : each<const Comparison>(subquery->comparisons)) {
    put_inner_column(subquery, comparison);
  }
  return true;
}

// IN: what tells the person of the row, and other columns, are compared with the columns of the
// subquery.
bool find_comparisons(Subquery* subquery, const Level* level) {
  const List* columns = subquery->query->targetList;
  const List* terms = terms_of(subquery->link->testexpr);
  for (auto* term : each<Node>(terms)) {
    const OpExpr* equality = as_equality(term);
    if (equality == nullptr) return false;
    auto* outer = static_cast<Node*>(linitial(equality->args));
    Node* parameter = without_relabel(static_cast<Node*>(lsecond(equality->args)));
    if (!IsA(parameter, Param) || as<Param>(parameter)->paramid > list_length(columns))
      return false;
    const auto* column =
        static_cast<const TargetEntry*>(list_nth(columns, as<Param>(parameter)->paramid - 1));
    Var* inner = IsA(column->expr, Var) ? column_in(as<Node>(column->expr), 0) : nullptr;
    if (inner == nullptr || checkExprHasSubLink(outer) || contain_volatile_functions(outer)) {
      return false;
    }
    add_comparison(subquery, {term, parameter, inner, outer});
  }
  if (list_length(subquery->comparisons) < list_length(terms)) return false;
  if (!find_person(subquery, level)) return false;
  keep_comparisons_of_groups(subquery);
  return list_length(subquery->comparisons) == list_length(terms);
}

// Whether it has one row whatever rows there are.
bool has_one_group(const Query* query) {
  return query->groupClause == NIL && (query->hasAggs || query->havingQual != nullptr);
}

// Whether its groups are told apart by nothing but columns that are compared.
bool has_compared_keys(const Subquery& subquery) {
  const Query* query = subquery.query;
  for (const auto* key : each<SortGroupClause>(query->groupClause)) {
    auto* clause = const_cast<SortGroupClause*>(key);
    if (!is_compared(subquery, get_sortgroupclause_expr(clause, query->targetList))) return false;
  }
  return query->groupClause != NIL;
}

// Whether an expression beside aggregates has nothing of the rows but what is compared.
bool is_of_person(const Subquery& subquery, const Node* expression) {
  return !search(expression, [&](Node* node) {
    if (IsA(node, Aggref)) return Look::kPast;
    if (IsA(node, SubLink)) return Look::kFound;
    const bool is_other =
        IsA(node, Var) && as<Var>(node)->varlevelsup == 0 && !is_compared(subquery, node);
    return is_other ? Look::kFound : Look::kBelow;
  });
}

Node* value_of(const Query* query) {
  return as<Node>(static_cast<TargetEntry*>(linitial(query->targetList))->expr);
}

Lack lack_of_value(const Subquery& subquery) {
  const Query* query = subquery.query;
  const bool has_value = has_one_group(query) || (query->hasAggs && has_compared_keys(subquery));
  if (!has_value) return Lack::kAggregate;
  const bool is_computed = is_of_person(subquery, value_of(query)) &&
                           (!has_one_group(query) || is_of_person(subquery, query->havingQual));
  return is_computed ? Lack::kNothing : Lack::kClause;
}

bool is_key(const Query* query, const TargetEntry* column) {
  return get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) != nullptr;
}

// EXISTS looks at no column, but groups are told apart by their keys.
void forget_columns(Query* query) {
  if (query->hasTargetSRFs || has_one_group(query)) return;
  List* keys = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (is_key(query, column)) keys = lappend(keys, column);
  }
  query->targetList = keys;
}

Lack lack_of_existence(const Subquery& subquery) {
  const Query* query = subquery.query;
  if (!has_one_group(query)) return Lack::kNothing;
  return is_of_person(subquery, query->havingQual) ? Lack::kNothing : Lack::kClause;
}

bool has_key(const Query* query, const List* keys, const Var* column) {
  for (const auto* key : each<SortGroupClause>(keys)) {
    auto* clause = const_cast<SortGroupClause*>(key);
    if (equal(get_sortgroupclause_expr(clause, query->targetList), column)) return true;
  }
  return false;
}

// Whether its groups, if it has any, are of one person each: GROUP BY or DISTINCT has what tells
// the person.
bool groups_by_person(const Subquery& subquery) {
  const Query* query = subquery.query;
  if (!hides_rows(subquery.read)) return true;
  List* keys = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  for (int i = 0; i < subquery.telling; ++i) {
    const auto* told = static_cast<const Comparison*>(list_nth(subquery.comparisons, i));
    if (!has_key(query, keys, told->inner)) return false;
  }
  return true;
}

Lack lack_of_list(const Subquery& subquery) {
  const Query* query = subquery.query;
  const bool has_limit = query->limitCount != nullptr || query->limitOffset != nullptr;
  return has_limit || !groups_by_person(subquery) ? Lack::kClause : Lack::kNothing;
}

// What is the same for a subquery of each kind.
bool has_other_clauses(const Query* query) {
  return query->setOperations != nullptr || query->groupingSets != NIL || query->groupDistinct ||
         query->rowMarks != NIL || query->hasTargetSRFs || may_leave_out_rows(query);
}

Lack describe(Subquery* subquery, const Level* level, const SubLink* link) {
  subquery->link = link;
  subquery->read = level_of(level, link);
  if (!shows_rows(subquery->read)) return Lack::kRows;
  const SubLinkType type = link->subLinkType;
  if (type != EXISTS_SUBLINK && type != ANY_SUBLINK && type != EXPR_SUBLINK) return Lack::kRows;
  subquery->query = static_cast<Query*>(copyObjectImpl(subquery->read->query));
  if (subquery->query->setOperations != nullptr) return Lack::kClause;
  const bool compares =
      type == ANY_SUBLINK ? find_comparisons(subquery, level) : take_out_terms(subquery);
  if (!compares) return Lack::kPerson;
  if (type == EXISTS_SUBLINK) forget_columns(subquery->query);
  if (contain_vars_of_level(as<Node>(subquery->query), 1)) return Lack::kOtherColumn;
  if (has_other_clauses(subquery->query)) return Lack::kClause;
  if (type == EXISTS_SUBLINK) return lack_of_existence(*subquery);
  return type == EXPR_SUBLINK ? lack_of_value(*subquery) : lack_of_list(*subquery);
}

// ---- The person group ----------------------------------------------------------------------

// Adds the key that a column is, if it is none, and takes those that are equal out of GROUP BY.
TargetEntry* key_of(Query* query, const Var* inner, List** others) {
  TargetEntry* first = nullptr;
  ListCell* cell;
  foreach (cell, *others) {
    auto* column = static_cast<TargetEntry*>(lfirst(cell));
    if (!equal(column->expr, inner)) continue;
    *others = foreach_delete_current(*others, cell);
    if (first == nullptr) {
      first = column;
    } else {
      query->groupClause = list_delete_ptr(
          query->groupClause,
          get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause));
    }
  }
  if (first != nullptr) return first;
  Index largest = 0;
  for (const auto* clause : each<const SortGroupClause>(query->groupClause)) {
    largest = Max(largest, clause->tleSortGroupRef);
  }
  first = column_of(as<Node>(column_below(inner, 0)), largest + 1);
  query->groupClause = lappend(query->groupClause, grouping_by(first));
  return first;
}

// The keys, first the columns that are compared, which are among them.
List* keys_of(const Subquery& subquery) {
  Query* query = subquery.query;
  List* others = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (is_key(query, column)) others = lappend(others, column);
  }
  List* keys = NIL;
  for (const auto* comparison : each<const Comparison>(subquery.comparisons)) {
    append_column(&keys, key_of(query, comparison->inner, &others));
  }
  for (auto* column : each<TargetEntry>(others)) append_column(&keys, column);
  return keys;
}

void forget_clauses(Query* query) {
  query->distinctClause = NIL;
  query->hasDistinctOn = false;
  query->sortClause = NIL;
  query->limitCount = nullptr;
  query->windowClause = NIL;
  query->hasWindowFuncs = false;
}

// SELECT c1, ... FROM (query) GROUP BY c1, ...: of so many of its columns
Query* columns_of(Query* query, int columns) {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  for (int i = 0; i < columns; ++i) {
    auto* shown = static_cast<TargetEntry*>(list_nth(query->targetList, i));
    TargetEntry* column = column_of(as<Node>(column_of_table(shown)), static_cast<Index>(i + 1));
    append_column(&made->targetList, column);
  }
  IncrementVarSublevelsUp(as<Node>(query), 1, 1);
  select_from(made, query);
  for (const auto* column : each<const TargetEntry>(made->targetList)) {
    made->groupClause = lappend(made->groupClause, grouping_by(column));
  }
  return made;
}

// A row for each person of whom the subquery shows one, and for each value of what else is
// compared: these are its columns.
Query* group_of_persons(const Subquery& subquery) {
  Query* query = subquery.query;
  forget_group_keys(query);
  if (query->distinctClause != NIL && query->groupClause == NIL && !query->hasDistinctOn) {
    query->groupClause = query->distinctClause;
  }
  forget_clauses(query);
  query->targetList = keys_of(subquery);
  const int columns = list_length(subquery.comparisons);
  return list_length(query->groupClause) == columns ? query : columns_of(query, columns);
}

// A row for each person with the aggregates of expressions.
Query* group_with_aggregates(const Subquery& subquery, const List* aggregates) {
  Query* query = subquery.query;
  forget_group_keys(query);
  forget_clauses(query);
  if (has_one_group(query)) query->havingQual = nullptr;
  query->targetList = keys_of(subquery);
  for (const auto* call : each<const Aggref>(aggregates)) {
    append_column(&query->targetList, column_of(static_cast<Node*>(copyObjectImpl(call)), 0));
  }
  return query;
}

List* aggregates_of(const List* expressions) {
  List* calls = NIL;
  visit_nodes(expressions, [&](Node* node) {
    if (IsA(node, Aggref)) calls = list_append_unique(calls, node);
  });
  return calls;
}

// ---- The join ------------------------------------------------------------------------------

// What the subquery compares, with the columns of the group.
Node* condition_of(const Subquery& subquery, const Joined& joined) {
  List* terms = NIL;
  int number = 0;
  for (const auto* comparison : each<const Comparison>(subquery.comparisons)) {
    ++number;
    terms = lappend(terms, mapped(comparison->condition, [&](Node* node) -> Node* {
                      if (equal(node, comparison->term))
                        return as<Node>(column_in_join(joined, number));
                      return IsA(node, Var) ? as<Node>(column_below(as<Var>(node), 0)) : nullptr;
                    }));
  }
  return all_of(terms);
}

Joined join_group(const Place* place, const Subquery& subquery, Query* group, Node* part) {
  const Joined joined = join_derived(place, group, part);
  joined.join->quals = condition_of(subquery, joined);
  return joined;
}

// ---- The value of a subquery ---------------------------------------------------------------

// A person without rows has no row in the group, where only a count is not NULL.
Node* aggregate_of_group(const Joined& joined, const Aggref* call, int number, bool has_value) {
  Node* column = column_of_group(joined, number);
  const Oid aggregate = call->aggfnoid;
  const bool counts =
      aggregate == F_COUNT_ || aggregate == F_COUNT_ANY || aggregate == F_REGR_COUNT;
  if (!has_value || !counts) return column;
  CoalesceExpr* count = makeNode(CoalesceExpr);
  count->coalescetype = INT8OID;
  count->args = list_make2(column, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
                                             Int64GetDatum(0), false, FLOAT8PASSBYVAL));
  count->location = -1;
  return as<Node>(count);
}

// An expression of aggregates and the person, in the level around.
struct Around {
  const Subquery* subquery;
  Joined joined;
  List* aggregates;
  bool has_value;  // whether there is a value if there are no rows
};

// What a column of the subquery is equal to; as the group has it, if that is not the same. Adds the
// nodes of copies to `copied`.
Node* compared_value(const Around& around, const Var* column, int* copied) {
  int number = 0;
  for (const auto* comparison : each<const Comparison>(around.subquery->comparisons)) {
    ++number;
    if (!equal(comparison->inner, column)) continue;
    if (!are_same(comparison)) return column_of_group(around.joined, number);
    *copied += count_nodes(comparison->outer, kMostExpressionNodes);
    require_few_nodes({}, *copied, kNowhere);
    return static_cast<Node*>(copyObjectImpl(comparison->outer));
  }
  return nullptr;
}

Node* in_level_around(const Around& around, const Node* expression) {
  int copied = 0;
  Node* made = mapped(const_cast<Node*>(expression), [&](Node* node) -> Node* {
    if (IsA(node, Aggref)) {
      int number = list_length(around.subquery->comparisons);
      for (const auto* call : each<const Aggref>(around.aggregates)) {
        ++number;
        if (equal(call, node))
          return aggregate_of_group(around.joined, call, number, around.has_value);
      }
    }
    const bool is_inner = IsA(node, Var) && as<Var>(node)->varlevelsup == 0;
    return is_inner ? compared_value(around, as<Var>(node), &copied) : nullptr;
  });
  if (made != nullptr) IncrementVarSublevelsUp(made, -1, 1);
  return made;
}

// (SELECT max(day) FROM ...)
Node* value_of_row(const Place* place, const Subquery& subquery, Node* part) {
  const Query* query = subquery.query;
  Node* value = value_of(query);
  Node* having = has_one_group(query) ? query->havingQual : nullptr;
  Around around = {&subquery, {}, aggregates_of(list_make2(value, having)), has_one_group(query)};
  around.joined =
      join_group(place, subquery, group_with_aggregates(subquery, around.aggregates), part);
  Node* made = in_level_around(around, value);
  if (!around.has_value) return value_if(is_not_null(column_of_group(around.joined, 1)), made);
  return having == nullptr ? made : value_if(in_level_around(around, having), made);
}

// EXISTS (SELECT FROM ... HAVING ...): one row, or none.
Node* existence_of_row(const Place* place, const Subquery& subquery, Node* part) {
  Node* having = subquery.query->havingQual;
  if (having == nullptr) return bool_constant(true);
  Around around = {&subquery, {}, aggregates_of(list_make1(having)), true};
  around.joined =
      join_group(place, subquery, group_with_aggregates(subquery, around.aggregates), part);
  BooleanTest* test = makeNode(BooleanTest);
  test->arg = as<Expr>(in_level_around(around, having));
  test->booltesttype = IS_TRUE;
  test->location = -1;
  return as<Node>(test);
}

// A row of nobody is in no list and not known to be in none, whatever the list has.
Node* value_in_list(const Subquery& subquery, Node* exists) {
  if (subquery.link->subLinkType != ANY_SUBLINK) return exists;
  List* known = NIL;
  for (const auto* comparison : each<const Comparison>(subquery.comparisons)) {
    known = lappend(known, is_not_null(static_cast<Node*>(copyObjectImpl(comparison->outer))));
  }
  return value_if(all_of(known), exists);
}

// A list with NULL in another column than those that tell the person makes NOT IN NULL.
bool may_be_unknown(const Subquery& subquery) {
  return subquery.link->subLinkType == ANY_SUBLINK &&
         list_length(subquery.comparisons) > subquery.telling;
}

// The part of FROM with all columns that are compared with those of the subquery.
Node* part_around(const Place* place, const Subquery& subquery) {
  const Index levels = subquery.link->subLinkType == ANY_SUBLINK ? 0 : 1;
  const Bitmapset* entries = nullptr;
  for (const auto* comparison : each<const Comparison>(subquery.comparisons)) {
    entries = bms_union(entries,
                        pull_varnos_of_level(nullptr, comparison->outer, static_cast<int>(levels)));
  }
  int entry = 0;
  return bms_get_singleton_member(entries, &entry) ? part_with(place, entry)
                                                   : part_with_all(place, entries);
}

// Null if the subquery stays.
Node* value_of_person(const Place* place, const SubLink* link, bool is_condition) {
  Subquery subquery{};
  if (describe(&subquery, place->level, link) != Lack::kNothing) return nullptr;
  if (!is_condition && may_be_unknown(subquery)) return nullptr;
  Node* part = part_around(place, subquery);
  if (part == nullptr) return nullptr;
  if (link->subLinkType == EXPR_SUBLINK) return value_of_row(place, subquery, part);
  if (has_one_group(subquery.query)) return existence_of_row(place, subquery, part);
  const Joined joined = join_group(place, subquery, group_of_persons(subquery), part);
  return value_in_list(subquery, is_not_null(column_of_group(joined, 1)));
}

Node* joined_value(const Place* place, Node* subquery, bool is_condition) {
  const SubLink* link = subquery_of(subquery);
  Node* value = link == nullptr ? nullptr : value_of_person(place, link, is_condition);
  return value != nullptr ? value : public_value(place, subquery, is_condition);
}

// Each is a join around those before it, and PostgreSQL goes down all of them: the stack of a
// server ends at some 200.
constexpr int kMostSubqueries = 100;

void require_few_subqueries(const Place* place) {
  if (list_length(place->subqueries) < kMostSubqueries) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
       errmsg("a query compares its rows with more than %d different subqueries", kMostSubqueries),
       errhint("Ask one with an aggregate for each: FROM patients p LEFT JOIN (SELECT patient, "
               "bool_or(kind = 'lab') AS lab, bool_or(kind = 'web') AS web FROM visits GROUP BY "
               "patient) v ON v.patient = p.id WHERE v.lab AND v.web. Or split the query.")));
}

// Equal subqueries are joined once, so that a key is the same wherever it is shown.
Node* value_in_place(Place* place, Node* subquery, bool is_condition) {
  const ListCell* cell;
  foreach (cell, place->subqueries) {
    const int number = foreach_current_index(cell);
    if (!equal(lfirst(cell), subquery)) continue;
    if (list_nth_int(place->conditions, number) != static_cast<int>(is_condition)) continue;
    return static_cast<Node*>(copyObjectImpl(list_nth(place->values, number)));
  }
  require_few_subqueries(place);
  Node* value = joined_value(place, subquery, is_condition);
  if (value == nullptr) return nullptr;
  place->subqueries = lappend(place->subqueries, subquery);
  place->conditions = lappend_int(place->conditions, static_cast<int>(is_condition));
  place->values = lappend(place->values, value);
  return value;
}

// ---- The level -----------------------------------------------------------------------------

template <class Tree>
Tree* without_subqueries(Place* place, Tree* tree) {
  return mapped(tree, [=](Node* node) {
    return is_subquery(node) ? value_in_place(place, node, false) : nullptr;
  });
}

// A condition without its subqueries. NULL is as good as false in it.
Node* without_subqueries_of_condition(Place* place, Node* condition) {
  if (condition == nullptr) return nullptr;
  if (IsA(condition, List) || is_andclause(condition) || is_orclause(condition)) {
    return with_children(condition,
                         [=](Node* term) { return without_subqueries_of_condition(place, term); });
  }
  Node* value = is_subquery(condition) ? value_in_place(place, condition, true) : nullptr;
  return value != nullptr ? value : without_subqueries(place, condition);
}

// The same for what a level that groups rows computes of each row.
template <class Tree>
Tree* without_subqueries_of_rows(Place* place, Tree* tree, const List* keys) {
  return mapped(tree, [=](Node* node) {
    const bool is_of_rows = IsA(node, Aggref) || list_member(keys, node);
    return is_of_rows ? without_subqueries(place, node) : nullptr;
  });
}

bool has_sublink(Query* query) {
  return any_node(
      query, [](const Node* node) { return IsA(node, SubLink); },
      kIntoQueries | QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES | DPQ_IGNORE_GROUP_KEYS);
}

bool join_in_conditions(const Level* level, Node* part) {
  if (!IsA(part, JoinExpr)) return false;
  auto* join = as<JoinExpr>(part);
  bool changes = join_in_conditions(level, join->larg);
  changes |= join_in_conditions(level, join->rarg);
  Place place = place_in(level, join);
  join->quals = without_subqueries_of_condition(&place, join->quals);
  return changes || place.subqueries != NIL;
}

bool join_in_level(const Level* level) {
  Query* query = level->query;
  bool changes = false;
  for (auto* part : each<Node>(query->jointree->fromlist)) {
    changes |= join_in_conditions(level, part);
  }
  Place place = place_in(level, nullptr);
  query->jointree->quals = without_subqueries_of_condition(&place, query->jointree->quals);
  const bool groups = query->hasAggs || query->groupClause != NIL || query->havingQual != nullptr;
  if (!groups) {
    query->targetList = without_subqueries(&place, query->targetList);
  } else {
    const List* keys = get_sortgrouplist_exprs(query->groupClause, query->targetList);
    query->targetList = without_subqueries_of_rows(&place, query->targetList, keys);
    query->havingQual = without_subqueries_of_rows(&place, query->havingQual, keys);
  }
  return changes || place.subqueries != NIL;
}

bool may_have_subqueries(const Level* level, bool is_beside_rows) {
  const Query* query = level->query;
  return query->commandType == CMD_SELECT && query->hasSubLinks &&
         (level->borrowed_rows != NIL || is_beside_rows) && query->setOperations == nullptr;
}

// ---- Refusals ------------------------------------------------------------------------------

constexpr char kHint[] =
    "Compare the persons of both by = and nothing else: EXISTS (SELECT FROM visits v WHERE "
    "v.person "
    "= p.id), p.id IN (SELECT person FROM visits), (SELECT count(*) FROM visits v WHERE v.person = "
    "p.id).";

// A table of the subquery or of the row may name its persons in another one.
const char* hint_of_person(const Level* level, const Subquery& subquery) {
  const char* hint = hint_of_reference(subquery.read->borrowed_rows);
  if (hint == nullptr) hint = hint_of_reference(level->borrowed_rows);
  return hint == nullptr ? kHint : hint;
}

[[noreturn]] void refuse_subquery(const RefusedQuery& refused, const SubLink* link, Lack lack,
                                  const char* hint) {
  switch (lack) {
    case Lack::kOtherColumn:
      refuse(refused, link->location,
             "a subquery over protected rows takes another column of the row around it than the "
             "person",
             "Compare it by = alone, with a column of the subquery of its type. Other conditions "
             "stand in WHERE of a join: FROM patients p JOIN visits v ON v.patient = p.id WHERE "
             "v.day > p.born; those on rows of the same table in the query around lag(), lead(), "
             "min() or max() OVER (PARTITION BY person ORDER BY day).");
    case Lack::kAggregate:
      refuse(refused, link->location,
             "a subquery over protected rows may have several values for a person",
             "Show one aggregate in it, without other keys than the person: (SELECT max(day) FROM "
             "visits v WHERE v.patient = p.id).");
    case Lack::kClause:
      refuse(refused, link->location,
             "a subquery about a person has LIMIT, OFFSET, UNION or another clause that is not "
             "supported there",
             "Write the clause in a derived table, or join the table by the person.");
    default:
      refuse(refused, link->location,
             "a subquery over protected rows does not compare its persons with the person of the "
             "row around it",
             hint);
  }
}

void refuse_other_subquery(const RefusedQuery& refused, const Level* level, const SubLink* link) {
  Subquery subquery{};
  const Lack lack = describe(&subquery, level, link);
  if (lack == Lack::kNothing && may_be_unknown(subquery)) {
    refuse(refused, link->location,
           "NOT IN, or IN in an expression, compares other columns of protected rows than those of "
           "the person, which may be NULL in the list",
           "Write EXISTS or NOT EXISTS: NOT EXISTS (SELECT FROM visits v WHERE v.person = p.person "
           "AND v.day = p.day).");
  }
  if (lack == Lack::kNothing || lack == Lack::kRows) return;
  // A value that is the same for all rows is another query's answer.
  const bool is_about_rows =
      link->subLinkType != EXPR_SUBLINK || contain_vars_of_level(link->subselect, 1);
  if (is_about_rows) refuse_subquery(refused, link, lack, hint_of_person(level, subquery));
}

}  // namespace

bool join_subqueries(const Level* level, bool is_beside_rows) {
  if (!may_have_subqueries(level, is_beside_rows) || !join_in_level(level)) return false;
  forget_group_keys(level->query);
  level->query->hasSubLinks = has_sublink(level->query);
  return true;
}

void refuse_other_subqueries(const RefusedQuery& refused, const Level* level) {
  if (!may_have_subqueries(level, false)) return;
  visit_nodes(
      level->query,
      [&](const Node* node) {
        if (!IsA(node, SubLink)) return;
        attempt(refused, [&] { refuse_other_subquery(refused, level, as<SubLink>(node)); });
      },
      kIntoQueries | QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES | DPQ_IGNORE_GROUP_KEYS);
}

}  // namespace dpquantile
