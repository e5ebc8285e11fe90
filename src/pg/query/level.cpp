#include "pg/query/level.hpp"

#include <utility>

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/group_keys.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily_d.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

Level* read_level(Statement* statement, Level* parent, Query* query);
bool shows_person(const Level* level, AttrNumber column);

// ---- Names ---------------------------------------------------------------------------------

void reach(Index* farthest, Index levels) {
  *farthest = Max(*farthest, levels);
}

// The CTEs of a level are read before its FROM, each after those that it may name.
void find_cte(const Level* level, Entry* entry) {
  const Level* defining = around(level, entry->table->ctelevelsup);
  if (defining == nullptr) return;
  int number = 0;
  for (auto* cte : each<CommonTableExpr>(defining->query->cteList)) {
    if (strcmp(cte->ctename, entry->table->ctename) != 0) {
      ++number;
      continue;
    }
    entry->cte = cte;
    const bool is_read = !entry->table->self_reference && number < list_length(defining->ctes);
    if (is_read) entry->below = static_cast<Level*>(list_nth(defining->ctes, number));
    return;
  }
}

Level* read_below(Level* level, Query* query) {
  Level* below = read_level(level->statement, level, query);
  level->below = lappend(level->below, below);
  level->relations = list_concat_unique_oid(level->relations, below->relations);
  if (below->outer_values > 0) reach(&level->outer_values, below->outer_values - 1);
  if (below->outer_ctes > 0) reach(&level->outer_ctes, below->outer_ctes - 1);
  return below;
}

Entry read_entry(Level* level, RangeTblEntry* table) {
  Entry entry{};
  entry.table = table;
  const RelationPermissions* permissions = permissions_of(level->query, table);
  entry.borrowed = find_borrowed(level->statement->borrowed, permissions);
  // From PostgreSQL 16 on a view that is replaced by its query keeps its OID.
  const bool is_relation = table->rtekind == RTE_RELATION || table->rtekind == RTE_SUBQUERY;
  if (is_relation && OidIsValid(table->relid)) {
    level->relations = list_append_unique_oid(level->relations, table->relid);
  }
  switch (table->rtekind) {
    case RTE_RELATION:
      entry.relation = table->relid;
      break;
    case RTE_SUBQUERY:
      if (permissions != nullptr && find_protected_relation(permissions->relid) != nullptr) {
        entry.relation = permissions->relid;
      }
      entry.below = read_below(level, table->subquery);
      break;
    case RTE_CTE:
      reach(&level->outer_ctes, table->ctelevelsup);
      find_cte(level, &entry);
      break;
    default:
      break;
  }
  return entry;
}

// ---- Group keys ----------------------------------------------------------------------------

// PostgreSQL has to mark the keys of grouping sets, which a set can leave out, and looks for them
// by their entry. Returns whether the keys stand in the expressions. Expressions are copied once
// only: a level that was read before knows the queries in them.
bool resolve_keys(const Statement* statement, Query* query) {
  if (statement->borrowed == NIL && query->groupingSets != NIL) return false;
  (void)resolve_group_keys(query);
  return true;
}

// ---- Rows ----------------------------------------------------------------------------------

// The level of which an entry shows single rows, or null.
const Level* rows_below(const Entry& entry) {
  if (entry.borrowed != nullptr || entry.below == nullptr) return nullptr;
  return hides_rows(entry.below) ? nullptr : entry.below;
}

List* borrowed_rows_of(const Level* level, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    const Entry& entry = entry_of(level, as<RangeTblRef>(part)->rtindex);
    if (entry.borrowed != nullptr) return list_make1_oid(entry.borrowed->permissions->relid);
    const Level* below = rows_below(entry);
    return below == nullptr ? NIL : list_copy(below->borrowed_rows);
  }
  if (!IsA(part, JoinExpr)) return NIL;
  const auto* join = as<JoinExpr>(part);
  List* left = borrowed_rows_of(level, join->larg);
  List* right = borrowed_rows_of(level, join->rarg);
  return join->jointype == JOIN_RIGHT ? list_concat_unique_oid(right, left)
                                      : list_concat_unique_oid(left, right);
}

// Whether each person has at most one row in the query of a protected view.
bool is_view_of_persons(const Entry& entry) {
  return entry.borrowed != nullptr && entry.below != nullptr && entry.below->has_one_row;
}

bool has_public_side(const Level* level, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    const Level* below = rows_below(entry_of(level, as<RangeTblRef>(part)->rtindex));
    return below != nullptr && below->has_public_side;
  }
  if (!IsA(part, JoinExpr)) return false;
  const auto* join = as<JoinExpr>(part);
  if (has_public_side(level, join->larg) || has_public_side(level, join->rarg)) return true;
  if (join->jointype != JOIN_LEFT && join->jointype != JOIN_RIGHT) return false;
  const bool keeps_left = join->jointype == JOIN_LEFT;
  const Node* kept = keeps_left ? join->larg : join->rarg;
  const Node* other = keeps_left ? join->rarg : join->larg;
  return borrowed_rows_of(level, kept) == NIL && borrowed_rows_of(level, other) != NIL;
}

