#include "pg/ledger/charge_transaction.hpp"

#include <initializer_list>

extern "C" {
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "nodes/makefuncs.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
}

namespace dpquantile {

namespace {

constexpr const char* kExtension = "dpquantile";
constexpr const char* kSchema = "dpquantile";

// What only a fault of this code or a tampered table can bring about.
[[noreturn]] void fail(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("%s", what)));
}

void force(const char* setting, const char* value) {
  SetConfigOption(setting, value, PGC_SUSET, PGC_S_OVERRIDE);
}

// A lock_timeout comes as the same signal as a cancel.
void cancel_for_lock_timeout(SIGNAL_ARGS) {
  if (get_timeout_indicator(LOCK_TIMEOUT, false)) StatementCancelHandler(postgres_signal_arg);
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
enum CheckColumn { kVerdict = 1, kBudgetId, kAccountant };

// The columns of read_amounts.
enum AmountColumn {
  kEpsilonAsked = 1,
  kEpsilonLeft,
  kDeltaAsked,
  kDeltaLeft,
  kRhoAsked,
  kRhoLeft,
  kAccountantOfRole,
};

// A column of the last statement's row.
char* column(int number) {
  return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number);
}

Datum column_datum(int number) {
  bool is_null;
  return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, &is_null);
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
                  NameStr(request->role_name), column(kAccountantOfRole)),
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
               column(kAccountantOfRole)),
      psprintf("%s It spends delta, which the accountant needs for itself. Give bounds and method "
               "quantiles, or ask as a role with accountant pure.",
               not_charged(request)));
}

// Why a charge is refused: the verdicts of lock_and_check_budget but for "fits". They read the
// row of read_amounts.
struct Refusal {
  const char* verdict;
  void (*refuse)(ChargeRequest* request);
};
constexpr Refusal kRefusals[] = {
    {"epsilon", refuse_exhausted_epsilon}, {"delta", refuse_exhausted_delta},
    {"no delta", refuse_without_delta},    {"rho", refuse_exhausted_rho},
    {"rho alone", refuse_rho_alone},       {"no rho", refuse_without_rho},
};

// A statement whose plan is kept for the session. It is planned for any values once, and again when
// an object that it refers to is changed or replaced.
struct Statement {
  const char* text;
  int arguments;
  const Oid* types;
  SPIPlanPtr plan;
};

int execute(Statement* statement, Datum* values, const char* nulls) {
  if (statement->plan == nullptr) {
    SPIPlanPtr plan =
        SPI_prepare(statement->text, statement->arguments, const_cast<Oid*>(statement->types));
    if (plan == nullptr || SPI_keepplan(plan) != 0) fail("the charge cannot be prepared");
    statement->plan = plan;
  }
  return SPI_execute_plan(statement->plan, values, nulls, false, 0);
}

// $1 the role, $2 epsilon, $3 delta, $4 rho and $5 the number of grouping sets. Epsilon or rho is
// NULL for a charge that has none.
constexpr Oid kBudgetTypes[] = {OIDOID, TEXTOID, TEXTOID, TEXTOID, INT4OID};

Statement on_budget(const char* text) {
  return {text, lengthof(kBudgetTypes), kBudgetTypes, nullptr};
}

int execute_on_budget(Statement* statement, const ChargeRequest* request) {
  Datum values[] = {ObjectIdGetDatum(request->role), CStringGetTextDatum(request->epsilon),
                    CStringGetTextDatum(request->delta), CStringGetTextDatum(request->rho),
                    Int32GetDatum(request->grouping_sets)};
  char nulls[] = "     ";
  if (!states_epsilon(request)) nulls[1] = 'n';
  if (!has_rho(request)) nulls[3] = 'n';
  return execute(statement, values, nulls);
}

#define DPQ_BUDGET_AND_CHARGE                                              \
  "  FROM dpquantile.budget b,"                                            \
  "       (SELECT $2::numeric * $5 AS epsilon, $3::numeric * $5 AS delta," \
  "               $4::numeric * $5 AS rho) c"                              \
  " WHERE b.role = $1 AND NOT b.revoked"

#define DPQ_CHECK_BUDGET                                                            \
  "SELECT CASE b.accountant"                                                        \
  "       WHEN 'pure' THEN"                                                         \
  "         CASE WHEN c.epsilon IS NULL THEN 'rho alone'"                           \
  "              WHEN b.epsilon_spent + c.epsilon > b.epsilon_limit THEN 'epsilon'" \
  "              WHEN b.delta_spent + c.delta <= b.delta_limit THEN 'fits'"         \
  "              WHEN b.delta_limit > 0 THEN 'delta'"                               \
  "              ELSE 'no delta' END"                                               \
  "       WHEN 'zcdp' THEN"                                                         \
  "         CASE WHEN c.rho IS NULL OR c.delta > 0 THEN 'no rho'"                   \
  "              WHEN b.rho_spent + c.rho <= b.rho_limit THEN 'fits'"               \
  "              ELSE 'rho' END"                                                    \
  "       END,"                                                                     \
  "       b.budget_id, b.accountant" DPQ_BUDGET_AND_CHARGE "   FOR UPDATE OF b"

