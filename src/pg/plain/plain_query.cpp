#include "pg/plain/plain_query.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/view_query.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/plain/empty_answers.hpp"
#include "pg/plain/error_of_answer.hpp"
#include "pg/plain/extreme_key.hpp"
#include "pg/plain/grouping_sets.hpp"
#include "pg/plain/keyed_query.hpp"
#include "pg/plain/lateral_queries.hpp"
#include "pg/plain/modal_key.hpp"
#include "pg/plain/person_keys.hpp"
#include "pg/plain/person_subqueries.hpp"
#include "pg/plain/person_windows.hpp"
#include "pg/plain/persons_by_group.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/public_groups.hpp"
#include "pg/plain/query_around.hpp"
#include "pg/plain/range_joins.hpp"
#include "pg/plain/set_operations.hpp"
#include "pg/plain/shared_statistics.hpp"
#include "pg/plain/standard_aggregate.hpp"
#include "pg/plain/subquery_values.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

struct Translation {
  const char* text;
  double epsilon;
  Reasons* reasons;
};

// ---- The level -----------------------------------------------------------------------------

bool has_standard_aggregate(const Query* query) {
  const auto is_standard = [](const Node* node) {
    return IsA(node, Aggref) && is_standard_aggregate(as<Aggref>(node));
  };
  return any_node(query->targetList, is_standard) || any_node(query->havingQual, is_standard);
}

double epsilon_of_session(const Translation* translation, const PlainLevel* level, double granted) {
  if (translation->epsilon == 0) return granted;
  if (translation->epsilon <= granted) return translation->epsilon;
  refuse_with_code(
      level->refused, ERRCODE_INVALID_PARAMETER_VALUE, kNowhere,
      psprintf(
          "dpquantile.epsilon (%s) is above the epsilon that the grant allows each aggregate (%s)",
          decimal_text(translation->epsilon), decimal_text(granted)),
      "Lower it, or RESET dpquantile.epsilon.");
}

struct Replacing {
  const PlainLevel* level;
  SharedStatistics shared;
  Node* row;
};

// The private counterpart of a standard aggregate or of its error. Null if a node is neither.
Node* counterpart_of(const Replacing* replacing, const Node* node) {
  if (const Aggref* answer = answer_of_error(node)) {
    return error_of_statistic(replacing->level, replacing->shared, answer);
  }
  if (!IsA(node, Aggref)) return nullptr;
  const auto* call = as<Aggref>(node);
  if (!is_standard_aggregate(call)) {
    return replacing->row == nullptr ? nullptr : count_of_rows(call, replacing->row);
  }
  Node* statistic = shared_statistic(replacing->level, replacing->shared, call);
  return statistic != nullptr ? statistic
                              : private_counterpart(replacing->level, call, replacing->row);
}

// Stands for an aggregate that is refused, so that the validator finds what else is: NULL, but with
// a private aggregate.
Node* stand_in(const PlainLevel* level, Node* refused) {
  NullTest* test = makeNode(NullTest);
  test->arg =
      as<Expr>(call_private_aggregate("dp_count", list_make1(float8_constant(level->epsilon)), -1));
  test->nulltesttype = IS_NULL;
  CaseWhen* branch = makeNode(CaseWhen);
  branch->expr = as<Expr>(test);
  branch->result =
      as<Expr>(makeNullConst(exprType(refused), exprTypmod(refused), exprCollation(refused)));
  CaseExpr* choice = makeNode(CaseExpr);
  choice->casetype = exprType(refused);
  choice->casecollid = exprCollation(refused);
  choice->args = list_make1(branch);
  choice->defresult = static_cast<Expr*>(copyObjectImpl(branch->result));
  return as<Node>(choice);
}

// A copy in which each node is what `replacement` gives for it, or itself for null.
template <class Tree, class Replacement>
Tree* replaced(const PlainLevel* level, Tree* tree, Replacement replacement) {
  return mapped(tree, [&](Node* node) {
    Node* other = nullptr;
    const bool passes = attempt(level->refused, [&] { other = replacement(node); });
    return passes ? other : stand_in(level, node);
  });
}

template <class Replacement>
void replace_all(const PlainLevel* level, Replacement replacement) {
  Query* query = level->select->query;
  query->targetList = replaced(level, query->targetList, replacement);
  query->havingQual = replaced(level, query->havingQual, replacement);
}

