#include "pg/protect/validator.hpp"

#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/outer_query.hpp"
#include "pg/protect/release_block.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/source.hpp"
#include "pg/protect/table_rule.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

// If a level is the body of a protected view: that view, and its user column. Else null and 0.
struct ViewOfLevel {
  BorrowedRelation* view;
  AttrNumber user_column;
};

QueryLevel* validate(Statement* statement, QueryLevel* parent, Query* query,
                     const ViewOfLevel& view);

[[noreturn]] void refuse_query(const QueryLevel* level, const char* reason, const char* hint) {
  refuse(level->statement->refused, kNowhere, reason, hint);
}

bool aggregates(const Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
         query->havingQual != nullptr;
}

// ---- What the level reads ------------------------------------------------------------------

// A view reads a table with the rights of its owner, so the table is not borrowed itself.
BorrowedRelation* protected_relation(const QueryLevel* level, const RangeTblEntry* entry) {
  if (level->view != nullptr) return level->view;
  return find_borrowed(level->statement->borrowed, permissions_of(level->query, entry));
}

// The column of the one table or view in a view's query that it shows as a column; 0 if it shows
// something else.
AttrNumber column_shown(const Query* view, AttrNumber number) {
  if (number < 1 || number > list_length(view->targetList)) return 0;
  const auto* target = static_cast<const TargetEntry*>(list_nth(view->targetList, number - 1));
  const auto* column = as<Var>(target->expr);
  const auto* from = static_cast<const RangeTblRef*>(linitial(view->jointree->fromlist));
  const bool is_column = IsA(column, Var) && column->varlevelsup == 0 && column->varattno > 0 &&
                         column->varno == from->rtindex;
  return is_column ? column->varattno : 0;
}

// Which column of a protected table or view names the users. Inside a view it is the one that the
// view shows as its users.
AttrNumber user_column_of(const QueryLevel* level, const BorrowedRelation* relation) {
  if (level->view != nullptr) return column_shown(level->query, level->view_user_column);
  return static_cast<AttrNumber>(relation->user_column);
}

FromEntry describe_relation(const QueryLevel* level, RangeTblEntry* entry) {
  FromEntry described{};
  described.relation = protected_relation(level, entry);
  if (described.relation != nullptr) {
    check_protected_table(level, entry, described.relation);
    described.user_column = user_column_of(level, described.relation);
    check_users_of_table(level, entry->relid, described.user_column, described.relation);
  } else {
    described.is_joined_table = is_joinable(entry);
    // The planner looks for children again. Somebody may have added one by then.
    if (described.is_joined_table) entry->inh = false;
  }
  return described;
}

// Before its query is looked at, whose text the user has not written.
void check_view(const QueryLevel* level, const Query* view) {
  const List* from = view->jointree->fromlist;
  const bool is_of_one_table = list_length(from) == 1 && IsA(linitial(from), RangeTblRef);
  if (is_of_one_table && !aggregates(view) && view->setOperations == nullptr &&
      view->cteList == NIL) {
    return;
  }
  refuse_query(level, "the view does more than choose rows and columns of one table",
               "Ask its owner for a view without joins, GROUP BY, WITH and UNION.");
}

FromEntry describe_subquery(QueryLevel* level, RangeTblEntry* entry) {
  FromEntry described{};
  BorrowedRelation* view = protected_relation(level, entry);
  if (view != nullptr) {
    check_view(level, entry->subquery);
    described.user_column = user_column_of(level, view);
    const RelationPermissions* shown = permissions_of(level->query, entry);
    if (shown != nullptr) check_users_of_view(level, shown->relid, described.user_column);
  }
  const QueryLevel* child =
      validate(level->statement, level, entry->subquery, {view, described.user_column});
  if (child->kind == LevelKind::kSource) {
    if (entry->lateral) {
      refuse_query(level,
                   "LATERAL is not supported over protected rows: it computes rows from other rows",
                   "Leave out LATERAL.");
    }
    described.source = child;
  }
  if (child->has_release) entry->security_barrier = true;
  return described;
}

FromEntry describe_cte(const QueryLevel* level, const RangeTblEntry* entry) {
  FromEntry described{};
  const CteOfLevel cte = find_cte(level, entry);
  const QueryLevel* body = cte.cte == nullptr ? nullptr : cte.body;
  if (body != nullptr && body->kind == LevelKind::kSource) described.source = body;
  return described;
}