// Whether a part of FROM has at most one row of each person, if it has any: a join by persons of
// two such parts has no more, and neither has one with a public table, which multiplies no rows.
bool has_one_row(const Level* level, const Node* part) {
  if (IsA(part, JoinExpr)) {
    const auto* join = as<JoinExpr>(part);
    return has_one_row(level, join->larg) && has_one_row(level, join->rarg);
  }
  if (!IsA(part, RangeTblRef)) return false;
  const Entry& entry = entry_of(level, as<RangeTblRef>(part)->rtindex);
  if (entry.borrowed != nullptr) return is_view_of_persons(entry);
  const Level* below = rows_below(entry);
  return below == nullptr || below->borrowed_rows == NIL || below->has_one_row ||
         chooses_row_of_person(level, as<RangeTblRef>(part)->rtindex);
}

bool is_column_of(const Node* expression, int entry, AttrNumber column) {
  const Node* shown = without_relabel(const_cast<Node*>(expression));
  return IsA(shown, Var) && as<Var>(shown)->varlevelsup == 0 &&
         static_cast<int>(as<Var>(shown)->varno) == entry && as<Var>(shown)->varattno == column;
}

// Whether a term says that a column of an entry is equal to something that is none of its own.
bool term_fixes_column(const Node* term, int entry, AttrNumber column) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return false;
  auto* left = static_cast<Node*>(linitial(as<OpExpr>(term)->args));
  auto* right = static_cast<Node*>(lsecond(as<OpExpr>(term)->args));
  const auto fixes = [=](Node* one, Node* other) {
    return is_column_of(one, entry, column) &&
           tells_groups_apart(as<OpExpr>(term), as<Var>(without_relabel(one))) &&
           !bms_is_member(entry, pull_varnos(nullptr, other));
  };
  return fixes(left, right) || fixes(right, left);
}

bool fixes_column(const Node* condition, int entry, AttrNumber column) {
  if (condition == nullptr) return false;
  if (!is_andclause(condition)) return term_fixes_column(condition, entry, column);
  for (const auto* term : each<const Node>(as<BoolExpr>(condition)->args)) {
    if (term_fixes_column(term, entry, column)) return true;
  }
  return false;
}

// The only entry of FROM, or 0: a join could repeat rows.
int only_entry(const Level* level) {
  const List* from = level->query->jointree->fromlist;
  if (list_length(from) != 1 || !IsA(linitial(from), RangeTblRef)) return 0;
  return static_cast<const RangeTblRef*>(linitial(from))->rtindex;
}

// Whether some columns have all keys of a person group but the person.
bool have_keys(const Level* group, const Bitmapset* columns) {
  const Query* query = group->query;
  List* keys = query->groupClause != NIL ? query->groupClause : query->distinctClause;
  bool has_person = false;  // another key that is a person may be one more row
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, keys) == nullptr) continue;
    if (!has_person && is_person(group, as<Node>(column->expr))) {
      has_person = true;
      continue;
    }
    if (column->resjunk || !bms_is_member(column->resno, columns)) return false;
  }
  return true;
}

// Whether at most one row of a person has values of these columns: the level is a person group of
// which they have the other keys, or chooses rows of one.
bool fix_group(const Level* level, const Bitmapset* columns) {
  if (level == nullptr) return false;
  if (level->groups_persons) return have_keys(level, columns);
  const int entry = only_entry(level);
  if (entry == 0 || combines_rows(level->query) || level->query->hasTargetSRFs) return false;
  Bitmapset* below = nullptr;
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    const auto* shown = as<Var>(column->expr);
    const bool is_shown = IsA(shown, Var) && shown->varlevelsup == 0 && shown->varattno > 0 &&
                          static_cast<int>(shown->varno) == entry;
    if (is_shown && bms_is_member(column->resno, columns)) {
      below = bms_add_member(below, shown->varattno);
    }
  }
  return fix_group(rows_below(entry_of(level, entry)), below);
}

// Whether a left join finds at most one row of an entry of persons for each protected row that it
// keeps. The join compares all keys of a person group but the person, whom the rules of joins
// look at.
bool is_met_once(const Level* level, const JoinExpr* join) {
  if (join->jointype != JOIN_LEFT || !IsA(join->rarg, RangeTblRef)) return false;
  if (borrowed_rows_of(level, join->larg) == NIL) return false;
  const int number = as<RangeTblRef>(join->rarg)->rtindex;
  const Level* group = rows_below(entry_of(level, number));
  if (group == nullptr) return false;
  Bitmapset* fixed = nullptr;
  for (int column = 1; column <= list_length(group->query->targetList); ++column) {
    if (fixes_column(join->quals, number, static_cast<AttrNumber>(column))) {
      fixed = bms_add_member(fixed, column);
    }
  }
  return fix_group(group, fixed);
}

void note_part(Level* level, const Node* part) {
  if (IsA(part, RangeTblRef)) {
    level->entries[as<RangeTblRef>(part)->rtindex - 1].is_in_from = true;
  } else if (IsA(part, JoinExpr)) {
    const auto* join = as<JoinExpr>(part);
    note_part(level, join->larg);
    note_part(level, join->rarg);
    if (is_met_once(level, join)) {
      level->entries[as<RangeTblRef>(join->rarg)->rtindex - 1].is_met_once = true;
    }
  }
}

void read_from(Level* level) {
  level->has_one_row = true;
  const FromExpr* from = level->query->jointree;
  for (const auto* part : each<const Node>(from == nullptr ? NIL : from->fromlist)) {
    note_part(level, part);
    level->borrowed_rows =
        list_concat_unique_oid(level->borrowed_rows, borrowed_rows_of(level, part));
    level->has_public_side |= has_public_side(level, part);
    level->has_one_row &= has_one_row(level, part);
  }
  level->has_one_row &= level->borrowed_rows != NIL;
}

