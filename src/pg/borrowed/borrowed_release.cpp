#include "pg/borrowed/borrowed_release.hpp"

#include <limits>

#include "pg/borrowed/answer_reuse.hpp"
#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/borrowed/outer_values.hpp"
#include "pg/borrowed/planned_time_zone.hpp"
#include "pg/facts/shared_rows.hpp"
#include "pg/facts/table_writers.hpp"
#include "pg/facts/unique_key.hpp"
#include "pg/grants/borrowed_relations.hpp"
#include "pg/grants/borrowing_session.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/limits/row_limit.hpp"
#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/release/statement_calls.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/plan_children.hpp"

extern "C" {
#include "executor/executor.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

namespace dpquantile {

namespace {

RefusedQuery refused_query(Oid relation) {
  const char* name = get_rel_name(relation);
  return {.text = nullptr, .relation = name == nullptr ? "?" : name};
}

[[noreturn]] void refuse_without_grant(Oid relation) {
  refuse_right(refused_query(relation), kNowhere, "Private access to it has been revoked.",
               "Ask its owner for private access: dp_grant_private_access.");
}

// What has failed for reasons that are not on the lists of this room may have told of a row.
// They are those of the session's role, whatever role it has taken on.
void refuse_after_failures(Oid relation, int most_cancels) {
  const FailedReads failed = failed_reads(relation, GetSessionUserId());
  if (!failed.any_closes && failed.cancels <= most_cancels) return;
  refuse_right(
      refused_query(relation), kNowhere,
      failed.any_closes
          ? "Private access to it is closed, because an error occurred while its rows were read."
          : psprintf("Private access to it is closed, because more than %d queries were cancelled, "
                     "or ran out of time or memory, while they read its rows.",
                     most_cancels),
      "Ask its owner to open private access again: dp_open_private_access. The server log says why "
      "it is closed.");
}

// The query was validated for rows, or for the users of a column with so many rows and groups, of
// this unit.
void check_unit(const BorrowedPlan& mark, int number) {
  const Oid relation = list_nth_oid(mark.relations, number);
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection != nullptr && protection->user_column == list_nth_int(mark.user_columns, number) &&
      protection->through == list_nth_oid(mark.through, number) &&
      protection->max_rows == list_nth_int(mark.max_rows, number) &&
      protection->max_groups == list_nth_int(mark.max_groups, number) &&
      strcmp(NameStr(protection->unit), strVal(list_nth(mark.units, number))) == 0) {
    return;
  }
  refuse_with_code(refused_query(relation), ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                   psprintf("the protection of \"%s\" has changed since the query was planned",
                            get_rel_name(relation)),
                   "Ask again.");
}

// What the grants on all relations that the query names allow: the largest of the smallest
// epsilons, the smallest of the largest ones, the shortest reuse.
struct Allowed {
  double smallest_epsilon;
  Oid table_of_smallest;
  double max_epsilon;
  Oid table_of_max;
  int64 reuse;
};

Allowed limits_of_grants(const BorrowedPlan& mark) {
  Allowed allowed = {0, InvalidOid, std::numeric_limits<double>::infinity(), InvalidOid,
                     PG_INT64_MAX};
  const ListCell* cell;
  foreach (cell, mark.relations) {
    if (list_nth_int(mark.unnamed, foreach_current_index(cell)) != 0) continue;
    const auto granted = private_access(lfirst_oid(cell), mark.user);
    if (!granted) continue;
    if (granted->smallest_epsilon > allowed.smallest_epsilon) {
      allowed.smallest_epsilon = granted->smallest_epsilon;
      allowed.table_of_smallest = lfirst_oid(cell);
    }
    if (granted->max_epsilon < allowed.max_epsilon) {
      allowed.max_epsilon = granted->max_epsilon;
      allowed.table_of_max = lfirst_oid(cell);
    }
    allowed.reuse = Min(allowed.reuse, granted->reuse);
  }
  return allowed;
}

Allowed allowed_by_grants(const BorrowedPlan& mark) {
  if (GetUserId() != mark.user) refuse_without_grant(linitial_oid(mark.relations));
  AcceptInvalidationMessages();
  const ListCell* cell;
  foreach (cell, mark.relations) {
    const int number = foreach_current_index(cell);
    const bool is_named = list_nth_int(mark.unnamed, number) == 0;
    const auto granted = private_access(lfirst_oid(cell), mark.user);
    if (!granted && is_named) refuse_without_grant(lfirst_oid(cell));
    if (granted) refuse_after_failures(lfirst_oid(cell), granted->most_cancels);
    check_unit(mark, number);
  }
  return limits_of_grants(mark);
}

// Why a private aggregate is refused, and what is not. Null: it is not.
struct CallProblem {
  const char* reason;
  const char* remedy;
};

// What grants do not allow. An epsilon-differentially private mechanism is epsilon^2/2-zCDP.
CallProblem problem_of_amount(const PrivacyCost& cost, const char* function,
                              const Allowed& allowed) {
  const bool has_epsilon = cost.epsilon.has_value();
  const auto in_unit = [&](double epsilon) {
    return has_epsilon ? epsilon : epsilon * epsilon / 2;
  };
  const double asked =
      has_epsilon ? *cost.epsilon : cost.rho.value_or(std::numeric_limits<double>::quiet_NaN());
  const bool is_too_large = asked > in_unit(allowed.max_epsilon);
  // Also without an amount.
  const bool is_too_small = !(asked >= in_unit(allowed.smallest_epsilon));
  if (!is_too_large && !is_too_small) return {};
  const double limit = is_too_large ? allowed.max_epsilon : allowed.smallest_epsilon;
  const char* table = get_rel_name(is_too_large ? allowed.table_of_max : allowed.table_of_smallest);
  const char* unit = has_epsilon ? "epsilon" : "rho";
  return {
      psprintf("%s %s of %s is %s %s of table \"%s\" (%s)", unit, decimal_text(asked), function,
               is_too_large ? "above the largest" : "below the smallest", unit, table,
               decimal_text(in_unit(limit))),
      psprintf("Ask for epsilon %s or %s.", decimal_text(limit), is_too_large ? "less" : "more")};
}

void check_amount(const Charge& charge, const Allowed& allowed) {
  const CallProblem problem = problem_of_amount(charge.costs.own, charge.function, allowed);
  if (problem.reason == nullptr) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", problem.reason),
                  errhint("This call was not charged. %s", problem.remedy)));
}

