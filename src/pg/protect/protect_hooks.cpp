#include "pg/protect/protect_hooks.hpp"

#include "pg/aggregate/user_key.hpp"
#include "pg/borrowed/answer_reuse.hpp"
#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/borrowed/borrowed_release.hpp"
#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/borrowed/inline_values.hpp"
#include "pg/borrowed/oblivious_joins.hpp"
#include "pg/borrowed/oblivious_planning.hpp"
#include "pg/borrowed/ordered_persons.hpp"
#include "pg/facts/table_writers.hpp"
#include "pg/grants/borrowing_session.hpp"
#include "pg/grants/listed_relations.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/validator.hpp"
#include "pg/release/allocator_traces.hpp"
#include "pg/release/release_execution.hpp"
#include "pg/release/trip_wire.hpp"
#include "pg/restricted/restricted_hooks.hpp"
#include "pg/reuse/query_identity.hpp"
#include "pg/server/client_messages.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/foreign_code.hpp"
#include "pg/vocabulary/total_query.hpp"

extern "C" {
#include "access/xlog.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "tcop/tcopprot.h"
}

namespace dpquantile {

namespace {

planner_hook_type previous_planner = nullptr;
ExecutorStart_hook_type previous_start = nullptr;
ExecutorRun_hook_type previous_run = nullptr;
bool plans_total_functions = false;

PlannedStmt* plan_as_before(DPQ_PLANNER_PARAMETERS) {
  return (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
}

// Whether the query names a relation.
bool names(const List* borrowed, Oid relation) {
  for (const auto* other : each<const BorrowedRelation>(borrowed)) {
    if (other->permissions->relid == relation && is_named(other)) return true;
  }
  return false;
}

// Adds each borrowed relation and what it protects once.
void add_relations(BorrowedPlan* mark, const List* borrowed) {
  for (const auto* relation : each<const BorrowedRelation>(borrowed)) {
    if (list_member_oid(mark->relations, relation->permissions->relid)) continue;
    mark->relations = lappend_oid(mark->relations, relation->permissions->relid);
    mark->user_columns = lappend_int(mark->user_columns, relation->user_column);
    mark->through = lappend_oid(mark->through, relation->through);
    mark->unnamed =
        lappend_int(mark->unnamed, names(borrowed, relation->permissions->relid) ? 0 : 1);
    mark->max_rows = lappend_int(mark->max_rows, relation->max_rows);
    mark->max_groups = lappend_int(mark->max_groups, relation->max_groups);
    mark->units = lappend(mark->units, makeString(pstrdup(NameStr(relation->unit))));
    mark->tables = lappend_oid(mark->tables, relation->table);
    mark->table_users = lappend(mark->table_users, makeString(pstrdup(relation->table_users)));
  }
}

// A generic plan is made without the values of the query's parameters, and a part of a query
// without those of the parts before it.
ParamListInfo parameters_for_estimates(const BorrowedPlan& mark, ParamListInfo params) {
  const int given = params == nullptr ? 0 : params->numParams;
  const bool is_known = given >= mark.own_parameters;
  return is_known && mark.expressions != NIL ? with_early_values(mark, params) : params;
}

// Estimates compare values from the statistics of the tables, and read the ends of indexes.
PlannedStmt* plan_quietly(const BorrowedPlan& mark, const JudgedStatement& statement, Query* query,
                          int options, ParamListInfo params) {
  PlannedStmt* volatile plan = nullptr;
  WatchedRead read;
  fix_allocator_sizes();
  // An error here is an ordinary one. From the watch on all must be caught.
  const SipKey secret = user_key();
  // A standby notes nothing, and charges nothing.
  watch_read(&read, RecoveryInProgress() ? NIL : mark.relations);
  const PlannerSettings usual = begin_oblivious_planning(secret);
  const bool before = begin_without_foreign_code();
  begin_without_messages(Withheld::kAllBelowError);
  PG_TRY();
  plan = DPQ_PLAN(plan_as_before, query, statement.refused.text, options, params);
  leave_out_stored_values(plan, statement.public_tables);
  order_persons(plan, statement.person_hashes);
  make_joins_oblivious(plan);
  PG_CATCH();
  end_without_messages(Withheld::kAllBelowError);
  end_oblivious_planning(usual);
  end_without_foreign_code(before);
  fail_planning(&read);
  PG_END_TRY();
  end_without_messages(Withheld::kAllBelowError);
  end_oblivious_planning(usual);
  end_without_foreign_code(before);
  end_read(&read);
  return plan;
}

JudgedStatement make_statement(List* borrowed, Query* query, const char* text) {
  const auto* first = static_cast<const BorrowedRelation*>(linitial(borrowed));
  JudgedStatement statement{};
  statement.refused = {.text = text,
                       .relation = name_of(first),
                       .user_column = user_of(first),
                       .limits_rows = first->max_rows > 0,
                       .answers_plain_sql = answers_plain_sql(borrowed),
                       .chooses_keys = chooses_keys(borrowed)};
  statement.borrowed = borrowed;
  statement.reader = GetUserId();
  statement.own_parameters = largest_parameter(query);
  return statement;
}

PlannedStmt* plan_borrowed(List* borrowed, Query* query, const char* text, int options,
                           ParamListInfo params) {
  JudgedStatement statement = make_statement(borrowed, query, text);
  statement.parameters = params;
  require_borrowing_session(statement.refused);
  query->queryId = 0;  // also for extensions that measure planning
  if (answers_are_kept(borrowed)) stamp_identities(query);
  validate_statement(&statement, query);
  BorrowedPlan mark{};
  mark.user = GetUserId();
  mark.joined = statement.joined;
  mark.public_tables = statement.public_tables;
  mark.indexes = statement.indexes;
  mark.expressions = plan_early_expressions(statement.early);
  mark.samples = plan_samples(statement.samples);
  mark.identities = statement.identities;
  mark.short_values = statement.short_values;
  mark.patterns = statement.patterns;
  mark.pattern_collations = statement.pattern_collations;
  mark.most_early_bytes = statement.most_early_bytes;
  const Const* limit = statement.size_limit;
  mark.longest_value = limit == nullptr ? 0 : DatumGetInt32(limit->constvalue);
  mark.own_parameters = statement.own_parameters;
  add_relations(&mark, borrowed);
  check_writers(statement.refused, mark.public_tables, mark.relations);
  check_joined_writers(statement.refused, mark.joined);
  for (auto* borrowed_relation : each<BorrowedRelation>(borrowed))
    lend_owners_rights(borrowed_relation);
  open_collations(query, borrowed);
  require_open_access(mark);
  PlannedStmt* plan =
      plan_quietly(mark, statement, query, options, parameters_for_estimates(mark, params));
  put_mark(&plan->rtable, mark);
  plan->queryId = 0;  // extensions that count what queries read leave it out
  plan->dependsOnRole = true;
  return plan;
}

bool reads_protected_relation(const PlannedStmt* plan) {
  for (const Oid oid : each_oid(plan->relationOids)) {
    if (find_protected_relation(oid) != nullptr) return true;
  }
  return false;
}

// What is planned for a role with SELECT must be planned anew for a role without.
PlannedStmt* plan_protected(DPQ_PLANNER_PARAMETERS) {
  if (!any_protected_relation()) return plan_as_before(DPQ_PLANNER_ARGUMENTS);
  List* borrowed = find_borrowed_relations(query);
  if (borrowed != NIL) return plan_borrowed(borrowed, query, text, options, params);
  if (plans_total_functions) query = total_query(query);
  const bool lists_relations = text == debug_query_string && list_private_relations(query);
  PlannedStmt* plan = plan_as_before(DPQ_PLANNER_ARGUMENTS);
  if (lists_relations || reads_protected_relation(plan)) plan->dependsOnRole = true;
  return plan;
}

void refuse_explain() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("EXPLAIN is not supported for queries over protected tables"),
                  errdetail("The plan would reveal the number of rows."),
                  errhint("dp_explain('SELECT ...') shows what a query costs, the ledger "
                          "(dp_ledger) what it has cost.")));
}