// ---- Set operations ------------------------------------------------------------------------

void add_branches(const Level* level, const Node* part, List** branches) {
  if (IsA(part, RangeTblRef)) {
    *branches = lappend(*branches, entry_of(level, as<RangeTblRef>(part)->rtindex).below);
    return;
  }
  add_branches(level, as<SetOperationStmt>(part)->larg, branches);
  add_branches(level, as<SetOperationStmt>(part)->rarg, branches);
}

bool is_union_all(const Node* part) {
  if (!IsA(part, SetOperationStmt)) return true;
  const auto* operation = as<SetOperationStmt>(part);
  return operation->op == SETOP_UNION && operation->all && is_union_all(operation->larg) &&
         is_union_all(operation->rarg);
}

// A part of a recursive query reads the query itself.
bool is_recursive(const Level* level) {
  for (const auto* cte : each<const CommonTableExpr>(level->parent->query->cteList)) {
    if (cte->ctequery == as<Node>(level->query) && cte->cterecursive) return true;
  }
  return false;
}

// What looks for the origin of a column follows all queries of a UNION ALL, and WITH queries that
// read each other twice double them.
void find_union(Level* level) {
  if (level->scans > kMostScans || !combines_branches_of_rows(level)) return;
  if (!is_union_all(level->query->setOperations)) return;
  level->unites_rows = true;
  for (const auto* branch : each<const Level>(branches_of(level))) {
    level->borrowed_rows = list_concat_unique_oid(level->borrowed_rows, branch->borrowed_rows);
  }
}

// ---- Person groups -------------------------------------------------------------------------

bool has_own_aggregate(const Level* level) {
  for (const auto* call : each<const Aggref>(level->aggregates)) {
    if (call->aggfnoid >= FirstUnpinnedObjectId) return true;
  }
  return false;
}

bool is_key_or_aggregate(const Query* query, const TargetEntry* column) {
  if (column->resjunk) return false;
  return IsA(column->expr, Aggref) || IsA(column->expr, Var) ||
         get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) != nullptr;
}

// Whether one of the keys is the column that identifies persons.
bool has_person(const Level* level, const List* keys) {
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    const Index reference = column->ressortgroupref;
    if (get_sortgroupref_clause_noerr(reference, const_cast<List*>(keys)) == nullptr) continue;
    if (is_person(level, as<Node>(column->expr))) return true;
  }
  return false;
}

bool may_have_rows_of_persons(const Level* level) {
  return level->parent != nullptr && level->borrowed_rows != NIL &&
         level->query->setOperations == nullptr && level->query->groupingSets == NIL;
}

void find_person_group(Level* level) {
  const Query* query = level->query;
  const bool is_distinct = query->groupClause == NIL;
  if (query->hasDistinctOn || has_own_aggregate(level)) return;
  if (is_distinct && query->hasWindowFuncs) return;  // which are computed before
  const List* keys = is_distinct ? query->distinctClause : query->groupClause;
  level->groups_persons = has_person(level, keys);
  if (level->groups_persons) level->has_one_row |= list_length(keys) == 1;
}

// ---- Groups of a person --------------------------------------------------------------------
//
// They decide in how many groups of an answer a person counts, and so how exact it is. Any number
// of them is private.

// The only person group in FROM, or in a derived table there, that has several rows of a person.
// Null if another entry has several, too. A table has one row if its owner says so.
const Level* group_with_several_rows(const Level* level) {
  const Level* found = nullptr;
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    if (!entry.is_in_from) continue;
    if (entry.borrowed != nullptr && entry.borrowed->max_rows != 1) return nullptr;
    const Level* below = rows_below(entry);
    if (below == nullptr || below->borrowed_rows == NIL || below->has_one_row) continue;
    if (found != nullptr) return nullptr;
    found = below;
  }
  return found == nullptr || found->groups_persons ? found : group_with_several_rows(found);
}

// The column of a person group that an expression shows as it is, or null.
const Node* column_of_group(const Level* level, const Level* group, const Node* expression) {
  while (IsA(expression, RelabelType)) expression = as<Node>(as<RelabelType>(expression)->arg);
  if (!IsA(expression, Var)) return nullptr;
  const auto definition = definition_of(level, as<Var>(expression));
  if (!definition) return nullptr;
  return definition->level == group
             ? definition->expression
             : column_of_group(definition->level, group, definition->expression);
}

void add_column_of_group(const Level* level, const Level* group, const Node* expression,
                         List** columns) {
  const Node* column = column_of_group(level, group, expression);
  if (column != nullptr) *columns = lappend(*columns, const_cast<Node*>(column));
}

// The column of a list of public keys that a key shows where it is not NULL (keyed_query.hpp of
// pg/plain); null if it is another key.
Node* column_of_list_with_null(const Node* key) {
  if (!IsA(key, CaseExpr) || list_length(as<CaseExpr>(key)->args) != 1) return nullptr;
  const auto* branch = static_cast<const CaseWhen*>(linitial(as<CaseExpr>(key)->args));
  const auto* number = IsA(branch->expr, OpExpr)
                           ? static_cast<const Node*>(linitial(as<OpExpr>(branch->expr)->args))
                           : nullptr;
  const bool is_of_list =
      number != nullptr && IsA(number, FuncExpr) && as<FuncExpr>(number)->funcid == F_INT4AND;
  return is_of_list ? as<Node>(branch->result) : nullptr;
}

