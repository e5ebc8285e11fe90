// The background worker that makes one charge, in a session and a transaction of its own: neither a
// rollback, an error, a cancel nor a crash of the query takes it back.
#include "pg/charge_request.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

DPQ_EXPORT void dpq_charge_worker(Datum request_handle);
}

namespace dpquantile {

namespace {

void force(const char* setting, const char* value) {
  SetConfigOption(setting, value, PGC_SUSET, PGC_S_OVERRIDE);
}

// What a database's settings may have changed and the charge depends on.
void force_settings() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) force("synchronous_commit", "on");
  force("default_transaction_read_only", "off");
  force("default_transaction_isolation", "read committed");
  force("role", "none");
  force("search_path", "pg_catalog, pg_temp");
  force("lock_timeout", "2s");
  force("statement_timeout", "0");
#if DPQ_HAS_TRANSACTION_TIMEOUT
  force("transaction_timeout", "0");
#endif
}

void refuse(ChargeRequest* request, int sqlstate, const char* message, const char* hint) {
  request->sqlstate = sqlstate;
  strlcpy(request->message, message, sizeof request->message);
  strlcpy(request->hint, hint, sizeof request->hint);
  request->outcome = ChargeOutcome::kRefused;
}

void refuse_without_budget(ChargeRequest* request) {
  refuse(request, ERRCODE_INSUFFICIENT_PRIVILEGE,
         psprintf("role \"%s\" has no privacy budget", NameStr(request->role_name)),
         psprintf("The data owner can grant one: SELECT dp_grant_budget(%s, 1%s).",
                  quote_literal_cstr(quote_identifier(NameStr(request->role_name))),
                  strcmp(request->delta, "0") == 0 ? "" : ", 1e-5"));
}

char* column(int number) {
  return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
}

bool is_true(int number) {
  bool is_null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, &is_null);
  return !is_null && DatumGetBool(value);
}

// What was not charged.
const char* not_charged(const ChargeRequest* request) {
  return request->for_one_group
             ? "This group was not charged, those before it were: the query costs epsilon for each "
               "group."
             : "This call was not charged.";
}

// For what does not fit, of the columns of lock_and_check_budget.
void refuse_exhausted(ChargeRequest* request) {
  constexpr int kState = ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
  const bool epsilon_fits = is_true(2);
  const bool has_delta = is_true(8);
  if (!epsilon_fits) {
    refuse(request, kState,
           psprintf("privacy budget exhausted: requested epsilon %s, remaining %s", column(4),
                    column(5)),
           psprintf("%s Ask for a smaller epsilon, or have the data owner raise the limit with "
                    "dp_grant_budget.",
                    not_charged(request)));
  } else if (has_delta) {
    refuse(request, kState,
           psprintf("privacy budget exhausted: requested delta %s, remaining %s", column(6),
                    column(7)),
           psprintf("%s Ask for a smaller delta, or have the data owner raise the limit: "
                    "dp_grant_budget(role, epsilon, delta).",
                    not_charged(request)));
  } else {
    refuse(request, kState,
           psprintf("role \"%s\" has no budget of delta, requested %s", NameStr(request->role_name),
                    column(6)),
           psprintf("%s The data owner can grant one: dp_grant_budget(role, epsilon, delta).",
                    not_charged(request)));
  }
}

// Runs a statement with $1 the role, $2 epsilon, $3 delta and $4 the number of grouping sets.
int execute_on_budget(const char* statement, const ChargeRequest* request) {
  Oid types[] = {OIDOID, TEXTOID, TEXTOID, INT4OID};
  Datum values[] = {ObjectIdGetDatum(request->role), CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta), Int32GetDatum(request->grouping_sets)};
  return SPI_execute_with_args(statement, 4, types, values, nullptr, false, 0);
}