Statement check_waiting = on_budget(DPQ_CHECK_BUDGET);
Statement check_unless_locked = on_budget(DPQ_CHECK_BUDGET " SKIP LOCKED");
Statement budget_exists = on_budget("SELECT 1" DPQ_BUDGET_AND_CHARGE);

// A rho is charged a hair above what was asked for; the message shows what was asked.
Statement amounts = on_budget(
    "SELECT trim_scale(c.epsilon), trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)),"
    "       c.delta::float8, greatest(b.delta_limit - b.delta_spent, 0)::float8,"
    "       dpquantile.six_digits(c.rho * 0.999999999, true),"
    "       dpquantile.six_digits(greatest(b.rho_limit - b.rho_spent, 0), false),"
    "       b.accountant" DPQ_BUDGET_AND_CHARGE);

Statement deduction = on_budget(
    "UPDATE dpquantile.budget"
    "   SET epsilon_spent = epsilon_spent + coalesce($2::numeric * $5, 0),"
    "       delta_spent = delta_spent + $3::numeric * $5,"
    "       rho_spent = rho_spent + coalesce($4::numeric * $5, 0),"
    "       has_rho_alone = has_rho_alone OR $2 IS NULL"
    " WHERE role = $1");

constexpr Oid kEntryTypes[] = {UUIDOID, NAMEOID, NAMEOID, NAMEOID, TEXTOID, TEXTOID, TEXTOID,
                               TEXTOID, TEXTOID, TEXTOID, INT4OID, INT4OID, TEXTOID};

Statement entry = {
    "INSERT INTO dpquantile.ledger (budget_id, role_name, session_role_name, function, mechanism,"
    "                               neighbours, epsilon, delta, rho, accountant, grouping_sets,"
    "                               groups, query)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7::numeric * $11, $8::numeric * $11, $9::numeric * $11,"
    "         $10, $11, $12, $13)",
    lengthof(kEntryTypes), kEntryTypes, nullptr};

bool finds_row(Statement* statement, const ChargeRequest* request) {
  return execute_on_budget(statement, request) == SPI_OK_SELECT && SPI_processed == 1;
}

void refuse_with_amounts(ChargeRequest* request, void (*refuse_by_verdict)(ChargeRequest*)) {
  if (!finds_row(&amounts, request)) fail("a locked budget has gone");
  refuse_by_verdict(request);
}

// Without waiting a locked budget looks like none at first. One that was granted or freed just now
// counts as locked, too: the charge is tried again.
void refuse_missing_budget(ChargeRequest* request, Waiting waiting) {
  if (waiting == Waiting::kNever && finds_row(&budget_exists, request)) {
    request->outcome = ChargeOutcome::kLocked;
  } else {
    refuse_without_budget(request);
  }
}

// Locks the role's budget; true if the charge fits, else the request says why not. On return, the
// SPI result has the columns of CheckColumn.
bool lock_and_check_budget(ChargeRequest* request, Waiting waiting) {
  if (!finds_row(waiting == Waiting::kNever ? &check_unless_locked : &check_waiting, request)) {
    refuse_missing_budget(request, waiting);
    return false;
  }
  const char* verdict = column(kVerdict);
  if (verdict != nullptr && strcmp(verdict, "fits") == 0) return true;
  for (const Refusal& refusal : kRefusals) {
    if (verdict == nullptr || strcmp(verdict, refusal.verdict) != 0) continue;
    refuse_with_amounts(request, refusal.refuse);
    return false;
  }
  fail("the role's budget has an unknown accountant");
}

bool deduct(const ChargeRequest* request) {
  return execute_on_budget(&deduction, request) == SPI_OK_UPDATE && SPI_processed == 1;
}

bool enter_in_ledger(const ChargeRequest* request, Datum budget_id, Datum accountant) {
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
  return execute(&entry, values, nulls) == SPI_OK_INSERT && SPI_processed == 1;
}

Oid owner_of_table(Oid table) {
  Relation relation = table_open(table, NoLock);
  const Oid owner = relation->rd_rel->relowner;
  table_close(relation, NoLock);
  return owner;
}

