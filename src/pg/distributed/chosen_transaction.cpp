#include "pg/distributed/chosen_transaction.hpp"

#include "pg/distributed/citus_catalog.hpp"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kChoice[] = "assign_distributed_transaction_id";

object_access_hook_type previous_access = nullptr;
ExecutorRun_hook_type previous_run = nullptr;
bool has_chosen = false;    // in this transaction
bool is_unwatched = false;  // it began before the library was loaded

// Citus itself does not call the function in a session that it does not open.
void watch_function(ObjectAccessType access, Oid kind, Oid object, int part, void* argument) {
  if (access == OAT_FUNCTION_EXECUTE && kind == ProcedureRelationId &&
      object >= FirstNormalObjectId) {
    const char* name = get_func_name(object);
    if (name != nullptr && strcmp(name, kChoice) == 0) has_chosen = true;
  }
  if (previous_access != nullptr) previous_access(access, kind, object, part, argument);
}

// Citus writes the rows that it fetches with a receiver of this kind. A role's own rows are in
// files that no function of another role reads.
bool fetches_for_other_role(const QueryDesc* query) {
  return query->dest->mydest == DestCopyOut && GetUserId() != GetOuterUserId();
}

// Workers run functions that Citus sends them in such transactions.
void run_query(DPQ_EXECUTOR_RUN_PARAMETERS) {
  if (has_chosen && fetches_for_other_role(query) && database_has_citus() && is_coordinator()) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("a function of another role cannot fetch rows in a distributed "
                           "transaction whose number was set by a call"),
                    errdetail("A private query in another session could count these rows, too."),
                    errhint("Leave %s to Citus, and begin another transaction.", kChoice)));
  }
  (previous_run != nullptr ? previous_run : standard_ExecutorRun)(DPQ_EXECUTOR_RUN_ARGUMENTS);
}

void forget_at_end(XactEvent event, void*) {
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE) {
    has_chosen = false;
    is_unwatched = false;
  }
}

}  // namespace

void watch_chosen_transactions() {
  is_unwatched = IsTransactionState();
  previous_access = object_access_hook;
  object_access_hook = watch_function;
  previous_run = ExecutorRun_hook;
  ExecutorRun_hook = run_query;
  RegisterXactCallback(forget_at_end, nullptr);
}

void require_no_chosen_transaction(bool also_unwatched) {
  if (!has_chosen && !(is_unwatched && also_unwatched)) return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("private answers are not released in a distributed transaction whose number was "
                  "set by a call"),
           errdetail("This transaction has called %s, or began before the library was loaded.",
                     kChoice),
           errhint("Leave the function to Citus, and begin another transaction.")));
}

}  // namespace dpquantile
