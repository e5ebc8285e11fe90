#include "pg/plain/public_subqueries.hpp"

#include "pg/plain/query_around.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr int kMostTables = 100;

// ---- What a subquery compares --------------------------------------------------------------

// A comparison of an expression of the subquery with one of the row.
struct Comparison {
  Node* condition;
  Node* inner;      // in the condition: what the joined column takes the place of
  Node* shown;      // of the subquery's rows
  bool is_outside;  // the condition stands in the level around, and not in the subquery
};

struct Asked {
  Query* query;       // a copy, without the terms that compare columns of the row
  List* comparisons;  // Comparison*
  Node* list;         // of IN: the value that is compared with the list
};

Comparison* on_heap(Comparison comparison) {
  auto* copy = static_cast<Comparison*>(palloc(sizeof(Comparison)));
  *copy = comparison;
  return copy;
}

// Whether an expression has columns of these levels alone.
bool is_of_levels(Node* expression, bool inside, bool around) {
  return (inside || !contain_vars_of_level(expression, 0)) &&
         (around || !contain_vars_of_level(expression, 1)) && !checkExprHasSubLink(expression);
}

// Takes a term out of WHERE of the copy that says that an expression is equal to one of the row.
bool add_term(Asked* asked, Node* term) {
  const OpExpr* equality = as_equality(term);
  if (equality == nullptr) return false;
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  Node* inner = is_of_levels(left, true, false) && is_of_levels(right, false, true)   ? left
                : is_of_levels(right, true, false) && is_of_levels(left, false, true) ? right
                                                                                      : nullptr;
  if (inner == nullptr) return false;
  inner = without_relabel(inner);
  asked->comparisons = lappend(asked->comparisons, on_heap({term, inner, inner, false}));
  return true;
}

void take_out_terms(Asked* asked) {
  FromExpr* from = asked->query->jointree;
  List* left = NIL;
  for (auto* term : each<Node>(terms_of(from->quals))) {
    if (!contain_vars_of_level(term, 1) || !add_term(asked, term)) left = lappend(left, term);
  }
  from->quals = left == NIL ? nullptr : as<Node>(make_ands_explicit(left));
}

Node* shown_column(const Query* query, int number) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resno == number && !column->resjunk) return as<Node>(column->expr);
  }
  return nullptr;
}

// One of IN: row = parameter, which stands for a column of the subquery.
bool add_comparison(Asked* asked, Node* condition) {
  const OpExpr* equality = as_equality(condition);
  if (equality == nullptr) return false;
  Node* parameter = without_relabel(static_cast<Node*>(lsecond(equality->args)));
  auto* row = static_cast<Node*>(linitial(equality->args));
  const bool is_list = IsA(parameter, Param) && as<Param>(parameter)->paramkind == PARAM_SUBLINK;
  if (!is_list || checkExprHasSubLink(row)) return false;
  Node* shown = shown_column(asked->query, as<Param>(parameter)->paramid);
  if (shown == nullptr) return false;
  asked->list = row;
  asked->comparisons = lappend(asked->comparisons, on_heap({condition, parameter, shown, true}));
  return true;
}

bool add_comparisons(Asked* asked, Node* test) {
  for (auto* condition : each<Node>(terms_of(test))) {
    if (!add_comparison(asked, condition)) return false;
  }
  return asked->comparisons != NIL;
}

// ---- The query -----------------------------------------------------------------------------

// Whether its rows are those of FROM and WHERE. EXISTS and IN do not look at how many are equal.
bool shows_rows(const Query* query) {
  return !query->hasAggs && query->groupClause == NIL && query->groupingSets == NIL &&
         query->havingQual == nullptr && query->setOperations == nullptr &&
         !query->hasWindowFuncs && !query->hasTargetSRFs && !query->hasDistinctOn &&
         query->rowMarks == NIL && query->limitCount == nullptr && query->limitOffset == nullptr;
}

// Whether its rows are groups, and nothing else.
bool shows_groups(const Query* query) {
  return query->groupingSets == NIL && query->setOperations == nullptr && !query->hasWindowFuncs &&
         !query->hasTargetSRFs && !query->hasDistinctOn && query->limitCount == nullptr &&
         query->limitOffset == nullptr;
}

Node* one() {
  return as<Node>(makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(1), false, true));
}

// SELECT the expressions FROM ... GROUP BY them
Query* grouped(Query* query, const List* expressions) {
  forget_group_keys(query);
  query->distinctClause = NIL;
  query->sortClause = NIL;
  query->targetList = NIL;
  Index reference = 0;
  for (auto* expression : each<Node>(expressions)) {
    append_column(&query->targetList, column_of(expression, ++reference));
    auto* column = static_cast<TargetEntry*>(llast(query->targetList));
    query->groupClause = lappend(query->groupClause, grouping_by(column));
  }
  return query;
}

