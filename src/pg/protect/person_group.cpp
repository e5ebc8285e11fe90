#include "pg/protect/person_group.hpp"

#include "pg/grants/reference.hpp"
#include "pg/protect/exact_aggregate.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/outside.hpp"
#include "pg/protect/rewritten_keys.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/source.hpp"
#include "pg/protect/unit_join.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/person_aggregates.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

constexpr char kGroupHint[] =
    "Group by the column that identifies the persons, and compute the rest in the query around: "
    "SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) AS p.";

// ---- The shape -----------------------------------------------------------------------------

void check_shape(const JudgedLevel* level) {
  const Query* query = level->query;
  const RefusedQuery& refused = level->statement->refused;
  if (query->rowMarks != NIL) {
    refuse(refused, kNowhere, "queries over protected tables cannot lock rows",
           "Leave out FOR UPDATE.");
  }
  if (query->hasTargetSRFs || query->groupDistinct || !has_plain_form(query)) {
    refuse(refused, kNowhere,
           "a query with a row for each person has a subquery, a set, dp_error_of() or a clause "
           "beside its keys and aggregates",
           kGroupHint);
  }
  if (level->has_public_side) {
    refuse(refused, kNowhere,
           "an outer join keeps public rows of nobody in a query with a row for each person",
           "Group the rows of persons in a derived table of the join.");
  }
  if (level->user_relation->user_column == 0) {
    refuse(refused, kNowhere, "the table protects single rows, and not persons", kGroupHint);
  }
}

// A group must have rows of one person alone, and all rows that have the same keys: persons are
// told apart by = as they are everywhere else.
bool is_key_of_person(const JudgedLevel* level, const SortGroupClause* key) {
  auto* expression =
      get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), level->query->targetList);
  return is_user_of_row(level, expression) && groups_ids(key->eqop, expression);
}

// The number of the key that is the person, from 0.
int number_of_person(JudgedLevel* level) {
  const List* groups = level->query->groupClause;
  for (int i = 0; i < list_length(groups); ++i) {
    const auto* key = static_cast<const SortGroupClause*>(list_nth(groups, i));
    if (!is_key_of_person(level, key)) continue;
    level->has_one_row |= list_length(groups) == 1;
    return i;
  }
  refuse(
      level->statement->refused, kNowhere,
      "no key of GROUP BY is the column of the persons whose rows these are",
      "Group by the column of the first table of an outer join, and by one of integers, texts or "
      "UUIDs: FROM patients LEFT JOIN visits ON visits.patient = patients.id GROUP BY "
      "patients.id.");
}

// ---- Columns -------------------------------------------------------------------------------

// PostgreSQL takes a key of a table for one of its children, too, which have keys of their own.
void check_has_one_value(const JudgedLevel* level, const Var* column) {
  const auto* table = rt_fetch(column->varno, level->query->rtable);
  const bool has_other_rows =
      table->rtekind == RTE_RELATION && table->inh && has_children_besides_partitions(table->relid);
  if (table->rtekind == RTE_RELATION && !has_other_rows) return;
  refuse(level->statement->refused, column->location,
         "a column that is not in GROUP BY may have several values for a person",
         "Add it to GROUP BY.");
}

// A column that is no key has one value for all rows of the group, by a unique key among the keys.
Node* rewrite_column(const GroupKeys& keys, Node* expression) {
  if (Node* key = rewritten_key(keys, expression)) return key;
  JudgedLevel* level = keys.level;
  if (IsA(expression, Aggref)) return rewrite_exact_aggregate(level, as<Aggref>(expression));
  check_column(level, as<Var>(expression));
  check_has_one_value(level, as<Var>(expression));
  count_node(level->statement, expression);
  return with_counted_copy(level, with_bounded_work(level, expression));
}

void rewrite_columns(const GroupKeys& keys) {
  JudgedLevel* level = keys.level;
  for_each_column(level, [&](Node* expression) {
    Node* rewritten = expression;
    attempt(level, [&] { rewritten = rewrite_column(keys, expression); });
    return rewritten;
  });
}

// ---- Order ---------------------------------------------------------------------------------

// The groups of a hash table are far from each other in memory. For small ones that costs less than
// to put the rows in order, which it does not if values are kept of each, or if there are many of a
// person. The text of the query decides.
bool is_faster_in_order(const Query* query) {
  if (list_length(query->groupClause) > 1) return true;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (IsA(column->expr, Aggref) && keeps_values(as<Aggref>(column->expr))) return true;
  }
  return false;
}

}  // namespace

void check_person_group(JudgedLevel* level) {
  if (!check_rows(level)) return;
  level->has_person_groups = true;
  if (!attempt(level, [&] { check_shape(level); })) return;
  int person = 0;
  if (!attempt(level, [&] { person = number_of_person(level); })) return;
  GroupKeys keys = {level, NIL, NIL, true};
  rewrite_keys(&keys);
  if (level->is_refused) return;
  rely_on_keys(level);
  const List* groups = list_copy(level->query->groupClause);
  const bool is_ordered = is_faster_in_order(level->query);
  rewrite_columns(keys);
  if (level->is_refused) return;
  attempt(level, [&] { leave_out_nobody(level); });
  group_by_hashes(keys, groups, false);
  if (!is_ordered) return;
  const auto* key = static_cast<const Node*>(list_nth(keys.rewritten, person));
  SortGroupClause* hash = add_person_hash(level, key);
  level->query->groupClause = lappend(level->query->groupClause, hash);
}

}  // namespace dpquantile