// Such a column is compared with COALESCE of the key. Another column of the list tells the NULLs.
void add_coalesced_column(const Level* level, const Level* group, const Node* side,
                          List** columns) {
  const auto definition = IsA(side, Var) ? definition_of(level, as<Var>(side)) : std::nullopt;
  if (!definition || !IsA(definition->expression, CoalesceExpr)) return;
  const auto* coalesced = as<CoalesceExpr>(definition->expression);
  add_column_of_group(definition->level, group, static_cast<const Node*>(linitial(coalesced->args)),
                      columns);
}

struct ListedKeys {
  List* keys;
  List* with_null;  // columns of lists with NULL
};

void add_side(const Level* level, const Level* group, const ListedKeys& listed, const Node* key,
              const Node* side, List** columns) {
  if (list_member(listed.keys, key)) add_column_of_group(level, group, side, columns);
  if (list_member(listed.with_null, key)) add_coalesced_column(level, group, side, columns);
}

bool has_entry(const Node* from, int number) {
  if (IsA(from, RangeTblRef)) return as<RangeTblRef>(from)->rtindex == number;
  if (IsA(from, JoinExpr)) {
    const auto* join = as<JoinExpr>(from);
    return join->rtindex == number || has_entry(join->larg, number) ||
           has_entry(join->rarg, number);
  }
  for (const auto* part : each<const Node>(as<FromExpr>(from)->fromlist)) {
    if (has_entry(part, number)) return true;
  }
  return false;
}

bool has_entries_of(const Node* from, Node* expression) {
  const Bitmapset* entries = pull_varnos(nullptr, expression);
  for (int number = -1; (number = bms_next_member(entries, number)) >= 0;) {
    if (!has_entry(from, number)) return false;
  }
  return true;
}

// Adds the columns of entries in a part of FROM that a condition says are equal to keys.
void add_equal_columns(const Level* level, const Level* group, const ListedKeys& listed,
                       const Node* condition, const Node* part, List** columns) {
  for (const auto* term : each<const Node>(terms_of(condition))) {
    if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) continue;
    auto* left = static_cast<Node*>(linitial(as<OpExpr>(term)->args));
    auto* right = static_cast<Node*>(lsecond(as<OpExpr>(term)->args));
    if (!op_mergejoinable(as<OpExpr>(term)->opno, exprType(left))) continue;
    if (has_entries_of(part, right)) add_side(level, group, listed, left, right, columns);
    if (has_entries_of(part, left)) add_side(level, group, listed, right, left, columns);
  }
}

// A list of public keys is joined with the rows: its columns are keys, and so are those that are
// equal to them in all rows that have a person. An outer join compares the rows of the side that it
// may leave out; those of the other side it keeps, whatever they are equal to.
void add_equal_columns(const Level* level, const Level* group, const ListedKeys& listed,
                       const Node* from, List** columns) {
  if (IsA(from, RangeTblRef)) return;
  if (IsA(from, FromExpr)) {
    const auto* parts = as<FromExpr>(from);
    for (const auto* part : each<const Node>(parts->fromlist)) {
      add_equal_columns(level, group, listed, part, columns);
    }
    add_equal_columns(level, group, listed, parts->quals, from, columns);
    return;
  }
  const auto* join = as<JoinExpr>(from);
  add_equal_columns(level, group, listed, join->larg, columns);
  add_equal_columns(level, group, listed, join->rarg, columns);
  if (join->jointype == JOIN_FULL) return;
  const Node* part = join->jointype == JOIN_LEFT    ? join->rarg
                     : join->jointype == JOIN_RIGHT ? join->larg
                                                    : from;
  add_equal_columns(level, group, listed, join->quals, part, columns);
}

List* grouped_columns(const Level* level, const Level* group) {
  const Query* query = level->query;
  ListedKeys listed{};
  List* columns = NIL;
  for (const auto* key : each<SortGroupClause>(query->groupClause)) {
    Node* expression =
        get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), query->targetList);
    listed.keys = lappend(listed.keys, expression);
    Node* column = column_of_list_with_null(expression);
    if (column != nullptr) listed.with_null = lappend(listed.with_null, column);
    add_column_of_group(level, group, expression, &columns);
  }
  add_equal_columns(level, group, listed, as<Node>(query->jointree), &columns);
  return columns;
}

void find_groups_of_person(Level* level) {
  const Query* query = level->query;
  if (query->groupClause == NIL || query->groupingSets != NIL) return;
  const Level* group = level->borrowed_rows == NIL ? nullptr : group_with_several_rows(level);
  if (group == nullptr) return;
  const List* grouped = grouped_columns(level, group);
  const Query* below = group->query;
  const List* keys = below->groupClause != NIL ? below->groupClause : below->distinctClause;
  for (const auto* key : each<const SortGroupClause>(keys)) {
    const Node* expression =
        get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), below->targetList);
    if (!is_person(group, expression) && !list_member(grouped, expression)) return;
  }
  level->has_one_row_in_group = true;
}

void find_person_windows(Level* level) {
  const Query* query = level->query;
  if (query->hasAggs || query->groupClause != NIL || query->havingQual != nullptr) return;
  level->picks_rows_of_persons = query->hasDistinctOn && has_person(level, query->distinctClause);
  if (query->hasDistinctOn || !query->hasWindowFuncs) return;
  level->windows_persons = true;
  for (const auto* window : each<const WindowClause>(query->windowClause)) {
    if (!is_used_window(query, window)) continue;
    level->windows_persons &= has_person(level, window->partitionClause);
  }
}