// The column of the persons, in the first table of FROM that can show it; null if none can.
Node* show_user(const PlainLevel* level) {
  for (const Oid relation : each_oid(level->relations)) {
    Node* user = show_users(level->select, relation);
    if (user != nullptr) return user;
  }
  return nullptr;
}

// dp_keep_group of rows; or of users, each in as many groups as the owners of the tables state.
List* arguments_of_choice(const PlainLevel* level) {
  List* amounts = list_make2(float8_constant(level->epsilon), float8_constant(level->delta));
  const int groups = most_groups_of_user(level);
  if (groups == 0) return amounts;
  Node* user = show_user(level);
  if (user == nullptr) {
    refuse(level->refused, kNowhere,
           "a derived table leaves out the column that identifies the persons",
           "Show it there: the choice of groups needs it.");
  }
  Node* most = as<Node>(makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(groups),
                                  false, FLOAT8PASSBYVAL));
  return lappend(lcons(user, amounts), most);
}

bool are_same(const ChosenGroups& one, const ChosenGroups& other) {
  const bool has_reason = one.reason != nullptr && other.reason != nullptr;
  return one.epsilon == other.epsilon && one.delta == other.delta &&
         one.groups_of_person == other.groups_of_person &&
         (has_reason ? strcmp(one.reason, other.reason) == 0 : one.reason == other.reason);
}

void note_choice(const PlainLevel* level) {
  const ChosenGroups chosen = {level->epsilon,  level->delta,         most_groups_of_user(level),
                               level->unlisted, level->is_public_key, level->has_list};
  Statement* statement = level->select->statement;
  for (const auto* known : each<const ChosenGroups>(statement->chosen_groups)) {
    if (are_same(*known, chosen)) return;
  }
  auto* noted = static_cast<ChosenGroups*>(palloc(sizeof(ChosenGroups)));
  *noted = chosen;
  statement->chosen_groups = lappend(statement->chosen_groups, noted);
}

// Groups whose keys come from the rows are chosen privately.
void keep_groups(PlainLevel* level) {
  refuse_hidden_groups(level);
  if (level->delta == 0) return;
  level->select->has_chosen_groups = true;
  note_choice(level);
  Query* query = level->select->query;
  auto* kept = as<Node>(call_private_aggregate("dp_keep_group", arguments_of_choice(level), -1));
  query->havingQual =
      query->havingQual == nullptr
          ? kept
          : as<Node>(makeBoolExpr(AND_EXPR, list_make2(kept, query->havingQual), -1));
}

// By lists of keys, or by a public table that has the keys. Numbers of persons become those of rows
// of a person group: by the keys as the lists have them, or else by the keys of the rows. The rows
// of a table that is joined are better than a list that has been read from it: they are those that
// it has when the query runs. But a list knows which of them other tables leave, and of a large
// table each row is a group only if nothing else is known.
Node* group_by_public_values(PlainLevel* level, bool may_choose_keys) {
  const bool counts_persons = counts_persons_by_group(level->select);
  const auto tables = may_choose_keys ? TablesOfGroups::kSmall : TablesOfGroups::kAll;
  Node* row = group_by_public_keys(level, may_choose_keys, counts_persons, Lists::kStated);
  if (row == nullptr && !counts_persons) {
    row = group_by_public_table(level, TablesOfGroups::kSmallAndAlone);
  }
  if (row == nullptr) {
    row = group_by_public_keys(level, may_choose_keys, counts_persons, Lists::kAll);
  }
  if (row != nullptr) return row;
  if (counts_persons) {
    put_person_group_below(level->select);
    read_again(level->select);
  }
  return group_by_public_table(level, tables);
}

// For what is computed of each group, an expression that is not NULL for any of its rows; null if
// every row counts.
Node* choose_groups(PlainLevel* level) {
  Query* query = level->select->query;
  if (query->groupClause == NIL || has_keep_group(query->havingQual)) return nullptr;
  if (level->select->has_public_side) return nullptr;  // The groups are those of its rows.
  Node* row = group_by_public_values(level, level->delta > 0);
  if (row == nullptr) keep_groups(level);
  return row;
}