// Errors name the entry.
void name_entry(Query* query, int number) {
  RangeTblEntry* entry = rt_fetch(number, query->rtable);
  entry->eref = makeAlias("subquery", entry->eref->colnames);
}

// SELECT ... FROM (query): of a query with clauses of its own.
Query* query_from(Query* query) {
  Query* made = makeNode(Query);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  List* columns = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    if (column->resname == nullptr) column->resname = pstrdup("?column?");
    columns = lappend(columns, makeTargetEntry(as<Expr>(column_of_table(column)), column->resno,
                                               column->resname, false));
  }
  IncrementVarSublevelsUp(as<Node>(query), 1, 1);
  made->targetList = columns;
  select_from(made, query);
  name_entry(made, 1);
  return made;
}

// ---- The join ------------------------------------------------------------------------------

Node* condition_of(const Comparison& comparison, Var* column) {
  Node* made = mapped(comparison.condition, [&](Node* node) -> Node* {
    return node == comparison.inner ? as<Node>(column) : nullptr;
  });
  if (!comparison.is_outside) IncrementVarSublevelsUp(made, -1, 1);
  return made;
}

// The entries of the level around with which the subquery compares columns.
Bitmapset* entries_of(const Asked& asked) {
  Bitmapset* entries = nullptr;
  for (const auto* comparison : each<const Comparison>(asked.comparisons)) {
    const int level = comparison->is_outside ? 0 : 1;
    for (const auto* column : each<const Var>(pull_vars_of_level(comparison->condition, level))) {
      entries = bms_add_member(entries, static_cast<int>(column->varno));
    }
  }
  return entries;
}

Node* part_of(const Place* place, const Asked& asked) {
  const Bitmapset* entries = entries_of(asked);
  return bms_is_empty(entries) ? part_with_rows(place) : part_with_all(place, entries);
}

// Joins the part with a query whose columns after the first `before` are those that are compared.
Joined join_query(const Place* place, const Asked& asked, Query* query, int before, Node* part) {
  const Joined joined = join_derived(place, query, part);
  name_entry(place->level->query, joined.entry);
  List* conditions = NIL;
  int number = before;
  for (const auto* comparison : each<const Comparison>(asked.comparisons)) {
    conditions = lappend(conditions, condition_of(*comparison, column_in_join(joined, ++number)));
  }
  joined.join->quals =
      conditions == NIL ? makeBoolConst(true, false) : as<Node>(make_ands_explicit(conditions));
  return joined;
}

struct Existence {
  Node* exists;
  Node* part;  // with the join
};

// Joins the part with one row, if the query has any.
Existence join_existence(const Place* place, Query* query, Node* part) {
  const Joined joined = join_derived(place, grouped(query, list_make1(one())), part);
  name_entry(place->level->query, joined.entry);
  auto* condition = as<OpExpr>(make_opclause(Int4EqualOperator, BOOLOID, false,
                                             as<Expr>(column_in_join(joined, 1)), as<Expr>(one()),
                                             InvalidOid, InvalidOid));
  set_opfuncid(condition);
  joined.join->quals = as<Node>(condition);
  return {is_not_null(column_of_group(joined, 1)), as<Node>(joined.join)};
}

// ---- Values --------------------------------------------------------------------------------

List* shown_of(const Asked& asked) {
  List* shown = NIL;
  for (const auto* comparison : each<const Comparison>(asked.comparisons)) {
    shown = lappend(shown, comparison->shown);
  }
  return shown;
}

Node* any_of(Node* one, Node* other) {
  return as<Node>(makeBoolExpr(OR_EXPR, list_make2(one, other), -1));
}

Node* negated(Node* condition) {
  return as<Node>(makeBoolExpr(NOT_EXPR, list_make1(condition), -1));
}