// ---- Columns of persons --------------------------------------------------------------------

// Whether a column of a level is the person; one of a UNION ALL in all its queries.
bool is_person_column(const Level* level, AttrNumber number) {
  check_stack_depth();
  if (!level->unites_rows) {
    const List* columns = level->query->targetList;
    if (number > list_length(columns)) return false;
    const auto* column = static_cast<const TargetEntry*>(list_nth(columns, number - 1));
    return is_person(level, as<Node>(column->expr));
  }
  for (const auto* branch : each<const Level>(branches_of(level))) {
    if (!shows_person(branch, number)) return false;
  }
  return true;
}

void find_persons(Level* level) {
  level->read_columns = list_length(level->query->targetList);
  if (hides_rows(level)) return;
  for (int number = 1; number <= level->read_columns; ++number) {
    if (is_person_column(level, static_cast<AttrNumber>(number))) {
      level->persons = bms_add_member(level->persons, number);
    }
  }
}

// ---- The most rows of a person -------------------------------------------------------------

using StatedLimit = int BorrowedRelation::*;
using LimitOfLevel = int Level::*;

// What an owner states, and what a level below has of it.
struct Limit {
  StatedLimit stated;
  LimitOfLevel of_level;
};

int sum_of_branches(const Level* level, const Limit& limit) {
  int64 sum = 0;
  for (const auto* branch : each<const Level>(branches_of(level))) {
    if (branch->*limit.of_level == 0) return 0;
    sum += branch->*limit.of_level;
  }
  return static_cast<int>(Min(sum, static_cast<int64>(PG_INT32_MAX)));
}

// The rows of a referenced table only say whose other rows are, and an entry that other rows meet
// once adds none.
bool has_limiting_rows(const Entry& entry) {
  if (!entry.is_in_from || entry.is_met_once) return false;
  if (entry.borrowed != nullptr)
    return !entry.borrowed->is_referenced && !is_view_of_persons(entry);
  const Level* below = rows_below(entry);
  return below != nullptr && below->borrowed_rows != NIL && !below->only_names_persons;
}

int most_of_entries(const Level* level, const Limit& limit) {
  int most = 0;
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    if (!has_limiting_rows(entry)) continue;
    const int rows =
        entry.borrowed != nullptr ? entry.borrowed->*limit.stated : entry.below->*limit.of_level;
    if (rows == 0) return 0;
    most = Max(most, rows);
  }
  return most;
}

// Whether an expression has one value in all rows of a person: it is computed of columns of tables
// alone of which each person has one row, by what their owners state, and no outer join leaves such
// a row out of some of the person's. Gives up after so many columns.
bool has_one_value(const Level* level, Node* expression, int* columns) {
  constexpr int kMostColumns = 100;
  check_stack_depth();
  const bool has_others = any_node(expression, [](const Node* node) {
    return IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
           (IsA(node, Var) && as<Var>(node)->varlevelsup > 0);
  });
  if (has_others || any_node(level->query->jointree, is_outer_join)) return false;
  for (const auto* column : each<const Var>(pull_vars_of_level(expression, 0))) {
    if (++*columns > kMostColumns) return false;
    if (const auto definition = definition_of(level, column)) {
      if (!has_one_value(definition->level, definition->expression, columns)) return false;
      continue;
    }
    const BorrowedRelation* table = entry_of(level, static_cast<int>(column->varno)).borrowed;
    if (table == nullptr || table->is_referenced || table->max_rows != 1) return false;
  }
  return true;
}

// Whether all keys of a person group but the person have one value for each person.
bool has_keys_of_one_value(const Level* level) {
  const Query* query = level->query;
  if (!level->groups_persons || query->groupingSets != NIL) return false;
  int columns = 0;
  for (auto* key : each<SortGroupClause>(query->groupClause != NIL ? query->groupClause
                                                                   : query->distinctClause)) {
    Node* expression = get_sortgroupclause_expr(key, query->targetList);
    if (!is_person(level, expression) && !has_one_value(level, expression, &columns)) return false;
  }
  return true;
}

int find_most(const Level* level, const Limit& limit) {
  if (level->has_one_row || has_keys_of_one_value(level)) return 1;
  return level->unites_rows ? sum_of_branches(level, limit) : most_of_entries(level, limit);
}

int elements_of(const Node* call) {
  if (!IsA(call, FuncExpr) || as<FuncExpr>(call)->funcid != F_UNNEST_ANYARRAY) return 0;
  const auto* array = static_cast<const Node*>(linitial(as<FuncExpr>(call)->args));
  if (!IsA(array, Const) || as<Const>(array)->constisnull) return 0;
  const ArrayType* values = DatumGetArrayTypeP(as<Const>(array)->constvalue);
  return ArrayGetNItems(ARR_NDIM(values), ARR_DIMS(values));
}

// The most rows of a list in FROM: VALUES, or arrays of constants. 0 for anything else.
int rows_of_list(const RangeTblEntry* table) {
  if (table->rtekind == RTE_VALUES) return list_length(table->values_lists);
  if (table->rtekind == RTE_SUBQUERY) {
    const Query* query = table->subquery;
    const bool shows_one = list_length(query->rtable) == 1 && !query->hasTargetSRFs;
    const auto* shown = shows_one ? static_cast<RangeTblEntry*>(linitial(query->rtable)) : nullptr;
    return shown != nullptr && shown->rtekind == RTE_VALUES ? rows_of_list(shown) : 0;
  }
  if (table->rtekind != RTE_FUNCTION) return 0;
  int most = 0;
  for (const auto* function : each<const RangeTblFunction>(table->functions)) {
    const int elements = elements_of(function->funcexpr);
    if (elements == 0) return 0;
    most = Max(most, elements);
  }
  return most;
}

