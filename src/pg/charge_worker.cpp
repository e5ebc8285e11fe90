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

bool states_epsilon(const ChargeRequest* request) {
  return request->epsilon[0] != '\0';
}

bool has_rho(const ChargeRequest* request) {
  return request->rho[0] != '\0';
}

// The arguments that dp_grant_budget needs after the role for a charge of this kind, as an example.
const char* example_terms(const ChargeRequest* request) {
  if (!states_epsilon(request)) return "1, 1e-6, 'zcdp'";
  return has_rho(request) ? "1" : "1, 1e-5";
}

void refuse_without_budget(ChargeRequest* request) {
  refuse(request, ERRCODE_INSUFFICIENT_PRIVILEGE,
         psprintf("role \"%s\" has no privacy budget", NameStr(request->role_name)),
         psprintf("The data owner can grant one: SELECT dp_grant_budget(%s, %s).",
                  quote_literal_cstr(quote_identifier(NameStr(request->role_name))),
                  example_terms(request)));
}

// The columns of lock_and_check_budget.
enum Column {
  kBudgetId = 1,
  kVerdict,
  kAccountant,
  kEpsilonAsked,
  kEpsilonLeft,
  kDeltaAsked,
  kDeltaLeft,
  kRhoAsked,
  kRhoLeft,
};

char* column(Column number) {
  return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
}

Datum column_datum(Column number, bool* is_null) {
  return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, is_null);
}

// What was not charged.
const char* not_charged(const ChargeRequest* request) {
  return request->for_one_group
             ? "This group was not charged, those before it were: the query is charged for each "
               "group."
             : "This call was not charged.";
}

void refuse_exhausted_epsilon(ChargeRequest* request) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget exhausted: requested epsilon %s, remaining %s",
                  column(kEpsilonAsked), column(kEpsilonLeft)),
         psprintf("%s Ask for a smaller epsilon, or have the data owner raise the limit with "
                  "dp_grant_budget.",
                  not_charged(request)));
}

void refuse_exhausted_delta(ChargeRequest* request) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("privacy budget exhausted: requested delta %s, remaining %s", column(kDeltaAsked),
                  column(kDeltaLeft)),
         psprintf("%s Ask for a smaller delta, or have the data owner raise the limit: "
                  "dp_grant_budget(role, epsilon, delta).",
                  not_charged(request)));
}

void refuse_without_delta(ChargeRequest* request) {
  refuse(request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
         psprintf("role \"%s\" has no budget of delta, requested %s", NameStr(request->role_name),
                  column(kDeltaAsked)),
         psprintf("%s The data owner can grant one: dp_grant_budget(role, epsilon, delta).",
                  not_charged(request)));
}

void refuse_exhausted_rho(ChargeRequest* request) {
  const bool in_epsilon = states_epsilon(request);
  refuse(
      request, ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
      psprintf("privacy budget exhausted: requested rho %s%s, remaining rho %s", column(kRhoAsked),
               in_epsilon ? psprintf(" (epsilon %s)", column(kEpsilonAsked)) : "",
               column(kRhoLeft)),
      psprintf("%s Ask for a smaller %s, or have the data owner raise the limit with "
               "dp_grant_budget. %s",
               not_charged(request), in_epsilon ? "epsilon" : "rho",
               in_epsilon ? "dp_budget_fits tells what fits." : "dp_budget tells what is left."));
}

// A query stated in rho alone has no epsilon that could be added to the others.
void refuse_rho_alone(ChargeRequest* request) {
  refuse(request, ERRCODE_FEATURE_NOT_SUPPORTED,
         psprintf("a query stated in rho cannot be charged to role \"%s\", whose accountant is %s",
                  NameStr(request->role_name), column(kAccountant)),
         psprintf("%s State epsilon, or have the data owner change the accountant: "
                  "dp_grant_budget(role, epsilon, delta, 'zcdp').",
                  not_charged(request)));
}

// A charge with a delta has no rho, and the role's delta is taken by the conversion of its rho.
void refuse_without_rho(ChargeRequest* request) {
  refuse(
      request, ERRCODE_FEATURE_NOT_SUPPORTED,
      psprintf("%s with method %s cannot be charged to role \"%s\", whose accountant is %s",
               NameStr(request->function), request->mechanism, NameStr(request->role_name),
               column(kAccountant)),
      psprintf("%s It spends delta, which the accountant needs for itself. Give bounds and method "
               "quantiles, or ask as a role with accountant pure.",
               not_charged(request)));
}

// Why a charge is refused: the verdicts of lock_and_check_budget but for "fits".
struct Refusal {
  const char* verdict;
  void (*refuse)(ChargeRequest* request);
};
constexpr Refusal kRefusals[] = {
    {"epsilon", refuse_exhausted_epsilon}, {"delta", refuse_exhausted_delta},
    {"no delta", refuse_without_delta},    {"rho", refuse_exhausted_rho},
    {"rho alone", refuse_rho_alone},       {"no rho", refuse_without_rho},
};

