// The trigger that keeps the extension's tables out of logical replication.
#include "pg/server/postgres.hpp"

extern "C" {
#include "commands/trigger.h"
#include "postmaster/bgworker.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// The workers of a subscription, and those of other replication systems, are background workers
// with this role. A session with this role restores a dump or repairs something, at its own risk.
bool is_replication_worker() {
  return MyBgworkerEntry != nullptr && SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

void log_skipped_rows(Relation table) {
  static bool logged = false;
  if (logged) return;
  logged = true;
  ereport(LOG, (errmsg("rows of table \"%s.%s\" are not replicated", "dpquantile",
                       RelationGetRelationName(table)),
                errdetail("This server keeps its own privacy budgets. The changes of all tables of "
                          "this schema are skipped; this is logged once for each worker."),
                errhint("To move the budgets here, dump and restore them.")));
}

[[noreturn]] void refuse_truncate(Relation table) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a replicated TRUNCATE cannot empty table \"%s.%s\"", "dpquantile",
                         RelationGetRelationName(table)),
                  errdetail("This server would forget what was spent."),
                  errhint("Skip the transaction: ALTER SUBSCRIPTION ... SKIP.")));
}

// The row as the statement would have it.
HeapTuple unchanged(const TriggerData* data) {
  return TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// () returns trigger: in a replication worker, skips the row or refuses the TRUNCATE.
DPQ_FUNCTION(dpq_skip_replicated) {
  if (!CALLED_AS_TRIGGER(fcinfo)) {
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("skip_replicated() must be called as a trigger")));
  }
  const auto* data = reinterpret_cast<const TriggerData*>(fcinfo->context);
  const bool truncates = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);
  if (!is_replication_worker()) PG_RETURN_POINTER(truncates ? nullptr : unchanged(data));
  if (truncates) refuse_truncate(data->tg_relation);
  log_skipped_rows(data->tg_relation);
  PG_RETURN_POINTER(static_cast<void*>(nullptr));
}