// Returns the owner of the budget tables; ereports unless they have one and are the extension's.
// After DROP EXTENSION others may have made tables of these names, with triggers. They stay locked
// against that until the transaction ends.
Oid lock_budget_tables() {
  const Oid extension = get_extension_oid(kExtension, true);
  Oid owners[2];
  Oid* owner = owners;
  for (const char* name : {"budget", "ledger"}) {
    RangeVar* table = makeRangeVar(pstrdup(kSchema), pstrdup(name), -1);
    const Oid oid = RangeVarGetRelid(table, RowExclusiveLock, true);
    if (OidIsValid(oid) && OidIsValid(extension) &&
        getExtensionOfObject(RelationRelationId, oid) == extension) {
      *owner++ = owner_of_table(oid);
      continue;
    }
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("the extension %s has no table %s.%s", kExtension, kSchema, name)));
  }
  if (owners[0] != owners[1]) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the tables %s.budget and %s.ledger have different owners", kSchema, kSchema)));
  }
  return owners[0];
}

// The worker is a superuser. What the tables' owner may have hung on them, such as triggers, runs
// as that owner, and what it sets lasts no longer. An abort of the transaction undoes it, too.
struct ActingAs {
  Oid user;
  int context;
  int settings;
};

ActingAs act_as(Oid owner) {
  ActingAs before;
  GetUserIdAndSecContext(&before.user, &before.context);
  SetUserIdAndSecContext(
      owner, before.context | SECURITY_RESTRICTED_OPERATION | SECURITY_LOCAL_USERID_CHANGE);
  before.settings = NewGUCNestLevel();
  return before;
}

void act_as_before(const ActingAs& before) {
  AtEOXact_GUC(false, before.settings);
  SetUserIdAndSecContext(before.user, before.context);
}

// Returns whether the charge may be committed; else the request says why not. May ereport: then the
// whole transaction must be aborted.
bool make_charge(ChargeRequest* request, Waiting waiting) {
  if (!lock_and_check_budget(request, waiting)) return false;
  const Datum budget_id = column_datum(kBudgetId);
  const Datum accountant = column_datum(kAccountant);
  if (!deduct(request) || !enter_in_ledger(request, budget_id, accountant)) {
    ereport(ERROR, (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
                    errmsg("the budget tables refused the charge")));
  }
  return true;
}

// Whether a request before this one found its role's budget locked. This one must not overtake it.
bool is_behind_locked(ChargeRequest* const* requests, int number) {
  for (int i = 0; i < number; ++i) {
    if (requests[i]->role == requests[number]->role &&
        requests[i]->outcome == ChargeOutcome::kLocked) {
      return true;
    }
  }
  return false;
}

// Returns whether anything is to be committed.
bool make_charges(ChargeRequest* const* requests, int count, Waiting waiting) {
  bool made = false;
  const ActingAs before = act_as(lock_budget_tables());
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  for (int i = 0; i < count; ++i) {
    if (is_behind_locked(requests, i)) {
      requests[i]->outcome = ChargeOutcome::kLocked;
    } else if (make_charge(requests[i], waiting)) {
      made = true;
    } else if (requests[i]->outcome == ChargeOutcome::kPending) {
      fail("a refused charge has no outcome");
    }
  }
  SPI_finish();
  PopActiveSnapshot();
  act_as_before(before);
  return made;
}

// After the commit: what has no other outcome was made.
void confirm(ChargeRequest* const* requests, int count) {
  // A termination ends the wait for a synchronous standby, too: then nothing is sure.
  if (ProcDiePending) CHECK_FOR_INTERRUPTS();
  for (int i = 0; i < count; ++i) {
    if (requests[i]->outcome == ChargeOutcome::kPending) {
      requests[i]->outcome = ChargeOutcome::kCharged;
    }
  }
}

}  // namespace

void force_charge_settings(Waiting waiting) {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) force("synchronous_commit", "on");
  force("default_transaction_read_only", "off");
  force("default_transaction_isolation", "read committed");
  force("role", "none");
  force("search_path", "pg_catalog, pg_temp");
  force("lock_timeout", waiting == Waiting::kNever ? "20ms" : "2s");
  force("statement_timeout", "0");
  // One plan for all charges, by the index: the tables may have grown since it was made.
  force("plan_cache_mode", "force_generic_plan");
  force("enable_seqscan", "off");
  force("jit", "off");
#if DPQ_HAS_TRANSACTION_TIMEOUT
  force("transaction_timeout", "0");
#endif
}

void ignore_cancels() {
  pqsignal(SIGINT, cancel_for_lock_timeout);
}

ErrorData* charge_and_commit(ChargeRequest* const* requests, int count, Waiting waiting) {
  MemoryContext context = CurrentMemoryContext;
  ErrorData* volatile error = nullptr;
  PG_TRY();
  {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    if (make_charges(requests, count, waiting)) {
      CommitTransactionCommand();
      confirm(requests, count);
    } else {
      AbortCurrentTransaction();
    }
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  return error;
}

void refuse_with_error(ChargeRequest* request, const ErrorData* error) {
  refuse(
      request, error->sqlerrcode,
      psprintf("the privacy budget cannot be charged: %s", error->message),
      error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ? kLockedHint : "This call was not charged.");
  if (error->detail != nullptr) strlcpy(request->detail, error->detail, sizeof request->detail);
}

}  // namespace dpquantile
