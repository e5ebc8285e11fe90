#include "pg/restricted/restricted_hooks.hpp"

#include "pg/restricted/bare_rows.hpp"
#include "pg/restricted/denied_catalogs.hpp"
#include "pg/restricted/denied_functions.hpp"
#include "pg/restricted/denied_statements.hpp"
#include "pg/restricted/hidden_facts.hpp"
#include "pg/restricted/message_level.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/restricted/system_columns.hpp"
#include "pg/restricted/triggers.hpp"
#include "pg/server/client_messages.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "nodes/parsenodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "tcop/utility.h"
}

namespace dpquantile {

namespace {

object_access_hook_type previous_object_access = nullptr;
ExecutorCheckPerms_hook_type previous_check_perms = nullptr;
ProcessUtility_hook_type previous_utility = nullptr;
planner_hook_type previous_planner = nullptr;
DPQ_RELATION_INFO_HOOK_TYPE previous_relation_info = nullptr;
// A check of permissions runs no code of the user.
bool is_planning = false;
// Code of the user that runs meanwhile may start other queries.
const QueryDesc* started_without_running = nullptr;
ExecutorStart_hook_type previous_start = nullptr;
ExecutorRun_hook_type previous_run = nullptr;
ExecutorFinish_hook_type previous_finish = nullptr;

// Whether the session is restricted. What follows in it then sends no message below notice to the
// client, also at the end of a query, and after code of its own has lowered the level.
bool restricts() {
  const bool is_restricted = session_is_restricted();
  keep_low_messages_back(is_restricted);
  return is_restricted;
}

void restrict_objects(ObjectAccessType access, Oid catalog, Oid object, int column, void* arg) {
  if (access == OAT_FUNCTION_EXECUTE && restricts()) refuse_function(object);
  const bool is_new_trigger = access == OAT_POST_CREATE && catalog == TriggerRelationId;
  if (is_new_trigger && restricts()) refuse_new_trigger(object);
  if (access == OAT_TRUNCATE && restricts()) refuse_triggers_of_truncate(object);
  if (previous_object_access != nullptr) {
    previous_object_access(access, catalog, object, column, arg);
  }
}

bool restrict_relations(DPQ_CHECK_PERMS_PARAMETERS) {
  if (restricts()) {
    if (!may_read_catalogs(permissions, ereport_on_violation)) return false;
    if (!is_planning) refuse_triggers(permissions);
  }
  return previous_check_perms == nullptr || previous_check_perms(DPQ_CHECK_PERMS_ARGUMENTS);
}

// A transaction is ended, also one that has failed.
bool ends_transaction_of_session(const Node* statement) {
  if (!IsA(statement, TransactionStmt)) return false;
  switch (as<TransactionStmt>(statement)->kind) {
    case TRANS_STMT_PREPARE:
    case TRANS_STMT_COMMIT_PREPARED:
    case TRANS_STMT_ROLLBACK_PREPARED:
      return !IsTransactionState();
    default:
      return true;
  }
}

// SET, RESET and the end of a transaction work at every message level. A RESET inside a query fails
// if it lowers the level, because the query would go on at that level.
void restrict_utility(PlannedStmt* statement, const char* text, bool read_only_tree,
                      ProcessUtilityContext context, ParamListInfo params, QueryEnvironment* env,
                      DestReceiver* receiver, QueryCompletion* completion) {
  const bool ends_transaction = ends_transaction_of_session(statement->utilityStmt);
  const bool is_restricted = !ends_transaction && restricts();
  if (is_restricted) refuse_statement(statement->utilityStmt);
  (previous_utility != nullptr ? previous_utility : standard_ProcessUtility)(
      statement, text, read_only_tree, context, params, env, receiver, completion);
  if (is_restricted && IsA(statement->utilityStmt, VariableSetStmt) &&
      context != PROCESS_UTILITY_TOPLEVEL) {
    refuse_low_message_level();
  }
}

// PostgreSQL prints the plan (debug_print_plan) before the query starts. A function that is
// evaluated during planning may have lowered the level by then. How many parallel workers start
// depends on settings and on the size of tables; the numbers of later processes tell it.
PlannedStmt* restrict_planning(DPQ_PLANNER_PARAMETERS) {
  const bool is_restricted = restricts();
  bool hides_facts = false;
  if (is_restricted) {
    refuse_low_message_level();
    options &= ~CURSOR_OPT_PARALLEL_OK;
    refuse_system_columns(query);
    hides_facts = hide_facts(query);
  }
  PlannedStmt* plan =
      (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
  if (is_restricted) refuse_low_message_level();
  if (hides_facts) plan->dependsOnRole = true;
  return plan;
}

// PostgreSQL checks permissions when a query starts. Until then the choice of a plan tells how many
// rows it expects (pg_prepared_statements), and statistics go to operators of the user's own.
void check_permissions(Query* query) {
  is_planning = true;
  PG_TRY();
  DPQ_CHECK_QUERY_PERMISSIONS(query);
  PG_FINALLY();
  is_planning = false;
  PG_END_TRY();
}

void restrict_estimates(DPQ_RELATION_INFO_PARAMETERS) {
  const RangeTblEntry* entry = planner_rt_fetch(relation->relid, root);
  if (entry->rtekind == RTE_RELATION && restricts()) {
    check_permissions(root->parse);
    refuse_system_columns_of_policies(root->parse, entry);
  }
  if (previous_relation_info != nullptr) previous_relation_info(DPQ_RELATION_INFO_ARGUMENTS);
}

void refuse_serializable() {
  if (!IsolationIsSerializable()) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("SERIALIZABLE transactions are not supported"),
       errdetail_restricted("a serialization failure depends on the rows that a query has read"),
       errhint("Use REPEATABLE READ.")));
}

void restrict_start(QueryDesc* query, int flags) {
  if (restricts()) {
    refuse_serializable();
    refuse_printed_plans();
    const bool shows_plan =
        (flags & EXEC_FLAG_EXPLAIN_ONLY) != 0 && !is_started_without_running(query);
    if (shows_plan) refuse_plan_of_hidden_table(query);
  }
  (previous_start != nullptr ? previous_start : standard_ExecutorStart)(query, flags);
}

void run_next(DPQ_EXECUTOR_RUN_PARAMETERS) {
  (previous_run != nullptr ? previous_run : standard_ExecutorRun)(DPQ_EXECUTOR_RUN_ARGUMENTS);
}

// A cached plan runs without planning. A cursor runs and ends after the level may have changed.
void restrict_run(DPQ_EXECUTOR_RUN_PARAMETERS) {
  if (!restricts()) {
    run_next(DPQ_EXECUTOR_RUN_ARGUMENTS);
    return;
  }
  refuse_low_message_level();
  refuse_printed_plans();
  DestReceiver* receiver = hand_on_bare_rows(query);
  PG_TRY();
  run_next(DPQ_EXECUTOR_RUN_ARGUMENTS);
  PG_FINALLY();
  query->dest = receiver;
  PG_END_TRY();
}

void restrict_finish(QueryDesc* query) {
  if (restricts()) refuse_low_message_level();
  (previous_finish != nullptr ? previous_finish : standard_ExecutorFinish)(query);
}

template <class Hook>
void install(Hook& hook, Hook& previous, Hook restricting) {
  previous = hook;
  hook = restricting;
}

}  // namespace

void start_without_running(QueryDesc* query) {
  const QueryDesc* around = started_without_running;
  started_without_running = query;
  PG_TRY();
  ExecutorStart(query, EXEC_FLAG_EXPLAIN_ONLY);
  PG_FINALLY();
  started_without_running = around;
  PG_END_TRY();
}

bool is_started_without_running(const QueryDesc* query) {
  return query == started_without_running;
}

void install_restricted_hooks() {
  define_restricted_setting();
  guard_message_level();
  install(object_access_hook, previous_object_access, restrict_objects);
  install(ExecutorCheckPerms_hook, previous_check_perms, restrict_relations);
  install(ProcessUtility_hook, previous_utility, restrict_utility);
  install(planner_hook, previous_planner, restrict_planning);
  install(DPQ_RELATION_INFO_HOOK, previous_relation_info, restrict_estimates);
  install(ExecutorStart_hook, previous_start, restrict_start);
  install(ExecutorRun_hook, previous_run, restrict_run);
  install(ExecutorFinish_hook, previous_finish, restrict_finish);
}

}  // namespace dpquantile