// The most groups of the level if its keys are columns of lists, and nothing else; otherwise 0.
// A person is in no more.
int listed_groups(const Level* level) {
  const Query* query = level->query;
  Bitmapset* lists = nullptr;
  for (const auto* key : each<SortGroupClause>(query->groupClause)) {
    auto* expression =
        get_sortgroupclause_expr(const_cast<SortGroupClause*>(key), query->targetList);
    if (contain_vars_of_level(expression, 1)) return 0;
    lists = bms_union(lists, pull_varnos(nullptr, expression));
  }
  double groups = lists == nullptr ? 0 : 1;
  for (int list = -1; (list = bms_next_member(lists, list)) >= 0;) {
    groups *= rows_of_list(entry_of(level, list).table);
  }
  return static_cast<int>(Min(groups, static_cast<double>(PG_INT32_MAX)));
}

// As many as an owner may state.
constexpr int kMostUnstatedGroups = 1000;

int most_groups_of_person(const Level* level, int stated) {
  const int listed = level->has_one_row_in_group ? listed_groups(level) : 0;
  if (listed == 0) return stated;
  if (stated == 0) return listed <= kMostUnstatedGroups ? listed : 0;
  return Min(stated, listed);
}

void find_most_rows(Level* level) {
  const Limit rows = {&BorrowedRelation::max_rows, &Level::most_rows};
  const Limit groups = {&BorrowedRelation::max_groups, &Level::most_groups};
  level->only_names_persons = !level->unites_rows;
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    level->only_names_persons &= !has_limiting_rows(entry_of(level, number));
  }
  level->most_rows = find_most(level, rows);
  level->most_groups = most_groups_of_person(level, find_most(level, groups));
  level->most_rows_in_from = most_of_entries(level, rows);
}

// ---- A level -------------------------------------------------------------------------------

void add_scans(Level* level, int scans) {
  level->scans = Min(level->scans + scans, kMostScans + 1);
}

void read_entries(Level* level) {
  const List* tables = level->query->rtable;
  level->entries =
      static_cast<Entry*>(palloc0((static_cast<Size>(list_length(tables)) + 1) * sizeof(Entry)));
  int number = 0;
  for (auto* table : each<RangeTblEntry>(tables)) {
    const Entry& entry = level->entries[number++] = read_entry(level, table);
    if (table->rtekind != RTE_JOIN)
      add_scans(level, entry.below == nullptr ? 1 : entry.below->scans);
  }
}

// A level around may know the aggregate from before, if this one is read again.
void read_aggregate(Level* level, Aggref* call) {
  Level* own = level;
  for (Index i = 0; i < call->agglevelsup && own != nullptr; ++i) own = own->parent;
  if (own != nullptr) own->aggregates = list_append_unique_ptr(own->aggregates, call);
  reach(&level->outer_values, call->agglevelsup);
}

// What stands in expressions.
void read_expressions(Level* level, int left_out) {
  const auto* query = as<Node>(level->query);
  const auto read = [&](Node* node) {
    switch (nodeTag(node)) {
      case T_Query:
        if (node == query) return Look::kBelow;
        add_scans(level, read_below(level, as<Query>(node))->scans);
        return Look::kPast;
      case T_Var:
        reach(&level->outer_values, as<Var>(node)->varlevelsup);
        return Look::kPast;
      case T_Aggref:
        read_aggregate(level, as<Aggref>(node));
        return Look::kBelow;
      case T_GroupingFunc:
        reach(&level->outer_values, as<GroupingFunc>(node)->agglevelsup);
        return Look::kBelow;
      default:
        return Look::kBelow;
    }
  };
  (void)search(query, read, kIntoQueries | left_out);
}

// Fills a level that knows its statement, parent and query.
void read_parts(Level* level) {
  Query* query = level->query;
  const bool resolved = resolve_keys(level->statement, query);
  for (const auto* cte : each<const CommonTableExpr>(query->cteList)) {
    level->ctes = lappend(level->ctes, read_below(level, as<Query>(cte->ctequery)));
  }
  read_entries(level);
  read_from(level);
  read_expressions(level, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES |
                              (resolved ? DPQ_IGNORE_GROUP_KEYS : 0));
  find_union(level);
  find_groups_of_person(level);
  if (may_have_rows_of_persons(level)) {
    find_person_group(level);
    find_person_windows(level);
  }
  find_persons(level);
  find_most_rows(level);
  level->statement->most_scans = Max(level->statement->most_scans, level->scans);
}

// What is read of a query grows with the square of the number of its levels, and it is read again
// each time that the translation has changed it.
constexpr int kMostNestedQueries = 100;

void check_nesting(const Statement* statement, const Level* parent) {
  int depth = 1;
  for (; parent != nullptr; parent = parent->parent) ++depth;
  if (depth <= kMostNestedQueries || statement->borrowed == NIL) return;
  ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                  errmsg("more than %d queries over a protected table are in one another",
                         kMostNestedQueries),
                  errhint("Nest fewer subqueries and views.")));
}

Level* read_level(Statement* statement, Level* parent, Query* query) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  check_nesting(statement, parent);
  auto* level = static_cast<Level*>(palloc0(sizeof(Level)));
  level->statement = statement;
  level->parent = parent;
  level->query = query;
  read_parts(level);
  return level;
}

}  // namespace