// Keys alone, as in SELECT DISTINCT: those that many rows have.
void keep_keys(const Translation* translation, PlainLevel* level) {
  Query* query = level->select->query;
  const bool is_of_keys = !query->hasAggs && !query->hasWindowFuncs && !query->hasDistinctOn &&
                          query->groupingSets == NIL && query->havingQual == nullptr &&
                          (query->groupClause != NIL) != (query->distinctClause != NIL);
  if (!is_of_keys || level->delta == 0) return;
  level->epsilon = epsilon_of_session(translation, level, level->epsilon);
  refuse_conditions_of_no_row(level);
  if (query->groupClause == NIL) query->groupClause = query->distinctClause;
  query->distinctClause = NIL;
  keep_groups(level);
  query->hasAggs = true;
}

// The smallest that the grants on the relations state. False if a grant states no epsilon.
bool find_prices(PlainLevel* level) {
  const ListCell* cell;
  foreach (cell, level->relations) {
    const auto access = private_access(lfirst_oid(cell), GetUserId());
    if (!access || !access->epsilon) return false;
    const bool is_first = foreach_current_index(cell) == 0;
    const double delta = access->delta.value_or(0);
    level->epsilon = is_first ? *access->epsilon : Min(level->epsilon, *access->epsilon);
    level->delta = is_first ? delta : Min(level->delta, delta);
  }
  return true;
}

bool find_level(const Translation* translation, Level* select, PlainLevel* level) {
  level->select = select;
  level->relations = select->borrowed_rows;
  if (level->relations == NIL) return false;
  level->has_outer_join = any_node(select->query, is_outer_join, kIntoQueries);
  level->refused = {.text = translation->text,
                    .relation = get_rel_name(linitial_oid(level->relations)),
                    .answers_plain_sql = true,
                    .reasons = translation->reasons};
  return true;
}

// min and max by public keys leave the list or the table that has these.
void forget_rows_beside_keys(Query* query) {
  auto* columns = as<Node>(query->targetList);
  if (contain_aggs_of_level(columns, 0) || contain_aggs_of_level(query->havingQual, 0)) return;
  query->hasAggs = false;
  query->rtable = list_make1(linitial(query->rtable));
  const auto* join = static_cast<const JoinExpr*>(linitial(query->jointree->fromlist));
  query->jointree->fromlist = list_make1(join->larg);
}

// min and max alone leave nothing that is computed of the rows.
void forget_rows(Query* query) {
  auto* columns = as<Node>(query->targetList);
  const bool is_of_rows = query->groupClause != NIL || query->groupingSets != NIL ||
                          query->havingQual != nullptr || contain_aggs_of_level(columns, 0) ||
                          contain_vars_of_level(columns, 0);
  if (is_of_rows) return;
  query->hasAggs = false;
  query->rtable = NIL;
  DPQ_FORGET_PERMISSIONS(query);
  query->jointree = makeFromExpr(NIL, nullptr);
}

void replace_by_counterparts(const Replacing* replacing) {
  replace_all(replacing->level, [&](Node* node) { return counterpart_of(replacing, node); });
}

// Before the rows get below a list of groups: the numbers of their keys are computed of them.
void replace_by_keys(const PlainLevel* level) {
  replace_all(level, [&](Node* node) -> Node* {
    if (is_error_of_answer(node)) return node;  // that of mode() is refused later
    if (is_mode(node)) return modal_key(level, as<Aggref>(node));
    return IsA(node, Aggref) ? extreme_key(level, as<Aggref>(node)) : nullptr;
  });
}

void translate_level(const Translation* translation, PlainLevel* level) {
  level->epsilon = epsilon_of_session(translation, level, level->epsilon);
  attempt(level->refused, [&] { refuse_rows_of_nobody(level); });
  attempt(level->refused, [&] { refuse_conditions_of_no_row(level); });
  group_by_fixed_values(level);
  replace_by_keys(level);
  Replacing replacing = {level, {}, choose_groups(level)};
  attempt(level->refused, [&] { replacing.shared = find_shared_statistics(level); });
  replace_by_counterparts(&replacing);
  if (replacing.row != nullptr) {
    forget_rows_beside_keys(level->select->query);
  } else {
    forget_rows(level->select->query);
  }
}

