#include "pg/protect/validator.hpp"

#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/copied_persons.hpp"
#include "pg/protect/outer_query.hpp"
#include "pg/protect/person_group.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/references.hpp"
#include "pg/protect/release_block.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/safe_answers.hpp"
#include "pg/protect/source.hpp"
#include "pg/protect/table_rule.hpp"
#include "pg/protect/union_rule.hpp"
#include "pg/protect/view_rule.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

// If a level is the body of a protected view: that view, and its user column, if its rows are those
// of one table; `within`, if it is read as a derived table. Else null and 0.
struct ViewOfLevel {
  BorrowedRelation* view;
  AttrNumber user_column;
  BorrowedRelation* within = nullptr;
};

const JudgedLevel* judge(JudgedStatement* statement, JudgedLevel* parent, Level* read,
                         const ViewOfLevel& view);

[[noreturn]] void refuse_query(const JudgedLevel* level, const char* reason, const char* hint) {
  refuse(level->statement->refused, kNowhere, reason, hint);
}

bool aggregates(const Query* query) {
  return query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
         query->havingQual != nullptr;
}

// ---- What the level reads ------------------------------------------------------------------

// A view reads a table with the rights of its owner, so the table is not borrowed itself.
BorrowedRelation* protected_relation(const JudgedLevel* level, const Entry& read) {
  return level->view != nullptr ? level->view : read.borrowed;
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
AttrNumber user_column_of(const JudgedLevel* level, const BorrowedRelation* relation) {
  if (level->view != nullptr) return column_shown(level->query, level->view_user_column);
  return static_cast<AttrNumber>(relation->user_column);
}

JudgedEntry describe_relation(const JudgedLevel* level, const Entry& read) {
  JudgedEntry described{};
  described.relation = protected_relation(level, read);
  if (described.relation != nullptr) {
    check_protected_table(level, read.table, described.relation);
    described.user_column = user_column_of(level, described.relation);
    check_users_of_table(level, read.relation, described.user_column, described.relation);
  } else {
    check_public_table(level, read);
    described.is_joined_table = is_joinable(read.table);
    // The planner looks for children again. Somebody may have added one by then.
    if (described.is_joined_table) read.table->inh = false;
  }
  return described;
}

// The level of the query of a protected view, whose text the user has not written.
const JudgedLevel* judge_view(JudgedLevel* level, const Entry& read, BorrowedRelation* view,
                              AttrNumber user_column) {
  if (!shows_one_table(read.below->query)) {
    return judge(level->statement, level, read.below, {nullptr, 0, view});
  }
  const RelationPermissions* shown = permissions_of(level->query, read.table);
  if (shown != nullptr) check_users_of_view(level, shown->relid, user_column);
  return judge(level->statement, level, read.below, {view, user_column});
}

JudgedEntry describe_subquery(JudgedLevel* level, const Entry& read) {
  JudgedEntry described{};
  BorrowedRelation* view = protected_relation(level, read);
  if (view != nullptr) described.user_column = user_column_of(level, view);
  const JudgedLevel* below = view != nullptr ? judge_view(level, read, view, described.user_column)
                                             : judge(level->statement, level, read.below, {});
  if (below->is_refused) return described;
  if (view != nullptr && below->view == nullptr) make_rows_of_view(read.below->judged, view);
  if (below->type == RelationType::kRows) {
    // The rewriting of a query marks nothing.
    if (read.table->lateral || contain_vars_of_level(as<Node>(read.below->query), 1)) {
      refuse_query(level,
                   "LATERAL is not supported over protected rows: it computes rows from other rows",
                   "Leave out LATERAL.");
    }
    described.source = below;
  }
  if (below->type == RelationType::kAnswers) read.table->security_barrier = true;
  return described;
}

// The CTEs have been judged. What reads one that is refused is refused, for no reason of its own.
JudgedEntry describe_cte(JudgedLevel* level, const Entry& read) {
  JudgedEntry described{};
  if (read.cte == nullptr) {
    refuse_query(level, "a WITH query is named where it is not known",
                 "Write it as a derived table in FROM.");
  }
  const JudgedLevel* below = read.below == nullptr ? nullptr : read.below->judged;
  if (below == nullptr) return described;
  if (below->is_refused) {
    level->is_refused = true;
  } else if (below->type == RelationType::kRows) {
    described.source = below;
  }
  return described;
}

JudgedEntry describe(JudgedLevel* level, const Entry& read) {
  switch (read.table->rtekind) {
    case RTE_RELATION:
      return describe_relation(level, read);
    case RTE_SUBQUERY:
      return describe_subquery(level, read);
    case RTE_CTE:
      return describe_cte(level, read);
    default:
      return JudgedEntry{};
  }
}

// A CTE that is planned as a part of the query around it loses the barrier. One with rows must be a
// part of the release: elsewhere its costs, which depend on the rows, would choose the plan.
void judge_cte(JudgedLevel* level, CommonTableExpr* cte, Level* read) {
  const RelationType type = judge(level->statement, level, read, {})->type;
  if (type == RelationType::kAnswers) cte->ctematerialized = CTEMaterializeAlways;
  if (type == RelationType::kRows) cte->ctematerialized = CTEMaterializeNever;
  if (cte->cterecursive && type != RelationType::kPublic) {
    refuse_query(level, "recursive queries cannot read protected tables",
                 "Ask the private aggregates in a query that is not recursive.");
  }
}

void judge_ctes(JudgedLevel* level) {
  ListCell* cell;
  foreach (cell, level->query->cteList) {
    auto* cte = static_cast<CommonTableExpr*>(lfirst(cell));
    auto* read = static_cast<Level*>(list_nth(level->read->ctes, foreach_current_index(cell)));
    attempt(level, [&] { judge_cte(level, cte, read); });
  }
}

[[noreturn]] void refuse_set_operation(const JudgedLevel* level) {
  const RefusedQuery& refused = level->statement->refused;
  if (level->parent == nullptr) {
    refuse_without_select(refused, kNowhere, "UNION, INTERSECT or EXCEPT shows rows",
                          accepted_aggregate(refused));
  }
  refuse_combined_rows(level);
}

void judge_entry(JudgedLevel* level, int number) {
  const Entry& read = entry_of(level->read, number);
  if (!read.is_in_from && read.table->rtekind != RTE_SUBQUERY) return;
  JudgedEntry& described = entry_of(level, number);
  described = describe(level, read);
  if (read.is_in_from || (described.relation == nullptr && described.source == nullptr)) return;
  if (!level->read->unites_rows) refuse_set_operation(level);
}

// Returns whether FROM has protected rows.
bool judge_entries(JudgedLevel* level) {
  const int count = list_length(level->query->rtable);
  level->entries =
      static_cast<JudgedEntry*>(palloc0((static_cast<Size>(count) + 1) * sizeof(JudgedEntry)));
  bool has_rows = false;
  for (int number = 1; number <= count; ++number) {
    attempt(level, [&] { judge_entry(level, number); });
    const JudgedEntry& judged = entry_of(level, number);
    has_rows = has_rows || judged.relation != nullptr || judged.source != nullptr;
  }
  return has_rows;
}

// ---- Subqueries in expressions -------------------------------------------------------------

Level* read_subquery(const JudgedLevel* level, const SubLink* subquery) {
  for (auto* below : each<Level>(level->read->below)) {
    if (as<Node>(below->query) == subquery->subselect) return below;
  }
  refuse(level->statement->refused, subquery->location,
         "a subquery was found in an expression that has been changed",
         "Write it in a query of its own.");
}

void judge_subquery(JudgedLevel* level, SubLink* subquery) {
  const JudgedLevel* below = judge(level->statement, level, read_subquery(level, subquery), {});
  const RefusedQuery& refused = level->statement->refused;
  if (below->is_refused) return;
  if (below->type == RelationType::kRows) {
    refuse_without_select(refused, subquery->location, "a subquery shows rows",
                          accepted_aggregate(refused));
  }
  const bool has_one_value =
      subquery->subLinkType == EXPR_SUBLINK || subquery->subLinkType == ARRAY_SUBLINK;
  if (below->type == RelationType::kAnswers && !has_one_value) {
    refuse(refused, subquery->location,
           "private aggregates are not supported in EXISTS, IN, ANY or ALL",
           "Ask them in FROM, or in a subquery with one value: (SELECT dp_count(0.1) FROM staff).");
  }
}

// ---- The level -----------------------------------------------------------------------------

JudgedLevel* make_level(JudgedStatement* statement, JudgedLevel* parent, Level* read,
                        const ViewOfLevel& view) {
  auto* level = static_cast<JudgedLevel*>(palloc0(sizeof(JudgedLevel)));
  level->statement = statement;
  level->read = read;
  level->parent = parent;
  level->query = read->query;
  level->view = view.view;
  level->view_user_column = view.user_column;
  const bool is_within = view.within != nullptr || parent == nullptr;
  level->within = is_within ? view.within : parent->within;
  read->judged = level;
  return level;
}

// The OIDs of the relations, which are validated now.
List* set_validated(const JudgedLevel* level) {
  List* relations = NIL;
  for (auto* relation : each<BorrowedRelation>(level->relations)) {
    relation->is_validated = true;
    relations = list_append_unique_oid(relations, relation->permissions->relid);
  }
  return relations;
}

void add_public_tables(const JudgedLevel* level) {
  List** tables = &level->statement->public_tables;
  const ListCell* cell;
  foreach (cell, level->query->rtable) {
    if (!entry_of(level, foreach_current_index(cell) + 1).is_joined_table) continue;
    *tables = list_append_unique_oid(*tables, static_cast<RangeTblEntry*>(lfirst(cell))->relid);
  }
}

void mark_level(const JudgedLevel* level, List* charged_tables, bool keeps_answers) {
  Query* query = level->query;
  LevelMark mark = mark_of_level(query);
  if (!keeps_answers) mark.identity = nullptr;
  mark.knows_tables = true;
  mark.tables = charged_tables;
  mark.joins_rows = list_length(charged_tables) > 1 || level->has_person_groups;
  mark.has_one_row = level->has_one_row;
  mark.listed_groups = count_listed_groups(level);
  mark.protects_persons = level->user_relation != nullptr && level->user_relation->user_column != 0;
  put_mark(&query->rtable, mark);
}

void judge_source(JudgedLevel* level) {
  level->type = RelationType::kRows;
  add_public_tables(level);
  check_source(level);
  (void)set_validated(level);
}

void judge_person_group(JudgedLevel* level) {
  level->type = RelationType::kRows;
  add_public_tables(level);
  check_person_group(level);
  (void)set_validated(level);
}

void judge_union(JudgedLevel* level) {
  level->type = RelationType::kRows;
  check_union(level);
  (void)set_validated(level);
}

void judge_release(JudgedLevel* level) {
  level->type = RelationType::kAnswers;
  add_public_tables(level);
  check_release_block(level);
  if (!level->is_refused) attempt(level, [&] { make_answers_safe(level); });
  mark_level(level, set_validated(level), true);
  // No condition around gets below the aggregates, where it would be evaluated for rows.
  if (level->parent != nullptr) fence(level->query);
}

// What is below may have made it one of answers.
void judge_outer_query(JudgedLevel* level) {
  check_outer_query(level);
  if (!level->is_refused) attempt(level, [&] { make_outer_query_safe(level); });
  // Aggregates over no protected rows may be of values of any type, and compute anything. Their
  // answers are not kept.
  if (level->query->hasAggs) mark_level(level, NIL, false);
}

// What is in FROM decides about all else, so that nothing is said of a level in which it is
// refused.
void judge_by_entries(JudgedLevel* level) {
  const bool has_rows = judge_entries(level);
  if (level->is_refused) return;
  if (!has_rows) {
    judge_outer_query(level);
  } else if (level->read->unites_rows) {
    judge_union(level);
  } else if (level->read->groups_persons) {
    judge_person_group(level);
  } else if (aggregates(level->query)) {
    check_is_of_analyst(level);
    judge_release(level);
  } else {
    judge_source(level);
  }
}

void add_to_parent(const JudgedLevel* level) {
  JudgedLevel* parent = level->parent;
  if (parent == nullptr) return;
  const bool adds_answers = level->type == RelationType::kAnswers;
  if (adds_answers && parent->type == RelationType::kPublic) parent->type = RelationType::kAnswers;
  parent->is_refused = parent->is_refused || level->is_refused;
}

const JudgedLevel* judge(JudgedStatement* statement, JudgedLevel* parent, Level* read,
                         const ViewOfLevel& view) {
  check_stack_depth();
  JudgedLevel* level = make_level(statement, parent, read, view);
  if (level->query->commandType != CMD_SELECT) {
    refuse_with_code(statement->refused, ERRCODE_FEATURE_NOT_SUPPORTED, kNowhere,
                     "statements that change data cannot read protected tables",
                     "Use SELECT, or CREATE TABLE AS to keep the answers.");
  }
  judge_ctes(level);
  judge_by_entries(level);
  add_to_parent(level);
  return level;
}

// A level that no rule has looked at would run with the rights of the owners.
bool are_all_judged(const Level* level) {
  if (level->judged == nullptr) return false;
  for (const auto* below : each<const Level>(level->below)) {
    if (!are_all_judged(below)) return false;
  }
  return true;
}

// WITH queries that read each other twice have twice as many tables at each step, which PostgreSQL
// plans one by one: it would use up the memory of the server.
void check_scans(const RefusedQuery& refused, const Level* top) {
  if (top->statement->most_scans <= kMostScans) return;
  refuse_with_code(
      refused, ERRCODE_STATEMENT_TOO_COMPLEX, kNowhere,
      psprintf("the query reads more than %d tables and lists, those of a WITH query as "
               "often as it is named",
               kMostScans),
      "Name WITH queries less often, or split the query into several.");
}

}  // namespace