int max_rows_of_session = 0;

int most_rows_of_person(const Level* level) {
  if (level->has_one_row_in_group) return level->most_groups;
  const bool is_less = max_rows_of_session > 0 && max_rows_of_session < level->most_rows;
  return is_less ? max_rows_of_session : level->most_rows;
}

Statement* read_statement(Query* query, List* borrowed) {
  auto* statement = static_cast<Statement*>(palloc0(sizeof(Statement)));
  statement->borrowed = borrowed;
  statement->top = read_level(statement, nullptr, query);
  return statement;
}

void read_again(Level* level) {
  const Level before = *level;
  *level = {};
  level->statement = before.statement;
  level->parent = before.parent;
  level->query = before.query;
  read_parts(level);
}

const Level* around(const Level* level, Index levels) {
  while (levels-- > 0 && level != nullptr) level = level->parent;
  return level;
}

bool combines_rows(const Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
         query->distinctClause != NIL || query->setOperations != nullptr ||
         query->havingQual != nullptr;
}

bool has_plain_form(const Query* query) {
  const bool has_clauses = query->havingQual != nullptr || query->distinctClause != NIL ||
                           query->sortClause != NIL || query->limitCount != nullptr ||
                           query->limitOffset != nullptr || query->hasWindowFuncs;
  if (has_clauses) return false;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (!is_key_or_aggregate(query, column)) return false;
  }
  return true;
}

namespace {

// Keys that the rules have added are not shown.
int count_shown_keys(const Query* query, const List* keys) {
  int count = 0;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    const bool is_key =
        get_sortgroupref_clause_noerr(column->ressortgroupref, const_cast<List*>(keys)) != nullptr;
    if (is_key && !column->resjunk) ++count;
  }
  return count;
}

bool numbers_rows_of_person(const Level* level, const WindowFunc* call) {
  if (!level->windows_persons || call->winfnoid != F_ROW_NUMBER) return false;
  for (const auto* window : each<const WindowClause>(level->query->windowClause)) {
    if (window->winref != call->winref) continue;
    return count_shown_keys(level->query, window->partitionClause) == 1;
  }
  return false;
}

bool is_column_of(const Node* node, int entry) {
  return IsA(node, Var) && as<Var>(node)->varlevelsup == 0 &&
         static_cast<int>(as<Var>(node)->varno) == entry;
}

// Whether a column of a level, or null, is row_number() over all rows of a person.
bool is_number_of_row(const Level* level, AttrNumber number) {
  if (level == nullptr || number < 1 || number > list_length(level->query->targetList)) {
    return false;
  }
  const auto* shown =
      static_cast<const TargetEntry*>(list_nth(level->query->targetList, number - 1));
  if (IsA(shown->expr, WindowFunc)) {
    return numbers_rows_of_person(level, as<WindowFunc>(shown->expr));
  }
  const int entry = only_entry(level);
  if (entry == 0 || !is_column_of(as<Node>(shown->expr), entry)) return false;
  return is_number_of_row(rows_below(entry_of(level, entry)), as<Var>(shown->expr)->varattno);
}

bool is_value(const Node* node) {
  return IsA(node, Const) || (IsA(node, Param) && as<Param>(node)->paramkind == PARAM_EXTERN);
}

// Whether a term says that a number of rows is a constant.
bool fixes_number_of_row(const Level* below, const Node* term, int entry) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return false;
  const auto* equality = as<OpExpr>(term);
  if (get_op_opfamily_strategy(equality->opno, INTEGER_BTREE_FAM_OID) != BTEqualStrategyNumber) {
    return false;
  }
  const auto* left = static_cast<const Node*>(linitial(equality->args));
  const auto* right = static_cast<const Node*>(lsecond(equality->args));
  if (is_value(left)) std::swap(left, right);
  return is_value(right) && is_column_of(left, entry) &&
         is_number_of_row(below, as<Var>(left)->varattno);
}

}  // namespace

bool chooses_row_of_person(const Level* level, int entry) {
  const Level* below = rows_below(entry_of(level, entry));
  if (below == nullptr) return false;
  const Node* where = level->query->jointree->quals;
  if (where == nullptr) return false;
  if (!is_andclause(where)) return fixes_number_of_row(below, where, entry);
  for (const auto* term : each<const Node>(as<BoolExpr>(where)->args)) {
    if (fixes_number_of_row(below, term, entry)) return true;
  }
  return false;
}

bool is_used_window(const Query* query, const WindowClause* window) {
  return any_node(query->targetList, [=](const Node* node) {
    return IsA(node, WindowFunc) && as<WindowFunc>(node)->winref == window->winref;
  });
}

bool has_plain_windows(const Query* query) {
  const bool has_clauses = query->distinctClause != NIL || query->sortClause != NIL ||
                           query->limitCount != nullptr || query->limitOffset != nullptr;
  if (has_clauses) return false;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) return false;
    if (!IsA(column->expr, WindowFunc) && contain_window_function(as<Node>(column->expr))) {
      return false;
    }
  }
  return true;
}

bool hides_rows(const Level* level) {
  return combines_rows(level->query) && !level->groups_persons && !level->unites_rows;
}

List* branches_of(const Level* level) {
  List* branches = NIL;
  if (level->query->setOperations != nullptr) {
    add_branches(level, level->query->setOperations, &branches);
  }
  return branches;
}