FromEntry describe(QueryLevel* level, RangeTblEntry* entry) {
  switch (entry->rtekind) {
    case RTE_RELATION:
      return describe_relation(level, entry);
    case RTE_SUBQUERY:
      return describe_subquery(level, entry);
    case RTE_CTE:
      return describe_cte(level, entry);
    default:
      return FromEntry{};
  }
}

// A CTE that is planned as a part of the query around it loses the barrier. One with rows must be a
// part of the release: elsewhere its costs, which depend on the rows, would choose the plan.
void validate_ctes(QueryLevel* level) {
  const List* ctes = level->query->cteList;
  level->ctes = static_cast<QueryLevel**>(
      palloc0((static_cast<Size>(list_length(ctes)) + 1) * sizeof(QueryLevel*)));
  const ListCell* cell;
  foreach (cell, ctes) {
    auto* cte = static_cast<CommonTableExpr*>(lfirst(cell));
    auto* query = as<Query>(cte->ctequery);
    QueryLevel* body = validate(level->statement, level, query, {});
    level->ctes[foreach_current_index(cell)] = body;
    if (body->has_release) cte->ctematerialized = CTEMaterializeAlways;
    if (body->kind == LevelKind::kSource) cte->ctematerialized = CTEMaterializeNever;
    if (cte->cterecursive && (body->has_release || body->kind != LevelKind::kOuter)) {
      refuse_query(level, "recursive queries cannot read protected tables",
                   "Ask the private aggregates in a query that is not recursive.");
    }
  }
}

// The entries that FROM names. A view's query has others, too.
Bitmapset* entries_in(const Node* from) {
  if (IsA(from, RangeTblRef)) {
    return bms_make_singleton(as<RangeTblRef>(from)->rtindex);
  }
  if (IsA(from, JoinExpr)) {
    const auto* join = as<JoinExpr>(from);
    return bms_join(entries_in(join->larg), entries_in(join->rarg));
  }
  Bitmapset* entries = nullptr;
  if (!IsA(from, FromExpr)) return entries;
  for (const auto* node : each<const Node>(as<FromExpr>(from)->fromlist)) {
    entries = bms_join(entries, entries_in(node));
  }
  return entries;
}

// Returns whether FROM has protected rows. Elsewhere they are refused, as in UNION.
bool describe_entries(QueryLevel* level) {
  Query* query = level->query;
  const Bitmapset* from = entries_in(as<Node>(query->jointree));
  const Size count = static_cast<Size>(list_length(query->rtable)) + 1;
  level->entries = static_cast<FromEntry*>(palloc0(count * sizeof(FromEntry)));
  bool has_rows = false;
  ListCell* cell;
  foreach (cell, query->rtable) {
    const int number = foreach_current_index(cell) + 1;
    auto* entry = static_cast<RangeTblEntry*>(lfirst(cell));
    const bool in_from = bms_is_member(number, from);
    if (!in_from && entry->rtekind != RTE_SUBQUERY) continue;
    FromEntry& described = entry_of(level, number);
    described = describe(level, entry);
    if (described.relation == nullptr && described.source == nullptr) continue;
    if (!in_from)
      refuse_without_select(level->statement->refused, kNowhere,
                            "UNION, INTERSECT or EXCEPT shows rows",
                            accepted_aggregate(level->statement->refused));
    has_rows = true;
  }
  return has_rows;
}

// ---- Subqueries in expressions -------------------------------------------------------------

void check_subquery(QueryLevel* level, SubLink* subquery) {
  auto* query = as<Query>(subquery->subselect);
  const QueryLevel* child = validate(level->statement, level, query, {});
  const RefusedQuery& refused = level->statement->refused;
  if (child->kind == LevelKind::kSource) {
    refuse_without_select(refused, subquery->location, "a subquery shows rows",
                          accepted_aggregate(refused));
  }
  const bool has_one_value =
      subquery->subLinkType == EXPR_SUBLINK || subquery->subLinkType == ARRAY_SUBLINK;
  if (child->has_release && !has_one_value) {
    refuse(refused, subquery->location,
           "private aggregates are not supported in EXISTS, IN, ANY or ALL",
           "Ask them in FROM, or in a subquery with one value: (SELECT dp_count(0.1) FROM staff).");
  }
}

// ---- The level -----------------------------------------------------------------------------

// A column gets the place in the text that one of the expressions has.
void restore_location(Var* column, const List* expressions) {
  for (const auto* expression : each<const Node>(expressions)) {
    if (equal(column, expression)) column->location = exprLocation(expression);
  }
}

