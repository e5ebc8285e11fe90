#include "pg/plain/person_subqueries.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/public_subqueries.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
}

namespace dpquantile {

namespace {

// ---- Nodes ---------------------------------------------------------------------------------

Node* all_of(List* terms) {
  return terms == NIL ? nullptr : as<Node>(make_ands_explicit(terms));
}

// The node with one column in the place of another, which is one of the level around the query in
// which the node is. `depth`: how many queries further below.
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

// A subquery, and how it finds the rows of a person.
struct Subquery {
  const SubLink* link;
  const Level* read;
  Query* query;     // a copy, without the term, and with `inner` in the place of `outer`
  Node* condition;  // which compares the persons: a term of its WHERE, or the comparison of IN
  Var* inner;       // the person in the subquery, or the column that tells it by a reference
  Var* outer;       // that of the row around
};

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

// The column of the key to which a column refers, if that is of one column; or else itself.
ColumnOrigin referenced_by(const ColumnOrigin& column) {
  const Reference* reference = reference_to_persons(column.relation);
  const bool refers =
      reference != nullptr && reference->columns == 1 && reference->own[0] == column.column;
  return refers ? ColumnOrigin{reference->referenced, reference->key[0]} : column;
}

bool is_same(const ColumnOrigin& one, const ColumnOrigin& other) {
  return one.relation == other.relation && one.column == other.column;
}

// Whether two columns are equal for rows of one person alone: both are their person, or one refers
// to the row of the other, or both to one row. Each with the level in whose words it is.
bool tell_one_person(const Level* level, const Var* inner, const Level* outer_level,
                     const Var* outer) {
  if (is_person(level, as<Node>(inner)) && is_person(outer_level, as<Node>(outer))) return true;
  const auto one = origin_of(level, as<Node>(inner));
  const auto other = origin_of(outer_level, as<Node>(outer));
  if (!one || !other) return false;
  const ColumnOrigin key = referenced_by(*one);
  const bool refers = !is_same(key, *one) || !is_same(key, *other);
  return refers && is_same(key, referenced_by(*other));
}

// Whether a term says that a person of the subquery is that of the row.
bool compares_persons(Subquery* subquery, Node* term) {
  const OpExpr* equality = as_equality(term);
  if (equality == nullptr) return false;
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  const Level* read = subquery->read;
  for (int i = 0; i < 2; ++i) {
    subquery->inner = column_in(i == 0 ? left : right, 0);
    subquery->outer = column_in(i == 0 ? right : left, 1);
    const bool are_columns = subquery->inner != nullptr && subquery->outer != nullptr;
    if (are_columns && tell_one_person(read, subquery->inner, read, subquery->outer)) return true;
  }
  return false;
}

// Takes the term out of the copy. Its persons are equal in all rows that are left, so that one may
// stand for the other.
bool take_out_term(Subquery* subquery) {
  List* terms = terms_of(subquery->query->jointree->quals);
  for (auto* term : each<Node>(terms)) {
    if (!compares_persons(subquery, term)) continue;
    subquery->condition = term;
    subquery->query->jointree->quals = all_of(list_delete_ptr(terms, term));
    const Var* inner = subquery->inner;
    const Var* outer = subquery->outer;
    if (inner->vartype != outer->vartype || inner->varcollid != outer->varcollid) return true;
    subquery->query = as<Query>(with_children(
        as<Node>(subquery->query), [=](Node* child) { return with_column(child, outer, inner, 0); },
        kIntoQueries));
    return true;
  }
  return false;
}

// IN: the person of the row, or what tells it, is compared with the one column of the subquery.
bool find_comparison(Subquery* subquery, const Level* level) {
  const OpExpr* equality = as_equality(subquery->link->testexpr);
  const List* columns = subquery->query->targetList;
  if (equality == nullptr || columns == NIL) return false;
  auto* shown = as<Node>(static_cast<TargetEntry*>(linitial(columns))->expr);
  subquery->condition = subquery->link->testexpr;
  subquery->outer = column_in(static_cast<Node*>(linitial(equality->args)), 0);
  subquery->inner = IsA(shown, Var) ? column_in(shown, 0) : nullptr;
  return subquery->outer != nullptr && subquery->inner != nullptr &&
         tell_one_person(subquery->read, subquery->inner, level, subquery->outer) &&
         IsA(without_relabel(static_cast<Node*>(lsecond(equality->args))), Param);
}

// Whether it has one row whatever rows there are.
bool has_one_group(const Query* query) {
  return query->groupClause == NIL && (query->hasAggs || query->havingQual != nullptr);
}

bool is_only_key(const Query* query, const Var* person) {
  if (list_length(query->groupClause) != 1) return false;
  auto* key = static_cast<SortGroupClause*>(linitial(query->groupClause));
  return equal(get_sortgroupclause_expr(key, query->targetList), person);
}

// Whether an expression beside aggregates has nothing of the rows but their person.
bool is_of_person(const Subquery& subquery, const Node* expression) {
  return !search(expression, [&](Node* node) {
    if (IsA(node, Aggref)) return Look::kPast;
    if (IsA(node, SubLink)) return Look::kFound;
    const bool is_other =
        IsA(node, Var) && as<Var>(node)->varlevelsup == 0 && !equal(node, subquery.inner);
    return is_other ? Look::kFound : Look::kBelow;
  });
}

Node* value_of(const Query* query) {
  return as<Node>(static_cast<TargetEntry*>(linitial(query->targetList))->expr);
}

Lack lack_of_value(const Subquery& subquery) {
  const Query* query = subquery.query;
  const bool has_value =
      has_one_group(query) || (query->hasAggs && is_only_key(query, subquery.inner));
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

// Whether its groups, if it has any, are of one person each: GROUP BY or DISTINCT has what tells
// the person.
bool groups_by_person(const Subquery& subquery) {
  const Query* query = subquery.query;
  if (!hides_rows(subquery.read)) return true;
  List* keys = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  for (const auto* key : each<SortGroupClause>(keys)) {
    auto* clause = const_cast<SortGroupClause*>(key);
    if (equal(get_sortgroupclause_expr(clause, query->targetList), subquery.inner)) return true;
  }
  return false;
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
      type == ANY_SUBLINK ? find_comparison(subquery, level) : take_out_term(subquery);
  if (!compares) return Lack::kPerson;
  if (type == EXISTS_SUBLINK) forget_columns(subquery->query);
  if (contain_vars_of_level(as<Node>(subquery->query), 1)) return Lack::kOtherColumn;
  if (has_other_clauses(subquery->query)) return Lack::kClause;
  if (type == EXISTS_SUBLINK) return lack_of_existence(*subquery);
  return type == EXPR_SUBLINK ? lack_of_value(*subquery) : lack_of_list(*subquery);
}

// ---- The person group ----------------------------------------------------------------------

// The keys, the person first, which is one of them.
List* keys_of(Query* query, const Var* person) {
  Index largest = 0;
  TargetEntry* first = nullptr;
  List* others = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    largest = Max(largest, column->ressortgroupref);
    if (!is_key(query, column)) continue;
    if (first == nullptr && equal(column->expr, person)) {
      first = column;
    } else {
      others = lappend(others, column);
    }
  }
  if (first == nullptr) {
    first = column_of(as<Node>(column_below(person, 0)), largest + 1);
    query->groupClause = lappend(query->groupClause, grouping_by(first));
  }
  List* keys = NIL;
  append_column(&keys, first);
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

// SELECT c1 FROM (query) GROUP BY c1
Query* persons_of(Query* query) {
  auto* person = static_cast<TargetEntry*>(linitial(query->targetList));
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  List* columns = NIL;
  append_column(&columns, column_of(as<Node>(column_of_table(person)), 1));
  made->targetList = columns;
  IncrementVarSublevelsUp(as<Node>(query), 1, 1);
  select_from(made, query);
  made->groupClause = list_make1(grouping_by(static_cast<TargetEntry*>(linitial(columns))));
  return made;
}

// A row for each person of whom the subquery shows one: the person is its first column.
Query* group_of_persons(const Subquery& subquery) {
  Query* query = subquery.query;
  forget_group_keys(query);
  if (query->distinctClause != NIL && query->groupClause == NIL && !query->hasDistinctOn) {
    query->groupClause = query->distinctClause;
  }
  forget_clauses(query);
  query->targetList = keys_of(query, subquery.inner);
  return list_length(query->groupClause) == 1 ? query : persons_of(query);
}

// A row for each person with the aggregates of expressions.
Query* group_with_aggregates(const Subquery& subquery, const List* aggregates) {
  Query* query = subquery.query;
  forget_group_keys(query);
  forget_clauses(query);
  if (has_one_group(query)) query->havingQual = nullptr;
  query->targetList = keys_of(query, subquery.inner);
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

// The condition by which the subquery compares persons, with the group's person.
Node* condition_of(const Subquery& subquery, const Joined& joined) {
  return mapped(subquery.condition, [&](Node* node) -> Node* {
    const bool is_person_of_group =
        IsA(node, Param) ||
        (subquery.link->subLinkType != ANY_SUBLINK && equal(node, subquery.inner));
    if (is_person_of_group) return as<Node>(column_in_join(joined, 1));
    return IsA(node, Var) ? as<Node>(column_below(as<Var>(node), 0)) : nullptr;
  });
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

Node* in_level_around(const Around& around, const Node* expression) {
  Node* made = mapped(const_cast<Node*>(expression), [&](Node* node) -> Node* {
    if (IsA(node, Aggref)) {
      int number = 1;
      for (const auto* call : each<const Aggref>(around.aggregates)) {
        ++number;
        if (equal(call, node))
          return aggregate_of_group(around.joined, call, number, around.has_value);
      }
    }
    const bool is_inner = IsA(node, Var) && as<Var>(node)->varlevelsup == 0;
    return is_inner ? as<Node>(column_below(around.subquery->outer, 0)) : nullptr;
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
  return value_if(is_not_null(as<Node>(column_below(subquery.outer, 0))), exists);
}

// Null if the subquery stays.
Node* value_of_person(const Place* place, const SubLink* link) {
  Subquery subquery{};
  if (describe(&subquery, place->level, link) != Lack::kNothing) return nullptr;
  Node* part = part_with(place, static_cast<int>(subquery.outer->varno));
  if (part == nullptr) return nullptr;
  if (link->subLinkType == EXPR_SUBLINK) return value_of_row(place, subquery, part);
  if (has_one_group(subquery.query)) return existence_of_row(place, subquery, part);
  const Joined joined = join_group(place, subquery, group_of_persons(subquery), part);
  return value_in_list(subquery, is_not_null(column_of_group(joined, 1)));
}

Node* joined_value(const Place* place, Node* subquery, bool is_condition) {
  Node* value = IsA(subquery, SubLink) ? value_of_person(place, as<SubLink>(subquery)) : nullptr;
  return value != nullptr ? value : public_value(place, subquery, is_condition);
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

// Of a condition, in which NULL is as good as false.
Node* without_subqueries_of_condition(Place* place, Node* condition) {
  if (condition == nullptr) return nullptr;
  if (IsA(condition, List) || is_andclause(condition) || is_orclause(condition)) {
    return with_children(condition,
                         [=](Node* term) { return without_subqueries_of_condition(place, term); });
  }
  Node* value = is_subquery(condition) ? value_in_place(place, condition, true) : nullptr;
  return value != nullptr ? value : without_subqueries(place, condition);
}

// Of a level that groups rows, what is computed of each row.
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
             "Name the person of the row once, where it is compared with that of the subquery. "
             "Compare other columns in WHERE of a join: FROM patients p JOIN visits v ON v.patient "
             "= p.id WHERE v.day > p.born.");
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