bool keeps_duplicates(const Node* part) {
  if (part == nullptr || !IsA(part, SetOperationStmt)) return false;
  const auto* operation = as<SetOperationStmt>(part);
  return (operation->all && operation->op != SETOP_UNION) || keeps_duplicates(operation->larg) ||
         keeps_duplicates(operation->rarg);
}

bool combines_branches_of_rows(const Level* level) {
  if (level->query->setOperations == nullptr || level->parent == nullptr || is_recursive(level)) {
    return false;
  }
  const List* branches = branches_of(level);
  for (const auto* branch : each<const Level>(branches)) {
    const bool shows_rows = branch != nullptr && branch->borrowed_rows != NIL &&
                            !hides_rows(branch) && !branch->has_public_side;
    if (!shows_rows) return false;
  }
  return true;
}

Node* merged_column(const Query* query, const Var* column) {
  const auto* table = rt_fetch(column->varno, query->rtable);
  if (table->rtekind != RTE_JOIN || column->varattno < 1) return nullptr;
  return static_cast<Node*>(list_nth(table->joinaliasvars, column->varattno - 1));
}

std::optional<LevelExpression> definition_of(const Level* level, const Var* column) {
  CHECK_FOR_INTERRUPTS();
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return std::nullopt;
  if (Node* merged = merged_column(level->query, column)) return LevelExpression{level, merged};
  const Entry& entry = entry_of(level, column->varno);
  if (entry.below == nullptr || hides_rows(entry.below)) return std::nullopt;
  if (OidIsValid(entry.relation) || entry.below->unites_rows) return std::nullopt;
  const List* columns = entry.below->query->targetList;
  if (column->varattno > list_length(columns)) return std::nullopt;
  const auto* target = static_cast<const TargetEntry*>(list_nth(columns, column->varattno - 1));
  return LevelExpression{entry.below, as<Node>(target->expr)};
}

List* definitions_in_branches(const Level* level, const Var* column) {
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return NIL;
  const Entry& entry = entry_of(level, column->varno);
  if (entry.below == nullptr || !entry.below->unites_rows) return NIL;
  List* definitions = NIL;
  for (const auto* branch : each<const Level>(branches_of(entry.below))) {
    const List* columns = branch->query->targetList;
    if (column->varattno > list_length(columns)) return NIL;
    const auto* target = static_cast<const TargetEntry*>(list_nth(columns, column->varattno - 1));
    auto* definition = static_cast<LevelExpression*>(palloc(sizeof(LevelExpression)));
    *definition = {branch, as<Node>(target->expr)};
    definitions = lappend(definitions, definition);
  }
  return definitions;
}

namespace {

std::optional<ColumnOrigin> common_origin(const List* definitions) {
  std::optional<ColumnOrigin> common;
  for (const auto* definition : each<const LevelExpression>(definitions)) {
    const auto origin = origin_of(definition->level, definition->expression);
    const bool differs = common && origin &&
                         (common->relation != origin->relation || common->column != origin->column);
    if (!origin || differs) return std::nullopt;
    common = origin;
  }
  return common;
}

}  // namespace

AttrNumber added_person_of(Oid table) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
  if (!HeapTupleIsValid(tuple)) return InvalidAttrNumber;
  const int16 columns = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts;
  ReleaseSysCache(tuple);
  return static_cast<AttrNumber>(columns + 1);
}

namespace {

bool is_added_person(const Entry& entry, AttrNumber column) {
  return entry.borrowed != nullptr && OidIsValid(entry.borrowed->through) &&
         entry.table->rtekind == RTE_RELATION && column == added_person_of(entry.relation);
}

// Whether a column of a borrowed relation identifies persons.
bool is_person_of_relation(const Entry& entry, AttrNumber column) {
  const BorrowedRelation* relation = entry.borrowed;
  if (relation == nullptr) return false;
  return relation->user_column > 0 ? relation->user_column == column
                                   : is_added_person(entry, column);
}

}  // namespace

std::optional<ColumnOrigin> origin_of(const Level* level, const Node* expression) {
  if (expression == nullptr || !IsA(expression, Var)) return std::nullopt;
  const auto* column = as<Var>(expression);
  if (const auto definition = definition_of(level, column)) {
    return origin_of(definition->level, definition->expression);
  }
  if (const List* definitions = definitions_in_branches(level, column)) {
    return common_origin(definitions);
  }
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return std::nullopt;
  const Entry& entry = entry_of(level, column->varno);
  return OidIsValid(entry.relation) && !is_added_person(entry, column->varattno)
             ? std::optional(ColumnOrigin{entry.relation, column->varattno})
             : std::nullopt;
}

namespace {

// The columns of a level were looked through when it was read; the rules may have added some.
bool shows_person(const Level* level, AttrNumber column) {
  if (column <= level->read_columns) return bms_is_member(column, level->persons);
  return is_person_column(level, column);
}

}  // namespace

bool is_person(const Level* level, const Node* expression) {
  if (expression == nullptr || !IsA(expression, Var)) return false;
  const auto* column = as<Var>(expression);
  level = around(level, column->varlevelsup);
  if (level == nullptr || column->varattno < 1) return false;
  if (const Node* merged = merged_column(level->query, column)) return is_person(level, merged);
  const Entry& entry = entry_of(level, column->varno);
  if (OidIsValid(entry.relation)) return is_person_of_relation(entry, column->varattno);
  return entry.below != nullptr && !hides_rows(entry.below) &&
         shows_person(entry.below, column->varattno);
}

}  // namespace dpquantile