void validate_statement(JudgedStatement* statement, Query* query) {
  const RefusedQuery& refused = statement->refused;
  lower_references(statement, read_statement(query, statement->borrowed)->top);
  // Without objects of others nothing that follows calls their code.
  const int before = count_reasons(refused);
  check_catalog_objects(refused, query);
  if (count_reasons(refused) > before) return;
  statement->check_subquery = judge_subquery;
  statement->rewrite_public = rewrite_public;
  Level* read = read_statement(query, statement->borrowed)->top;
  check_scans(refused, read);
  compare_copied_persons(read);
  const JudgedLevel* top = judge(statement, nullptr, read, {});
  if (count_reasons(refused) > 0) return;
  if (!are_all_judged(read)) {
    refuse_query(top, "a subquery stands where no rule knows it",
                 "Write it in FROM, or in a query of its own.");
  }
  if (top->type == RelationType::kRows && !top->is_empty) {
    refuse_without_select(refused, kNowhere, "the query shows rows", accepted_aggregate(refused));
  }
  for (const auto* borrowed_relation : each<const BorrowedRelation>(statement->borrowed)) {
    if (borrowed_relation->is_validated) continue;
    refuse_query(top, psprintf("this form of reading \"%s\" is not supported", refused.relation),
                 accepted_aggregate(refused));
  }
  choose_size_limit(statement);
}

}  // namespace dpquantile