// Private aggregates alone, by keys that have public lists: without them the groups would tell
// which keys there are. Nothing of it needs a price.
void list_groups(PlainLevel* level) {
  const Query* query = level->select->query;
  if (query->hasAggs) attempt(level->refused, [&] { refuse_conditions_of_no_row(level); });
  const bool has_groups = query->hasAggs && query->groupClause != NIL &&
                          query->groupingSets == NIL && !has_keep_group(query->havingQual) &&
                          !level->select->has_public_side;
  Node* row = has_groups ? group_by_public_values(level, false) : nullptr;
  if (row == nullptr) return;
  Replacing replacing = {level, {}, row};
  replace_by_counterparts(&replacing);
}

// Those of anything else than a standard aggregate would fail after the charge.
void refuse_other_errors(const PlainLevel* level, const Node* expression) {
  visit_nodes(expression, [&](const Node* node) {
    if (!is_error_of_answer(node) || answer_of_error(node) != nullptr) return;
    refuse(level->refused, exprLocation(node),
           "the argument of dp_error_of is not a standard aggregate",
           "Write dp_error_of(count(*)) or dp_error_of(avg(salary)).");
  });
}

void translate_select(const Translation* translation, Level* select) {
  PlainLevel level{};
  if (!find_level(translation, select, &level)) return;
  const Query* query = select->query;
  const bool chooses_groups = query->groupClause != NIL && query->groupingSets == NIL &&
                              !select->has_public_side && has_keep_group(query->havingQual);
  if (chooses_groups) attempt(level.refused, [&] { refuse_hidden_groups(&level); });
  if (!find_prices(&level)) {
    if (!has_standard_aggregate(query)) list_groups(&level);
    return;
  }
  refuse_other_errors(&level, as<Node>(query->targetList));
  refuse_other_errors(&level, query->havingQual);
  if (has_standard_aggregate(query)) {
    translate_level(translation, &level);
  } else if (query->hasAggs) {
    list_groups(&level);
  } else if (!list_public_keys(&level)) {
    keep_keys(translation, &level);
  }
}

// ---- The size of the query -----------------------------------------------------------------

// Lookups in lists are quadratic, so the size of the query is limited.
constexpr int kMostNodes = 20000;

bool has_too_many_nodes(const Query* query) {
  int nodes = 0;
  const auto is_beyond = [&](const Node*) { return ++nodes > kMostNodes; };
  return any_node(query, is_beyond, kIntoQueries);
}

// ---- All levels ----------------------------------------------------------------------------

// Whether a query only chooses columns of a derived table.
bool is_around_table(const Query* query) {
  const List* from = query->jointree->fromlist;
  return !combines_rows(query) && !query->hasWindowFuncs && !query->hasSubLinks &&
         query->cteList == NIL && query->jointree->quals == nullptr && list_length(from) == 1 &&
         IsA(linitial(from), RangeTblRef) && query->setOperations == nullptr &&
         rt_fetch(static_cast<const RangeTblRef*>(linitial(from))->rtindex, query->rtable)
                 ->rtekind == RTE_SUBQUERY;
}

// Whether a view is a set operation with entries that are no queries of it, which stand for the
// view.
bool has_other_entries(const Level* view) {
  return view->query->setOperations != nullptr &&
         list_length(branches_of(view)) < list_length(view->query->rtable);
}

bool needs_query_around(const Entry& entry) {
  if (entry.below == nullptr) return false;
  const Query* view = entry.below->query;
  return has_other_entries(entry.below) ||
         (entry.borrowed != nullptr && !shows_one_table(view) && !is_around_table(view));
}

// Views get a derived table around their query, if they are protected and read as one, or a set
// operation: an entry that stands for the view may not leave the view's own query, because until
// PostgreSQL 15 it has the rights on the view. Returns whether there was one without.
bool put_views_below(const Level* level) {
  bool changes = false;
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    if (!needs_query_around(entry)) continue;
    entry.table->subquery = select_all_from(entry.below->query);
    if (has_other_entries(entry.below)) forget_other_entries(entry.below->query);
    changes = true;
  }
  return changes;
}