bool is_borrowed(const QueryDesc* query, BorrowedPlan* mark) {
  return find_mark(query->plannedstmt->rtable, mark);
}

void start_as_before(QueryDesc* query, int flags) {
  (previous_start != nullptr ? previous_start : standard_ExecutorStart)(query, flags);
}

void start_borrowed(QueryDesc* query, int flags, const BorrowedPlan& mark) {
  const bool explains = (flags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
  if (explains && !is_started_without_running(query)) refuse_explain();
  query->instrument_options = 0;
  if (mark.expressions != NIL) query->params = with_early_values(mark, query->params);
  start_as_before(query, flags);
  if (!explains) lock_long_values(query->estate);
}

void start_protected(QueryDesc* query, int flags) {
  BorrowedPlan mark;
  if (!is_borrowed(query, &mark)) return start_as_before(query, flags);
  const bool before = begin_without_foreign_code();
  PG_TRY();
  start_borrowed(query, flags, mark);
  PG_FINALLY();
  end_without_foreign_code(before);
  PG_END_TRY();
}

void run_as_before(DPQ_EXECUTOR_RUN_PARAMETERS) {
  (previous_run != nullptr ? previous_run : standard_ExecutorRun)(DPQ_EXECUTOR_RUN_ARGUMENTS);
}

// Other extensions measure a query that is started, and show its plan when it ends. No plan with
// borrowed rights runs in parallel workers, because none of a restricted session does
// (restricted_hooks.cpp).
void run_protected(DPQ_EXECUTOR_RUN_PARAMETERS) {
  BorrowedPlan mark;
  if (!is_borrowed(query, &mark)) return run_as_before(DPQ_EXECUTOR_RUN_ARGUMENTS);
  DPQ_QUERY_TIME(query) = nullptr;
  const bool before = begin_without_foreign_code();
  PG_TRY();
  run_as_before(DPQ_EXECUTOR_RUN_ARGUMENTS);
  PG_FINALLY();
  end_without_foreign_code(before);
  PG_END_TRY();
}

}  // namespace

