#include "pg/plain/persons_by_group.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/plain/group_keys.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/rows_below.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- The level -----------------------------------------------------------------------------

bool have_lists(const Level* level, const List* keys) {
  for (auto* key : each<SortGroupClause>(keys)) {
    Node* expression = get_sortgroupclause_expr(key, level->query->targetList);
    if (public_values_of(level, expression) == NIL) return false;
  }
  return true;
}

// Whether it is known in how many groups a person is at most, and may be less than max_rows: the
// lists of the keys tell, or the owners of all tables, of whom one states another number.
bool limits_groups(const Level* level) {
  bool is_stated = true;
  bool is_other = false;
  for (const Oid relation : each_oid(level->borrowed_rows)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr) return false;
    is_stated &= protection->max_groups != 0;
    is_other |= protection->max_groups != protection->max_rows;
  }
  return (is_stated && is_other) || have_lists(level, level->query->groupClause);
}

// The relation whose rows tell whose row it is: no outer join leaves out its rows.
Oid relation_of_person(const Level* level) {
  return linitial_oid(level->borrowed_rows);
}

// Whether an expression names the person of each row. Without outer joins all columns of persons
// do.
bool is_person_of_row(const Level* level, const Node* expression) {
  const auto origin = origin_of(level, expression);
  if (!origin || !is_person(level, expression)) return false;
  return origin->relation == relation_of_person(level) ||
         (list_member_oid(level->borrowed_rows, origin->relation) &&
          !any_node(level->query, is_outer_join, kIntoQueries));
}

bool counts_persons(const Level* level, const Aggref* call) {
  return call->aggfnoid == F_COUNT_ANY && call->aggdistinct != NIL && call->aggorder == NIL &&
         call->agglevelsup == 0 &&
         is_person_of_row(level, as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr));
}

// The column of the persons, in the form by which groups tell them apart; null if there is none.
Node* person_of(const Level* level) {
  Node* person = show_users(level, relation_of_person(level));
  if (person == nullptr || getBaseType(exprType(person)) >= FirstUnpinnedObjectId) return nullptr;
  const bool is_usual =
      !type_is_collatable(exprType(person)) || is_inside_collation(exprCollation(person));
  return is_usual ? person : nullptr;
}

bool is_key(const Query* query, const Node* node) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->ressortgroupref != 0 && equal(column->expr, node) &&
        get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) != nullptr) {
      return true;
    }
  }
  return false;
}

// Whether an expression has a column or an aggregate that the new level would not know.
bool has_other_parts(const Level* level, const Node* expression) {
  return search(expression, [&](Node* node) {
    if (is_key(level->query, node)) return Look::kPast;
    if (IsA(node, Aggref)) {
      return counts_persons(level, as<Aggref>(node)) ? Look::kPast : Look::kFound;
    }
    return IsA(node, Var) || IsA(node, SubLink) || IsA(node, GroupingFunc) ? Look::kFound
                                                                           : Look::kBelow;
  });
}

// Whether the person group may have the keys, of which equal ones must not look different there:
// numbers are written alike (rewritten_keys.hpp of pg/protect).
bool have_one_look(const Query* query) {
  for (auto* clause : each<SortGroupClause>(query->groupClause)) {
    const Node* key = get_sortgroupclause_expr(clause, query->targetList);
    const Oid type = exprType(key);
    const bool is_written_alike = type == NUMERICOID || type == FLOAT8OID || type == FLOAT4OID;
    if (!is_written_alike && !looks_like_its_equals(key)) return false;
  }
  return true;
}

bool has_plain_clauses(const Query* query) {
  return query->commandType == CMD_SELECT && query->hasAggs && query->groupClause != NIL &&
         query->groupingSets == NIL && query->setOperations == nullptr && !query->hasWindowFuncs &&
         query->distinctClause == NIL && !query->hasTargetSRFs && query->rowMarks == NIL;
}

// ---- The levels ----------------------------------------------------------------------------

struct Groups {
  List* columns;      // of the person group
  List* expressions;  // of the level as it was, for which they stand
};

TargetEntry* add_column(Groups* groups, Node* expression, Node* made) {
  const auto number = static_cast<AttrNumber>(list_length(groups->columns) + 1);
  TargetEntry* column =
      makeTargetEntry(static_cast<Expr*>(copyObjectImpl(made)), number,
                      number == 1 ? pstrdup("person") : psprintf("c%d", number), false);
  groups->columns = lappend(groups->columns, column);
  groups->expressions = lappend(groups->expressions, expression);
  return column;
}