// Locks the role's budget; true if the charge fits, else the request says why not.
// On return, column 1 of the SPI result is the budget's id.
bool lock_and_check_budget(ChargeRequest* request) {
  static const char kQuery[] =
      "SELECT b.budget_id,"
      "       b.epsilon_spent + c.epsilon <= b.epsilon_limit,"
      "       b.delta_spent + c.delta <= b.delta_limit,"
      "       trim_scale(c.epsilon), trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)),"
      "       c.delta::float8, greatest(b.delta_limit - b.delta_spent, 0)::float8,"
      "       b.delta_limit > 0"
      "  FROM dpquantile.budget b,"
      "       (SELECT $2::numeric * $4 AS epsilon, $3::numeric * $4 AS delta) c"
      " WHERE b.role = $1 AND NOT b.revoked"
      "   FOR UPDATE OF b";
  if (execute_on_budget(kQuery, request) != SPI_OK_SELECT || SPI_processed != 1) {
    refuse_without_budget(request);
    return false;
  }
  if (!is_true(2) || !is_true(3)) {
    refuse_exhausted(request);
    return false;
  }
  return true;
}

bool deduct(const ChargeRequest* request) {
  static const char kQuery[] =
      "UPDATE dpquantile.budget"
      "   SET epsilon_spent = epsilon_spent + $2::numeric * $4,"
      "       delta_spent = delta_spent + $3::numeric * $4"
      " WHERE role = $1";
  return execute_on_budget(kQuery, request) == SPI_OK_UPDATE && SPI_processed == 1;
}

bool enter_in_ledger(const ChargeRequest* request, Datum budget_id) {
  static const char kQuery[] =
      "INSERT INTO dpquantile.ledger (budget_id, role_name, session_role_name, function, mechanism,"
      "                               neighbours, epsilon, delta, grouping_sets, groups, query)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7::numeric * $9, $8::numeric * $9, $9, $10, $11)";
  Oid types[] = {UUIDOID, NAMEOID, NAMEOID, NAMEOID, TEXTOID, TEXTOID,
                 TEXTOID, TEXTOID, INT4OID, INT4OID, TEXTOID};
  Datum values[] = {budget_id,
                    NameGetDatum(&request->role_name),
                    NameGetDatum(&request->session_role_name),
                    NameGetDatum(&request->function),
                    CStringGetTextDatum(request->mechanism),
                    CStringGetTextDatum(request->neighbours),
                    CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta),
                    Int32GetDatum(request->grouping_sets),
                    Int32GetDatum(request->groups),
                    CStringGetTextDatum(request->query)};
  char nulls[] = "           ";
  if (request->groups < 0) nulls[9] = 'n';
  if (request->query[0] == '\0') nulls[10] = 'n';
  return SPI_execute_with_args(kQuery, 11, types, values, nulls, false, 0) == SPI_OK_INSERT &&
         SPI_processed == 1;
}

// Returns whether the charge is made and may be committed.
bool make_charge(ChargeRequest* request) {
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  bool made = lock_and_check_budget(request);
  if (made) {
    bool is_null;
    const Datum budget_id =
        SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (!deduct(request) || !enter_in_ledger(request, budget_id)) {
      ereport(ERROR, (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
                      errmsg("the budget tables refused the charge")));
    }
  }
  SPI_finish();
  PopActiveSnapshot();
  return made;
}

void refuse_with_error(ChargeRequest* request, const ErrorData* error) {
  refuse(request, error->sqlerrcode,
         psprintf("the privacy budget cannot be charged: %s", error->message),
         error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE
             ? "This call was not charged. Another session, or this transaction, has locked the "
               "budget; end it or try again."
             : "This call was not charged.");
  if (error->detail != nullptr) strlcpy(request->detail, error->detail, sizeof request->detail);
}

void charge_and_commit(ChargeRequest* request) {
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  {
    StartTransactionCommand();
    if (make_charge(request)) {
      CommitTransactionCommand();
      request->outcome = ChargeOutcome::kCharged;
    } else {
      AbortCurrentTransaction();
    }
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    ErrorData* error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
    MemoryContextSwitchTo(context);
    refuse_with_error(request, error);
  }
  PG_END_TRY();
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

void dpq_charge_worker(Datum request_handle) {
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();

  Oid database;
  memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof database);
  BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

  CurrentResourceOwner = ResourceOwnerCreate(nullptr, "dpquantile charge");
  dsm_segment* segment = dsm_attach(DatumGetUInt32(request_handle));
  // The query that asked may have been cancelled: nothing to do then.
  if (segment == nullptr) return;
  dsm_pin_mapping(segment);
  auto* request = static_cast<ChargeRequest*>(dsm_segment_address(segment));

  force_settings();
  pgstat_report_activity(STATE_RUNNING, "charging the privacy budget");
  charge_and_commit(request);
}