void find_reasons(Query* query, const char* text, Reasons* reasons) {
  List* borrowed = find_borrowed_relations(query);
  if (borrowed == NIL) return;
  JudgedStatement statement = make_statement(borrowed, query, text);
  statement.refused.reasons = reasons;
  const RefusedQuery& refused = statement.refused;
  attempt(refused, [&] { require_borrowing_session(refused); });
  attempt(refused, [&] { validate_statement(&statement, query); });
}

void find_reasons_of_view(Query* query, Oid view, Oid reader, Reasons* reasons) {
  JudgedStatement statement = make_statement(find_borrowed_relations(query, view), query, "");
  statement.refused.reasons = reasons;
  statement.reader = reader;
  attempt(statement.refused, [&] { validate_statement(&statement, query); });
}

void begin_total_planning() {
  plans_total_functions = true;
}

void end_total_planning() {
  plans_total_functions = false;
}

void install_protect_hooks() {
  install_protection_catalog();
  install_answer_reuse();
  install_foreign_code_guard();
  install_oblivious_planning();
  install_release_check(check_borrowed_release, check_borrowed_prices);
  previous_planner = planner_hook;
  planner_hook = plan_protected;
  previous_start = ExecutorStart_hook;
  ExecutorStart_hook = start_protected;
  previous_run = ExecutorRun_hook;
  ExecutorRun_hook = run_protected;
}

}  // namespace dpquantile