// Null if no column stands for the expression.
Var* column_for(const Groups& groups, const Node* expression) {
  const ListCell* cell;
  foreach (cell, groups.expressions) {
    if (lfirst(cell) == nullptr || !equal(lfirst(cell), expression)) continue;
    return column_of_table(
        static_cast<TargetEntry*>(list_nth(groups.columns, foreach_current_index(cell))));
  }
  return nullptr;
}

Index unused_reference(const Query* query) {
  Index largest = 0;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    largest = Max(largest, column->ressortgroupref);
  }
  return largest + 1;
}

// A number of rows, of those of the same filter.
Aggref* number_of_rows(const Aggref* call) {
  auto* count = static_cast<Aggref*>(copyObjectImpl(call));
  count->aggfnoid = F_COUNT_;
  count->aggargtypes = NIL;
  count->args = NIL;
  count->aggdistinct = NIL;
  count->inputcollid = InvalidOid;
  count->aggstar = true;
  return count;
}

// Rows of the person group, of which there is one for each person.
Node* count_of_groups(Groups* groups, const Aggref* call) {
  Aggref* count = number_of_rows(call);
  auto* condition = as<Node>(call->aggfilter);
  if (condition == nullptr) return as<Node>(count);
  Var* column = column_for(*groups, condition);
  if (column == nullptr) {
    column = column_of_table(
        add_column(groups, condition, aggregate_of_condition(F_BOOL_OR, condition)));
  }
  count->aggfilter = as<Expr>(column);
  return as<Node>(count);
}

template <class Tree>
Tree* over_groups(Groups* groups, Tree* tree) {
  return mapped(tree, [=](Node* node) -> Node* {
    if (IsA(node, Aggref)) return count_of_groups(groups, as<Aggref>(node));
    return as<Node>(column_for(*groups, node));
  });
}

// FROM and WHERE of the level are its own then.
Query* query_of_groups(const Query* query, List* columns, List* keys) {
  Query* made = make_source(query);
  made->targetList = columns;
  made->groupClause = keys;
  made->hasAggs = contain_aggs_of_level(as<Node>(columns), 0);
  put_below(made);
  return made;
}

}  // namespace

bool counts_persons_by_group(const Level* level) {
  const Query* query = level->query;
  return level->borrowed_rows != NIL && has_plain_clauses(query) && !level->has_public_side &&
         !level->has_one_row && !level->groups_persons && limits_groups(level) &&
         have_one_look(query) && !has_other_parts(level, as<Node>(query->targetList)) &&
         !has_other_parts(level, query->havingQual) && person_of(level) != nullptr;
}

Node* counted_person(const Level* level) {
  return person_of(level);
}

Node* with_numbers_of_rows(Node* tree) {
  return mapped(tree, [](Node* node) -> Node* {
    return IsA(node, Aggref) ? as<Node>(number_of_rows(as<Aggref>(node))) : nullptr;
  });
}

void put_person_group_below(const Level* level) {
  Query* query = level->query;
  Groups groups{};
  Node* person = person_of(level);
  TargetEntry* column_of_person = add_column(&groups, nullptr, person);
  column_of_person->ressortgroupref = unused_reference(query);
  List* keys = list_make1(grouping_by(column_of_person));
  for (auto* key : each<SortGroupClause>(query->groupClause)) {
    Node* expression = get_sortgroupclause_expr(key, query->targetList);
    TargetEntry* column = add_column(&groups, expression, expression);
    column->ressortgroupref = key->tleSortGroupRef;
    keys = lappend(keys, copyObjectImpl(key));
  }
  List* columns = over_groups(&groups, query->targetList);
  Node* having = over_groups(&groups, query->havingQual);
  Query* below = query_of_groups(query, groups.columns, keys);
  List* group_clause = query->groupClause;
  select_from(query, below);
  query->targetList = columns;
  query->groupClause = group_clause;
  query->havingQual = having;
  query->hasAggs = true;
  query->hasSubLinks = false;
  query->cteList = NIL;
  query->hasRecursive = false;
  query->hasModifyingCTE = false;
  query->constraintDeps = NIL;
}

}  // namespace dpquantile
