#include "pg/ledger/charge_transaction.hpp"

#include "pg/ledger/budget_statements.hpp"
#include "pg/ledger/budget_tables.hpp"
#include "pg/ledger/charge_refusal.hpp"

extern "C" {
#include "access/xact.h"
#include "executor/spi.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
}

namespace dpquantile {

namespace {

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

// Without waiting a locked budget looks like none at first. One that was granted or freed just now
// counts as locked, too: the charge is tried again.
void refuse_missing_budget(ChargeRequest* request, Waiting waiting) {
  if (waiting == Waiting::kNever && budget_exists(request)) {
    request->outcome = ChargeOutcome::kLocked;
  } else {
    refuse_without_budget(request);
  }
}

// Refuses a charge that the role's budget has no room for.
void refuse_for(ChargeRequest* request, const char* verdict) {
  if (!refuse_by_verdict(request, verdict, read_amounts(request))) {
    fail("the role's budget has an unknown accountant");
  }
}

// Returns whether the charge may be committed; else the request says why not. May ereport: then the
// whole transaction must be aborted.
bool make_charge(ChargeRequest* request, Waiting waiting) {
  const BudgetCheck budget = check_budget(request, waiting);
  if (!budget.found) {
    refuse_missing_budget(request, waiting);
    return false;
  }
  if (budget.verdict == nullptr || strcmp(budget.verdict, "fits") != 0) {
    refuse_for(request, budget.verdict);
    return false;
  }
  if (!deduct(request) || !enter_in_ledger(request, budget)) {
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

}  // namespace dpquantile