// count(v) of whole rows of FROM counts each row, as count(*) does, unless an outer join leaves
// some out.
void count_whole_rows(Query* query) {
  if (any_node(query->jointree, is_outer_join)) return;
  const auto count_each = [](Node* node) {
    auto* call = as<Aggref>(node);
    if (!IsA(node, Aggref) || call->aggfnoid != F_COUNT_ANY || call->aggdistinct != NIL) return;
    const auto* row = as<Var>(static_cast<TargetEntry*>(linitial(call->args))->expr);
    const bool is_whole = IsA(row, Var) && row->varattno == InvalidAttrNumber;
    if (!is_whole || row->varlevelsup != 0 || call->agglevelsup != 0) return;
    call->aggfnoid = F_COUNT_;
    call->aggargtypes = NIL;
    call->args = NIL;
    call->aggorder = NIL;
    call->aggstar = true;
  };
  visit_nodes(query->targetList, count_each);
  visit_nodes(query->havingQual, count_each);
}

// (a AND b) OR (a AND c) is a AND (b OR c): then a may be the condition of a join. PostgreSQL plans
// it in this way. Returns whether the condition has changed.
bool take_common_terms_out_of_or(const Level* level) {
  FromExpr* from = level->query->jointree;
  if (level->borrowed_rows == NIL || !any_node(from->quals, is_orclause)) return false;
  auto* before = as<Expr>(make_ands_explicit(terms_of(from->quals)));
  auto* copy = static_cast<Expr*>(copyObjectImpl(before));
  Node* simple = as<Node>(canonicalize_qual(copy, false));
  if (list_length(terms_of(simple)) == list_length(terms_of(from->quals))) return false;
  from->quals = simple;
  return true;
}

// Takes subqueries that read no rows, set operations but UNION ALL out of rows of persons,
// subqueries about persons and of public tables out of the expressions of a level with protected
// rows, window functions, DISTINCT and grouping sets out of one with standard aggregates over such
// rows, what the sides of OR have in common, all but keys and aggregates out of a person group, and
// all but window functions and columns out of a level of such functions. What is taken out becomes
// levels below. Returns whether the level has changed.
bool take_apart_level(const Level* level, bool is_beside_rows) {
  Query* query = level->query;
  const bool is_of_rows = level->borrowed_rows != NIL || is_beside_rows;
  if (is_of_rows && put_values_of_subqueries(query)) return true;
  if (put_views_below(level)) return true;
  if (query->setOperations != nullptr) {
    return list_constants(level, is_beside_rows) || group_set_operation(level);
  }
  if (level->borrowed_rows != NIL) count_whole_rows(query);
  if (level->borrowed_rows != NIL && take_conditions_out_of_lateral(level)) return true;
  if (level->borrowed_rows != NIL && join_ranges_by_equality(level)) return true;
  if (take_common_terms_out_of_or(level) || group_by_person_of_key(level)) return true;
  if (join_subqueries(level, is_beside_rows)) return true;
  if (is_beside_rows && query->hasAggs && query->setOperations == nullptr) {
    return !has_plain_form(query) && give_plain_form(query);
  }
  if (level->groups_persons) return !has_plain_form(query) && give_plain_form(query);
  if (level->picks_rows_of_persons) return pick_first_rows(query);
  if (level->windows_persons) return !has_plain_windows(query) && put_windows_below(query);
  const bool is_plain = level->borrowed_rows != NIL && has_standard_aggregate(query);
  if (is_plain && has_query_around(query)) {
    put_query_around(query);
  } else if (is_plain && has_separable_sets(query)) {
    separate_grouping_sets(query);
  } else {
    return false;
  }
  return true;
}

bool is_in_from(const Level* level, const Level* below) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    const Entry& entry = entry_of(level, i);
    if (entry.is_in_from && entry.below == below) return true;
  }
  return false;
}

// What was read of a level is wrong once it has changed. So are the levels below it, and those that
// see its columns: all in the level around but the other queries of a set operation.
bool take_apart(const Level* level, bool is_beside_rows) {
  if (take_apart_level(level, is_beside_rows)) return true;
  const bool has_rows = level->borrowed_rows != NIL || is_beside_rows;
  bool changes = false;
  for (const auto* below : each<const Level>(level->below)) {
    const bool is_joined = has_rows && below->borrowed_rows == NIL && is_in_from(level, below);
    if (!take_apart(below, is_joined)) continue;
    changes = true;
    const bool is_seen =
        level->query->setOperations == nullptr || list_member_ptr(level->ctes, below);
    if (is_seen) return true;
  }
  return changes || show_person_in_union(level);
}

