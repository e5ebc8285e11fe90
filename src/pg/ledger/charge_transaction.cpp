#include "pg/ledger/charge_transaction.hpp"

#include <algorithm>

#include "pg/ledger/budget_statements.hpp"
#include "pg/ledger/budget_tables.hpp"
#include "pg/ledger/charge_refusal.hpp"
#include "pg/ledger/failed_reads.hpp"

extern "C" {
#include "access/xact.h"
#include "executor/spi.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// For errors that only a bug or a tampered table can cause.
[[noreturn]] void fail(const char* what) {
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("%s", what)));
}

void force(const char* setting, const char* value) {
  SetConfigOption(setting, value, PGC_SUSET, PGC_S_OVERRIDE);
}

// A lock_timeout and a cancel arrive as the same signal.
void cancel_for_lock_timeout(SIGNAL_ARGS) {
  if (get_timeout_indicator(LOCK_TIMEOUT, false)) StatementCancelHandler(DPQ_SIGNAL_ARGUMENTS);
}

// SKIP LOCKED does not tell a locked budget from a missing one, so this looks again. A budget that
// was granted or unlocked in between counts as locked, too, and the charge is tried again.
void refuse_missing_budget(ChargeRequest* request, TimestampTz now, LockWait wait) {
  if (wait == LockWait::kNever && budget_exists(request, now)) {
    request->outcome = ChargeOutcome::kLocked;
  } else {
    refuse_without_budget(request, nullptr);
  }
}

bool fits(const char* verdict) {
  return verdict != nullptr && strcmp(verdict, "fits") == 0;
}

// `table` is InvalidOid for the general budget.
void refuse_verdict(ChargeRequest* request, const BudgetCheck& budget, Oid table, TimestampTz now) {
  if (!refuse_by_verdict(request, budget.verdict, read_amounts(request, budget, table, now))) {
    fail("the role's budget has an unknown accountant or no smallest charge");
  }
}

// The budgets that a request is charged to: the role's general budget, unless it is revoked, and
// its budgets for the request's tables.
struct Payers {
  BudgetCheck general;
  BudgetCheck of_tables[kMaxTables];  // in the order of the request

  std::span<const BudgetCheck> tables(const ChargeRequest* request) const {
    return {of_tables, tables_of(request).size()};
  }
};

// A revoked budget for a table closes the table. Without one the general budget must pay.
bool refuse_unpaid(ChargeRequest* request, const Payers& payers) {
  int number = 0;
  for (const BudgetCheck& budget : payers.tables(request)) {
    const Oid table = request->tables[number++];
    if (budget.found ? !budget.revoked : !payers.general.revoked) continue;
    refuse_without_budget(request, get_rel_name(table));
    return true;
  }
  if (request->table_count > 0 || !payers.general.revoked) return false;
  refuse_without_budget(request, nullptr);
  return true;
}

bool refuse_exhausted(ChargeRequest* request, TimestampTz now, const Payers& payers) {
  if (!payers.general.revoked && !fits(payers.general.verdict)) {
    refuse_verdict(request, payers.general, InvalidOid, now);
    return true;
  }
  int number = 0;
  for (const BudgetCheck& budget : payers.tables(request)) {
    const Oid table = request->tables[number++];
    if (!budget.found || fits(budget.verdict)) continue;
    refuse_verdict(request, budget, table, now);
    return true;
  }
  return false;
}

// Makes all charges of the request. Returns whether they may be committed; if not, none is made and
// the outcome says why. If it ereports, the whole transaction must be aborted.
bool make_charge(ChargeRequest* request, LockWait wait) {
  if (request->kind == RequestKind::kFailedRead) {
    note_failed_read(request->role, tables_of(request), request->failure);
    return true;
  }
  if (request->kind == RequestKind::kPublished) {
    note_published(request, GetCurrentTimestamp());
    return true;
  }
  const TimestampTz now = GetCurrentTimestamp();
  Payers payers{};
  payers.general = check_budget(request, now, wait);
  if (!payers.general.found) {
    refuse_missing_budget(request, now, wait);
    return false;
  }
  // All transactions lock the role's general budget before, so they cannot wait for each other.
  check_table_budgets(request, now, payers.general.neighbours, payers.of_tables);
  if (refuse_unpaid(request, payers) || refuse_exhausted(request, now, payers)) return false;
  if (!deduct_and_enter(request, payers.general, payers.tables(request), now)) {
    ereport(ERROR, (errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
                    errmsg("the budget tables refused the charge")));
  }
  return true;
}

// Whether an earlier request found the same role's budget locked. Charges of a role keep their
// order.
bool follows_locked(ChargeRequest* const* requests, int number) {
  if (requests[number]->kind != RequestKind::kCharges) return false;
  for (int i = 0; i < number; ++i) {
    if (requests[i]->role == requests[number]->role &&
        requests[i]->outcome == ChargeOutcome::kLocked) {
      return true;
    }
  }
  return false;
}

bool any_tables(ChargeRequest* const* requests, int count) {
  return std::any_of(requests, requests + count,
                     [](const ChargeRequest* request) { return request->table_count > 0; });
}

// Returns whether there is anything to commit.
bool make_charges(ChargeRequest* const* requests, int count, LockWait wait) {
  bool made = false;
  const SavedUser before = switch_to_user(lock_budget_tables(any_tables(requests, count)));
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  for (int i = 0; i < count; ++i) {
    if (follows_locked(requests, i)) {
      requests[i]->outcome = ChargeOutcome::kLocked;
    } else if (make_charge(requests[i], wait)) {
      made = true;
    } else if (requests[i]->outcome == ChargeOutcome::kPending) {
      fail("a refused charge has no outcome");
    }
  }
  SPI_finish();
  PopActiveSnapshot();
  restore_user(before);
  return made;
}

// Call it after the commit: the charges of requests that have no other outcome were made.
void confirm(ChargeRequest* const* requests, int count) {
  // A termination ends the wait for a synchronous standby, too. Then the charges may not be
  // durable.
  if (ProcDiePending) CHECK_FOR_INTERRUPTS();
  for (int i = 0; i < count; ++i) {
    if (requests[i]->outcome == ChargeOutcome::kPending) {
      requests[i]->outcome = ChargeOutcome::kCharged;
    }
  }
}

}  // namespace

void force_charge_settings(LockWait wait) {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) force("synchronous_commit", "on");
  force("default_transaction_read_only", "off");
  force("default_transaction_isolation", "read committed");
  force("role", "none");
  force("search_path", "pg_catalog, pg_temp");
  force("lock_timeout", wait == LockWait::kNever ? "20ms" : "2s");
  force("statement_timeout", "0");
  // One plan serves all charges. It must use the index, because the tables may grow after planning.
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

ErrorData* charge_and_commit(ChargeRequest* const* requests, int count, LockWait wait) {
  MemoryContext context = CurrentMemoryContext;
  ErrorData* volatile error = nullptr;
  PG_TRY();
  {
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    if (make_charges(requests, count, wait)) {
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

}  // namespace dpquantile