// Whether x IN (list) is: true if the list has x, or else NULL if x is NULL and the list has a
// row, or the list has NULL; or else false. `joined`: the list of `asked`.
Node* value_in_list(const Place* place, const Asked& asked, const Joined& joined) {
  auto* nulls = static_cast<Query*>(copyObjectImpl(asked.query));
  NullTest* is_null = makeNode(NullTest);
  is_null->arg = static_cast<Expr*>(copyObjectImpl(linitial(shown_of(asked))));
  is_null->nulltesttype = IS_NULL;
  is_null->location = -1;
  List* conditions = list_copy(terms_of(nulls->jointree->quals));
  nulls->jointree->quals = as<Node>(make_ands_explicit(lappend(conditions, is_null)));
  const Existence any = join_existence(place, asked.query, as<Node>(joined.join));
  const Existence null = join_existence(place, nulls, any.part);
  Node* found = is_not_null(column_of_group(joined, 1));
  Node* is_value = is_not_null(static_cast<Node*>(copyObjectImpl(asked.list)));
  Node* may_be_false = any_of(is_value, negated(any.exists));
  Node* is_known =
      as<Node>(makeBoolExpr(AND_EXPR, list_make2(negated(null.exists), may_be_false), -1));
  return value_if(any_of(static_cast<Node*>(copyObjectImpl(found)), is_known), found);
}

Node* value_of_list(const Place* place, Asked* asked, bool is_condition) {
  Node* part = part_of(place, *asked);
  if (part == nullptr) return nullptr;
  auto* list = static_cast<Query*>(copyObjectImpl(asked->query));
  const Joined joined = join_query(place, *asked, grouped(list, shown_of(*asked)), 0, part);
  return is_condition ? is_not_null(column_of_group(joined, 1))
                      : value_in_list(place, *asked, joined);
}

Node* value_of_existence(const Place* place, Asked* asked) {
  Node* part = part_of(place, *asked);
  if (part == nullptr) return nullptr;
  if (asked->comparisons == NIL) return join_existence(place, asked->query, part).exists;
  Query* query = grouped(asked->query, shown_of(*asked));
  return is_not_null(column_of_group(join_query(place, *asked, query, 0, part), 1));
}

// The validator sees that there is one row at most.
Node* value_of_row(const Place* place, Asked* asked) {
  Node* value = shown_column(asked->query, 1);
  Node* part = value == nullptr ? nullptr : part_of(place, *asked);
  if (part == nullptr) return nullptr;
  Query* query = asked->query;
  List* columns = lcons(value, shown_of(*asked));
  if (query->distinctClause != NIL) {
    query = grouped(query, columns);
  } else {
    query->sortClause = NIL;
    query->targetList = NIL;
    for (auto* column : each<Node>(columns)) {
      append_column(&query->targetList, column_of(column, 0));
    }
  }
  return column_of_group(join_query(place, *asked, query, 1, part), 1);
}

// ---- Subqueries ----------------------------------------------------------------------------

// The relations that a query reads, also those of the CTEs that it names: OIDs.
List* relations_of(const Level* read) {
  List* relations = list_copy(read->relations);
  for (int i = 1; i <= list_length(read->query->rtable); ++i) {
    const Entry& entry = entry_of(read, i);
    if (entry.cte == nullptr || entry.below == nullptr) continue;
    relations = list_concat_unique_oid(relations, relations_of(entry.below));
  }
  for (const auto* below : each<const Level>(read->below)) {
    relations = list_concat_unique_oid(relations, relations_of(below));
  }
  return relations;
}

bool is_public_query(const Level* read, bool is_value) {
  if (read == nullptr || read->outer_values > 1) return false;
  // The validator refuses so many. CTEs that name each other twice would be read for ever.
  if (read->scans > kMostTables || read->statement->most_scans > kMostScans) return false;
  const List* relations = relations_of(read);
  // One without a table is computed before the rows are read.
  if (read->query->jointree->fromlist == NIL || (is_value && relations == NIL)) return false;
  for (const auto* borrowed : each<const BorrowedRelation>(read->statement->borrowed)) {
    if (list_member_oid(relations, borrowed->permissions->relid)) return false;
  }
  return !any_node(
      read->query,
      [](const Node* node) {
        return IsA(node, Aggref) && as<Aggref>(node)->aggfnoid >= FirstUnpinnedObjectId;
      },
      kIntoQueries);
}

bool takes_columns(const Query* query) {
  return contain_vars_of_level(as<Node>(const_cast<Query*>(query)), 1);
}

// Describes the subquery. Returns whether a join can answer it.
bool describe(Asked* asked, const SubLink* link, Node* test) {
  asked->query = static_cast<Query*>(copyObjectImpl(link->subselect));
  Query* query = asked->query;
  const bool is_value = link->subLinkType == EXPR_SUBLINK;
  if (link->subLinkType == EXISTS_SUBLINK && !may_leave_out_rows(query)) {
    query->limitCount = nullptr;
  }
  const bool is_row_of_groups = query->groupClause == NIL && query->hasAggs;
  if (is_value && is_row_of_groups) return !takes_columns(query) && shows_groups(query);
  if (!shows_rows(query)) {
    if (is_value || is_row_of_groups || takes_columns(query)) return false;
    asked->query = query_from(query);
  }
  take_out_terms(asked);
  if (takes_columns(asked->query)) return false;
  return test == nullptr || add_comparisons(asked, test);
}

