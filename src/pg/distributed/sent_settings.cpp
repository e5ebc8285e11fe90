#include "pg/distributed/sent_settings.hpp"

#include <cstring>

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/xact.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/guc.h"
}

namespace dpquantile {

namespace {

ProcessUtility_hook_type previous_utility = nullptr;
bool may_have_sent = false;  // in this transaction

bool sends_settings() {
  const char* value = GetConfigOption("citus.propagate_set_commands", true, false);
  return value != nullptr && strcmp(value, "none") != 0;
}

// Citus looks at its setting in its own hook, which comes after this one. It sends no settings of
// functions, and none that set_config() sets.
void watch_statement(PlannedStmt* statement, const char* text, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo params, QueryEnvironment* env,
                     DestReceiver* receiver, QueryCompletion* completion) {
  if (IsA(statement->utilityStmt, VariableSetStmt) && sends_settings()) may_have_sent = true;
  (previous_utility != nullptr ? previous_utility : standard_ProcessUtility)(
      statement, text, read_only_tree, context, params, env, receiver, completion);
}

void forget_at_end(XactEvent event, void*) {
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) {
    may_have_sent = false;
  }
}

}  // namespace

void watch_sent_settings() {
  may_have_sent = IsTransactionState();
  previous_utility = ProcessUtility_hook;
  ProcessUtility_hook = watch_statement;
  RegisterXactCallback(forget_at_end, nullptr);
}

void require_no_sent_settings() {
  if (!may_have_sent) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("private answers over distributed tables are refused where Citus may have sent "
              "settings to the workers"),
       errdetail("This transaction has executed SET with citus.propagate_set_commands, or began "
                 "before the library was loaded."),
       errhint("Leave citus.propagate_set_commands at none, and begin another transaction.")));
}

}  // namespace dpquantile