void refuse_subqueries(const Translation* translation, const Level* level) {
  if (level->borrowed_rows != NIL) {
    const RefusedQuery refused = {.text = translation->text,
                                  .relation = get_rel_name(linitial_oid(level->borrowed_rows)),
                                  .reasons = translation->reasons};
    const int before = count_reasons(refused);
    attempt(refused, [&] { refuse_values_of_rows(refused, level); });
    refuse_other_subqueries(refused, level);
    if (count_reasons(refused) > before) translation->reasons->is_last = true;
  }
  for (const auto* below : each<const Level>(level->below)) refuse_subqueries(translation, below);
}

bool reads_chosen_groups(const Level* level) {
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Level* below = entry_of(level, number).below;
    if (below != nullptr && below->has_chosen_groups) return true;
  }
  return false;
}

// A total of the groups that are shown is not that of the rows: hidden groups are not in it.
void note_chosen_groups(Level* level) {
  if (!reads_chosen_groups(level)) return;
  level->has_chosen_groups = true;
  if (level->query->hasAggs) level->statement->aggregates_chosen_groups = true;
}

// The innermost levels first, before what is around them changes.
void translate(const Translation* translation, Level* level) {
  for (auto* below : each<Level>(level->below)) translate(translation, below);
  if (level->borrowed_rows == NIL) note_chosen_groups(level);
  const Query* query = level->query;
  if (query->commandType == CMD_SELECT && query->setOperations == nullptr &&
      !level->groups_persons) {
    const RefusedQuery refused = {.text = translation->text, .reasons = translation->reasons};
    const bool passes = attempt(refused, [&] { translate_select(translation, level); });
    // Its standard aggregates are left.
    if (!passes) translation->reasons->is_last = true;
  }
}

const Statement* read_levels(Query* query, Oid lent = InvalidOid) {
  return read_statement(query, find_borrowed_relations(query, lent));
}

// Each step takes something out, so that they end. A step that put back what another took would use
// up the memory of the server.
constexpr int kMostSteps = 1000;

// The levels of the query as they are then. `lent`: as in find_borrowed_relations().
const Statement* read_apart(Query* query, Oid lent = InvalidOid) {
  const Statement* statement = read_levels(query, lent);
  for (int steps = 0; take_apart(statement->top, false); ++steps) {
    if (steps >= kMostSteps) {
      ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                      errmsg("the query takes more than %d steps to be rewritten", kMostSteps),
                      errhint("Write fewer subqueries, or split it into several queries.")));
    }
    statement = read_levels(query, lent);
  }
  return statement;
}

// The translation computes constants, as PostgreSQL's planner does. The validator looks at objects
// of others once more, in the result. Returns whether there are none.
bool names_own_objects_only(const Translation& translation, Query* query) {
  const List* borrowed = find_borrowed_relations(query);
  if (borrowed == NIL) return true;
  const RefusedQuery refused = {
      .text = translation.text,
      .relation = name_of(static_cast<BorrowedRelation*>(linitial(borrowed))),
      .reasons = translation.reasons};
  const int before = count_reasons(refused);
  check_catalog_objects(refused, query);
  return count_reasons(refused) == before;
}

}  // namespace

const Statement* translate_plain_query(Query* query, const char* text, double epsilon,
                                       Reasons* reasons, ParamListInfo parameters) {
  if (has_too_many_nodes(query)) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("the query has more than %d expression nodes", kMostNodes),
                    errhint("Split it into several.")));
  }
  const Translation translation = {text, epsilon, reasons};
  if (!names_own_objects_only(translation, query)) {
    reasons->is_last = true;
    return read_levels(query);
  }
  const Statement* statement = read_apart(query);
  statement->top->statement->parameters = parameters;
  refuse_subqueries(&translation, statement->top);
  translate(&translation, statement->top);
  return statement;
}

void take_apart_view(Query* query, Oid view, Reasons* reasons) {
  const RefusedQuery refused = {.relation = get_rel_name(view), .reasons = reasons};
  check_catalog_objects(refused, query);
  if (count_reasons(refused) == 0) (void)read_apart(query, view);
}

}  // namespace dpquantile