// x = ANY (ARRAY(SELECT ...)), and x <> ALL of it, as x = (a parameter for each row). Null if the
// node is another.
const SubLink* array_subquery(const Node* node) {
  if (!IsA(node, ScalarArrayOpExpr)) return nullptr;
  auto* array = static_cast<Node*>(lsecond(as<ScalarArrayOpExpr>(node)->args));
  array = without_relabel(array);
  const bool is_array = IsA(array, SubLink) && as<SubLink>(array)->subLinkType == ARRAY_SUBLINK;
  return is_array ? as<SubLink>(array) : nullptr;
}

Node* test_of_element(const ScalarArrayOpExpr* call, const SubLink* link) {
  const Oid operation = call->useOr ? call->opno : get_negator(call->opno);
  Node* shown = shown_column(as<Query>(link->subselect), 1);
  if (!OidIsValid(operation) || shown == nullptr) return nullptr;
  Param* element = makeNode(Param);
  element->paramkind = PARAM_SUBLINK;
  element->paramid = 1;
  element->paramtype = exprType(shown);
  element->paramtypmod = exprTypmod(shown);
  element->paramcollid = exprCollation(shown);
  element->location = -1;
  Oid left;
  Oid right;
  op_input_types(operation, &left, &right);
  Node* value = as<Node>(element);
  if (right != element->paramtype && !IsPolymorphicType(right)) {
    value = as<Node>(
        makeRelabelType(as<Expr>(element), right, -1, element->paramcollid, COERCE_IMPLICIT_CAST));
  }
  auto* test =
      as<OpExpr>(make_opclause(operation, BOOLOID, false, static_cast<Expr*>(linitial(call->args)),
                               as<Expr>(value), InvalidOid, call->inputcollid));
  set_opfuncid(test);
  return as<Node>(test);
}

// Beside NULLs IN has one comparison, and a list that is the same for all rows.
bool has_plain_list(const Asked& asked) {
  const auto* only = static_cast<const Comparison*>(linitial(asked.comparisons));
  return list_length(asked.comparisons) == 1 && only->is_outside;
}

}  // namespace

bool is_subquery(const Node* node) {
  return IsA(node, SubLink) || array_subquery(node) != nullptr;
}

const SubLink* subquery_of(Node* node) {
  const SubLink* array = array_subquery(node);
  if (array == nullptr) return as<const SubLink>(node);
  Node* test = test_of_element(as<ScalarArrayOpExpr>(node), array);
  if (test == nullptr || !as<ScalarArrayOpExpr>(node)->useOr) return nullptr;
  SubLink* list = makeNode(SubLink);
  *list = *array;
  list->subLinkType = ANY_SUBLINK;
  list->testexpr = test;
  return list;
}

Node* public_value(const Place* place, Node* node, bool is_condition) {
  const SubLink* array = array_subquery(node);
  const SubLink* link = array != nullptr ? array : as<const SubLink>(node);
  const bool is_value = link->subLinkType == EXPR_SUBLINK;
  if (!is_public_query(level_of(place->level, link), is_value)) return nullptr;
  Asked asked{};
  switch (link->subLinkType) {
    case EXISTS_SUBLINK:
      return describe(&asked, link, nullptr) ? value_of_existence(place, &asked) : nullptr;
    case EXPR_SUBLINK:
      // Beside public rows nobody would see that there are several.
      if (place->level->borrowed_rows == NIL) return nullptr;
      return describe(&asked, link, nullptr) ? value_of_row(place, &asked) : nullptr;
    case ANY_SUBLINK:
    case ARRAY_SUBLINK:
      break;
    default:
      return nullptr;
  }
  const bool is_negated = array != nullptr && !as<ScalarArrayOpExpr>(node)->useOr;
  Node* test =
      array == nullptr ? link->testexpr : test_of_element(as<ScalarArrayOpExpr>(node), link);
  if (test == nullptr || !describe(&asked, link, test)) return nullptr;
  const bool is_true_or_not = is_condition && !is_negated;
  if (!is_true_or_not && !has_plain_list(asked)) return nullptr;
  Node* value = value_of_list(place, &asked, is_true_or_not);
  return value != nullptr && is_negated ? negated(value) : value;
}

}  // namespace dpquantile