// Which rows of a user there are depends on the conditions of the query.
CallProblem problem_of(const char* function, const MethodRow& method) {
  if (!method.rows_per_user_public) return {};
  return {psprintf("method %s of %s treats the number of rows of each person as public",
                   method.name.data(), function),
          "Use dp_options(method => 'bounded', max_contributions => ...)."};
}

void check_method(const ReleaseCall& call, Oid relation) {
  const CallProblem problem = problem_of(call.name, method_of(call.checked));
  if (problem.reason == nullptr) return;
  refuse_with_code(refused_query(relation), ERRCODE_INVALID_PARAMETER_VALUE, kNowhere,
                   problem.reason, problem.remedy);
}

const char* as_sentences(const CallProblem& problem) {
  return problem.reason == nullptr ? nullptr : psprintf("%s. %s", problem.reason, problem.remedy);
}

void check_calls(const ReleaseNode* node, std::span<const Charge> charges, const BorrowedPlan& mark,
                 const Allowed& allowed) {
  for (const Charge& charge : charges) check_amount(charge, allowed);
  for (int i = 0; i < node->call_count; ++i) {
    check_method(node->calls[i], linitial_oid(mark.relations));
  }
}

// Tables may have been attached to others, and protected, since the query was validated.
void check_shared_rows(const BorrowedPlan& mark) {
  const ListCell* cell;
  foreach (cell, mark.tables) {
    const int number = foreach_current_index(cell);
    const Oid relation = list_nth_oid(mark.relations, number);
    if (!OidIsValid(lfirst_oid(cell))) continue;
    check_users_of_shared_rows(refused_query(relation), lfirst_oid(cell),
                               strVal(list_nth(mark.table_users, number)),
                               list_nth_oid(mark.through, number));
    if (!list_member_oid(mark.joined, lfirst_oid(cell))) continue;
    check_unit_of_shared_rows(refused_query(relation), lfirst_oid(cell),
                              strVal(list_nth(mark.units, number)), owner_of(relation));
  }
}

bool all_protect_users(const BorrowedPlan& mark) {
  return !list_member_int(mark.user_columns, 0);
}

bool protects_user(const ReleaseCall& call, bool has_keys) {
  if (call.most_rows > 0 || call.family->hashes_users() || sees_no_row(call.aggref)) return true;
  return call.family->family == Family::kDistinct && !has_keys;
}

// The tables of the node's own rows. If they are not known, all tables of the query.
const List* charged_tables(const ReleaseNode* node, const BorrowedPlan& mark) {
  return node->plan.knows_tables ? node->plan.tables : mark.relations;
}