void resolve_group_keys(Query* query) {
  DPQ_RESOLVE_GROUP_KEYS(query);
  for (auto* item : each<TargetEntry>(query->targetList)) {
    auto* column = item->expr;
    if (!IsA(column, Var) || as<Var>(column)->location >= 0) continue;
    ListCell* entry;
    foreach (entry, query->rtable) {
      const auto* keys = DPQ_GROUP_KEYS(static_cast<RangeTblEntry*>(lfirst(entry)));
      restore_location(as<Var>(column), keys);
    }
  }
}

QueryLevel* make_level(Statement* statement, QueryLevel* parent, Query* query,
                       const ViewOfLevel& view) {
  auto* level = static_cast<QueryLevel*>(palloc0(sizeof(QueryLevel)));
  level->statement = statement;
  level->parent = parent;
  level->query = query;
  level->view = view.view;
  level->view_user_column = view.user_column;
  return level;
}

// The OIDs of the relations, which are validated now.
List* set_validated(const QueryLevel* level) {
  List* relations = NIL;
  for (auto* relation : each<BorrowedRelation>(level->relations)) {
    relation->is_validated = true;
    relations = list_append_unique_oid(relations, relation->permissions->relid);
  }
  return relations;
}

void add_public_tables(const QueryLevel* level) {
  List** tables = &level->statement->public_tables;
  const ListCell* cell;
  foreach (cell, level->query->rtable) {
    if (!entry_of(level, foreach_current_index(cell) + 1).is_joined_table) continue;
    *tables = list_append_unique_oid(*tables, static_cast<RangeTblEntry*>(lfirst(cell))->relid);
  }
}

void mark_level(Query* query, List* charged_tables, const char* identity) {
  LevelMark mark{};
  mark.identity = identity;
  mark.knows_tables = true;
  mark.tables = charged_tables;
  put_mark(&query->rtable, mark);
}

void check_by_kind(QueryLevel* level) {
  if (level->kind != LevelKind::kOuter) add_public_tables(level);
  switch (level->kind) {
    case LevelKind::kSource:
      check_source(level);
      (void)set_validated(level);
      break;
    case LevelKind::kRelease:
      check_release_block(level);
      level->has_release = true;
      mark_level(level->query, set_validated(level), mark_of_level(level->query).identity);
      // No condition around gets below the aggregates, where it would be evaluated for rows.
      if (level->parent != nullptr) fence(level->query);
      break;
    case LevelKind::kOuter:
      check_outer_query(level);
      // Aggregates over no protected rows may be of values of any type, and compute anything. Their
      // answers are not kept.
      if (level->query->hasAggs) mark_level(level->query, NIL, nullptr);
      break;
  }
}

QueryLevel* validate(Statement* statement, QueryLevel* parent, Query* query,
                     const ViewOfLevel& view) {
  check_stack_depth();
  QueryLevel* level = make_level(statement, parent, query, view);
  if (query->commandType != CMD_SELECT) {
    refuse_with_code(statement->refused, ERRCODE_FEATURE_NOT_SUPPORTED, kNowhere,
                     "statements that change data cannot read protected tables",
                     "Use SELECT, or CREATE TABLE AS to keep the answers.");
  }
  resolve_group_keys(query);
  validate_ctes(level);
  const bool has_rows = describe_entries(level);
  level->kind = !has_rows           ? LevelKind::kOuter
                : aggregates(query) ? LevelKind::kRelease
                                    : LevelKind::kSource;
  check_by_kind(level);
  if (parent != nullptr) parent->has_release = parent->has_release || level->has_release;
  return level;
}

}  // namespace

void validate_statement(Statement* statement, Query* query) {
  check_catalog_objects(statement->refused, query);
  statement->check_subquery = check_subquery;
  const QueryLevel* top = validate(statement, nullptr, query, {});
  if (top->kind == LevelKind::kSource && !top->is_empty) {
    refuse_without_select(statement->refused, kNowhere, "the query shows rows",
                          accepted_aggregate(statement->refused));
  }
  for (const auto* borrowed_relation : each<const BorrowedRelation>(statement->borrowed)) {
    if (borrowed_relation->is_validated) continue;
    refuse_query(
        top, psprintf("this form of reading \"%s\" is not supported", statement->refused.relation),
        accepted_aggregate(statement->refused));
  }
  choose_size_limit(statement);
}

}  // namespace dpquantile