// Runs a statement with $1 the role, $2 epsilon, $3 delta, $4 rho and $5 the number of grouping
// sets. Epsilon or rho is NULL for a charge that has none.
int execute_on_budget(const char* statement, const ChargeRequest* request) {
  Oid types[] = {OIDOID, TEXTOID, TEXTOID, TEXTOID, INT4OID};
  Datum values[] = {ObjectIdGetDatum(request->role), CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta), CStringGetTextDatum(request->rho),
                    Int32GetDatum(request->grouping_sets)};
  char nulls[] = "     ";
  if (!states_epsilon(request)) nulls[1] = 'n';
  if (!has_rho(request)) nulls[3] = 'n';
  return SPI_execute_with_args(statement, lengthof(types), types, values, nulls, false, 0);
}

// Locks the role's budget; true if the charge fits, else the request says why not. On return, the
// SPI result has the columns of Column.
bool lock_and_check_budget(ChargeRequest* request) {
  // A rho is charged a hair above what was asked for; the message shows what was asked.
  static const char kQuery[] =
      "SELECT b.budget_id,"
      "       CASE b.accountant"
      "       WHEN 'pure' THEN"
      "         CASE WHEN c.epsilon IS NULL THEN 'rho alone'"
      "              WHEN b.epsilon_spent + c.epsilon > b.epsilon_limit THEN 'epsilon'"
      "              WHEN b.delta_spent + c.delta <= b.delta_limit THEN 'fits'"
      "              WHEN b.delta_limit > 0 THEN 'delta'"
      "              ELSE 'no delta' END"
      "       WHEN 'zcdp' THEN"
      "         CASE WHEN c.rho IS NULL OR c.delta > 0 THEN 'no rho'"
      "              WHEN b.rho_spent + c.rho <= b.rho_limit THEN 'fits'"
      "              ELSE 'rho' END"
      "       END,"
      "       b.accountant,"
      "       trim_scale(c.epsilon), trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)),"
      "       c.delta::float8, greatest(b.delta_limit - b.delta_spent, 0)::float8,"
      "       dpquantile.six_digits(c.rho * 0.999999999, true),"
      "       dpquantile.six_digits(greatest(b.rho_limit - b.rho_spent, 0), false)"
      "  FROM dpquantile.budget b,"
      "       (SELECT $2::numeric * $5 AS epsilon, $3::numeric * $5 AS delta,"
      "               $4::numeric * $5 AS rho) c"
      " WHERE b.role = $1 AND NOT b.revoked"
      "   FOR UPDATE OF b";
  if (execute_on_budget(kQuery, request) != SPI_OK_SELECT || SPI_processed != 1) {
    refuse_without_budget(request);
    return false;
  }
  const char* verdict = column(kVerdict);
  if (verdict != nullptr && strcmp(verdict, "fits") == 0) return true;
  for (const Refusal& refusal : kRefusals) {
    if (verdict == nullptr || strcmp(verdict, refusal.verdict) != 0) continue;
    refusal.refuse(request);
    return false;
  }
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the role's budget has an unknown accountant")));
}

bool deduct(const ChargeRequest* request) {
  static const char kQuery[] =
      "UPDATE dpquantile.budget"
      "   SET epsilon_spent = epsilon_spent + coalesce($2::numeric * $5, 0),"
      "       delta_spent = delta_spent + $3::numeric * $5,"
      "       rho_spent = rho_spent + coalesce($4::numeric * $5, 0),"
      "       has_rho_alone = has_rho_alone OR $2 IS NULL"
      " WHERE role = $1";
  return execute_on_budget(kQuery, request) == SPI_OK_UPDATE && SPI_processed == 1;
}

bool enter_in_ledger(const ChargeRequest* request, Datum budget_id, Datum accountant) {
  static const char kQuery[] =
      "INSERT INTO dpquantile.ledger (budget_id, role_name, session_role_name, function, mechanism,"
      "                               neighbours, epsilon, delta, rho, accountant, grouping_sets,"
      "                               groups, query)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7::numeric * $11, $8::numeric * $11, $9::numeric * $11,"
      "         $10, $11, $12, $13)";
  Oid types[] = {UUIDOID, NAMEOID, NAMEOID, NAMEOID, TEXTOID, TEXTOID, TEXTOID,
                 TEXTOID, TEXTOID, TEXTOID, INT4OID, INT4OID, TEXTOID};
  Datum values[] = {budget_id,
                    NameGetDatum(&request->role_name),
                    NameGetDatum(&request->session_role_name),
                    NameGetDatum(&request->function),
                    CStringGetTextDatum(request->mechanism),
                    CStringGetTextDatum(request->neighbours),
                    CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta),
                    CStringGetTextDatum(request->rho),
                    accountant,
                    Int32GetDatum(request->grouping_sets),
                    Int32GetDatum(request->groups),
                    CStringGetTextDatum(request->query)};
  char nulls[] = "             ";
  if (!states_epsilon(request)) nulls[6] = 'n';
  if (!has_rho(request)) nulls[8] = 'n';
  if (request->groups < 0) nulls[11] = 'n';
  if (request->query[0] == '\0') nulls[12] = 'n';
  return SPI_execute_with_args(kQuery, lengthof(types), types, values, nulls, false, 0) ==
             SPI_OK_INSERT &&
         SPI_processed == 1;
}

// Returns whether the charge is made and may be committed.
bool make_charge(ChargeRequest* request) {
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  bool made = lock_and_check_budget(request);
  if (made) {
    bool is_null;
    const Datum budget_id = column_datum(kBudgetId, &is_null);
    const Datum accountant = column_datum(kAccountant, &is_null);
    if (!deduct(request) || !enter_in_ledger(request, budget_id, accountant)) {
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