struct GroupSearch {
  const List* range_table;
  const List* public_tables;
  int aggregations;  // around
  bool found;
  bool reads;          // whether there are rows at all
  bool reads_persons;  // whether there are rows that may be of persons
  bool is_private;     // whether those of the last node may be of persons
};

// Whether a custom scan has its rows from others, as all those of this extension, and reads none.
bool has_children(const Plan* node) {
  return IsA(node, CustomScan) && as<CustomScan>(node)->scan.scanrelid == 0 &&
         as<CustomScan>(node)->custom_plans != NIL;
}

// Whether a node reads rows that may be of persons: of another table than a public one.
bool reads_persons(const GroupSearch& search, const Plan* node) {
  switch (nodeTag(node)) {
    case T_SeqScan:
    case T_IndexScan:
    case T_IndexOnlyScan:
    case T_BitmapHeapScan:
    case T_TidScan:
    case T_TidRangeScan: {
      const RangeTblEntry* table = rt_fetch(as<Scan>(node)->scanrelid, search.range_table);
      return !list_member_oid(search.public_tables, table->relid);
    }
    case T_Append:
    case T_FunctionScan:
    case T_MergeAppend:
    case T_Result:
    case T_SubqueryScan:
    case T_ValuesScan:
      return false;
    default:
      return node->lefttree == nullptr && !has_children(node);
  }
}

// Whether a node that is no Agg groups or numbers rows. Where WHERE states the person, the key of a
// group or of DISTINCT is a constant, for which the planner has these: since PostgreSQL 16 also
// LIMIT 1, which no query over rows of persons has itself.
bool groups_rows(const Plan* node) {
  switch (nodeTag(node)) {
    case T_Group:
    case T_Unique:
    case T_WindowAgg:
      return true;
    case T_Limit: {
      const Node* count = as<Limit>(node)->limitCount;
      return count != nullptr && IsA(count, Const) && !as<Const>(count)->constisnull &&
             DatumGetInt64(as<Const>(count)->constvalue) == 1;
    }
    default:
      return false;
  }
}

// Public rows may be grouped, too.
void find_groups(Plan** place, void* context) {
  auto* search = static_cast<GroupSearch*>(context);
  const bool is_aggregation = IsA(*place, Agg);
  const bool is_other_private = search->is_private;
  search->reads |= !is_aggregation && !IsA(*place, Result) && !IsA(*place, Limit) &&
                   !IsA(*place, SubqueryScan) && !has_children(*place);
  search->is_private = reads_persons(*search, *place);
  search->reads_persons |= search->is_private;
  search->aggregations += is_aggregation ? 1 : 0;
  visit_children(*place, find_groups, context);
  search->aggregations -= is_aggregation ? 1 : 0;
  search->found |= search->is_private &&
                   (groups_rows(*place) ||
                    (is_aggregation && search->aggregations > 0 && as<Agg>(*place)->numCols > 0));
  search->is_private |= is_other_private;
}

// Whether rows are grouped or numbered below the grouping of the node itself, as those of persons
// are of which each has one, or whether the planner knows that no row of a person is read: HAVING
// false, LIMIT 0, public rows LEFT JOIN one row of each of whose columns none is used. A subplan
// may read rows that the plan does not show.
bool has_groups_below(const ReleaseNode* node, const BorrowedPlan& mark) {
  GroupSearch search{};
  search.range_table = node->scan.ss.ps.state->es_range_table;
  search.public_tables = mark.public_tables;
  visit_children(node->scan.ss.ps.plan, find_groups, &search);
  const bool has_subplans = node->scan.ss.ps.state->es_plannedstmt->subplans != NIL;
  return search.found || !search.reads || (!search.reads_persons && !has_subplans);
}

// The validator has found the same. This looks at the plan that is executed, unless the rows are of
// a table that the role may read.
void check_rows_of_users(const ReleaseNode* node, const BorrowedPlan& mark) {
  if (!all_protect_users(mark) || charged_tables(node, mark) == NIL) return;
  const bool has_one_row = node->plan.has_one_row && has_groups_below(node, mark);
  for (int i = 0; i < node->call_count; ++i) {
    const ReleaseCall& call = node->calls[i];
    if (protects_user(call, node->plan.has_keys) || has_one_row) continue;
    refuse(
        refused_query(linitial_oid(mark.relations)), kNowhere,
        psprintf("the plan of the query does not limit the rows of each person for %s", call.name),
        "Ask an aggregate that protects persons, such as dp_count_distinct.");
  }
}

void check_indexes(const BorrowedPlan& mark, Snapshot snapshot) {
  for (const Oid oid : each_oid(mark.indexes)) {
    if (is_as_old(oid, snapshot)) continue;
    refuse_with_code(refused_query(linitial_oid(mark.relations)),
                     ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     psprintf("unique index \"%s\" was built after the snapshot of the query, "
                              "which may have rows with equal keys",
                              get_rel_name(oid)),
                     "End the transaction, and ask again.");
  }
}

pg_noinline void require_stack(int blocks) {
  constexpr int kBlock = 16 * 1024;
  volatile char reserved[kBlock];
  reserved[0] = 0;
  check_stack_depth();
  if (blocks > 1) require_stack(blocks - 1);
  reserved[kBlock - 1] = reserved[0];
}

// ereports unless the stack is deep enough for the plan and for whatever is called for a row. If it
// ended there, the error would tell that there is such a row: the inner side of a join begins with
// the first row of the outer one. The depth of a plan depends on the tables, derived tables and
// CTEs of the query; a table has a few nodes, each with less than 512 bytes. Partitions lie side by
// side.
void require_stack_for(const PlannedStmt* plan) {
  const int children = list_length(plan->appendRelations);
  require_stack(8 + Max(list_length(plan->rtable) - children, 0) / 4);
}

}  // namespace

namespace {

// A call that a row has made would be in the processor's caches, and one made before the charge
// not.
void make_sample_calls_again(const ReleaseNode* node) {
  const EState* state = node->scan.ss.ps.state;
  BorrowedPlan mark;
  if (find_mark(state->es_plannedstmt->rtable, &mark)) make_sample_calls(mark.samples, state);
}

}  // namespace

void require_open_access(const BorrowedPlan& mark) {
  for (const Oid relation : each_oid(mark.relations)) {
    const auto granted = private_access(relation, mark.user);
    if (granted) refuse_after_failures(relation, granted->most_cancels);
  }
}

const char* problem_of_price(const BorrowedPlan& mark, const char* function,
                             const PrivacyCost& cost) {
  return as_sentences(problem_of_amount(cost, function, limits_of_grants(mark)));
}

const char* problem_of_method(const char* function, const MethodRow& method) {
  return as_sentences(problem_of(function, method));
}

void check_borrowed_prices(const ReleaseNode* node, std::span<const Charge> charges) {
  BorrowedPlan mark;
  if (!find_mark(node->scan.ss.ps.state->es_plannedstmt->rtable, &mark)) return;
  check_calls(node, charges, mark, limits_of_grants(mark));
}

void check_execution(PlannedStmt* plan, const char* text, ParamListInfo parameters,
                     QueryEnvironment* environment) {
  QueryDesc* started = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot,
                                       None_Receiver, parameters, environment, 0);
  ExecutorStart(started, 0);
  check_statement(started->estate);
  ExecutorFinish(started);
  ExecutorEnd(started);
  FreeQueryDesc(started);
}

ReleaseTerms check_borrowed_release(ReleaseNode* node, std::span<const Charge> charges) {
  EState* state = node->scan.ss.ps.state;
  BorrowedPlan mark;
  if (!find_mark(state->es_plannedstmt->rtable, &mark)) {
    return {session_is_restricted(), 0, false, {}, NIL, NIL};
  }
  const Oid relation = linitial_oid(mark.relations);
  require_borrowing_session(refused_query(relation));
  require_stack_for(state->es_plannedstmt);
  require_time_zone(state->es_plannedstmt);
  const Allowed allowed = allowed_by_grants(mark);
  check_calls(node, charges, mark, allowed);
  check_rows_of_users(node, mark);
  check_shared_rows(mark);
  check_indexes(mark, state->es_snapshot);
  check_writers(refused_query(relation), mark.public_tables, mark.relations);
  check_joined_writers(refused_query(relation), mark.joined);
  require_early_values(mark, state->es_param_list_info);
  take_outer_values(node);
  make_sample_calls(mark.samples, state);
  const List* charged = charged_tables(node, mark);
  if (allowed.reuse <= 0 || !is_same_whenever_asked(node)) {
    return {true, 0, false, {}, NIL, charged, make_sample_calls_again};
  }
  return {true,           allowed.reuse, wants_fresh_answers(),  key_of(node, mark),
          mark.relations, charged,       make_sample_calls_again};
}

}  // namespace dpquantile
