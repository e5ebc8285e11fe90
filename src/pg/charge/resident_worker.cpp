// The resident worker, of which a database has one while charges are asked for. It makes all
// charges that wait in one transaction and answers when that is committed, so that they share one
// flush of the log.
#include "pg/charge/resident_worker.hpp"

#include "pg/ledger/charge_refusal.hpp"
#include "pg/ledger/charge_transaction.hpp"

extern "C" {
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

PGDLLEXPORT void dpq_resident_worker(Datum unused);
}

namespace dpquantile {

namespace {

// DROP DATABASE, ALTER DATABASE ... RENAME and CREATE DATABASE ... TEMPLATE give up after 5
// seconds.
constexpr long kIdleMilliseconds = 2000;
constexpr long kLockedRetryMilliseconds = 1;

// The requests that are charged together.
struct Batch {
  ChargeRequest** requests;
  int count;
};

void clear_replies(Batch batch) {
  for (int i = 0; i < batch.count; ++i) clear_reply(batch.requests[i]);
}

// Rows are never waited for, so it is a lock on a whole table, which stands in the way of all.
void mark_all_locked(Batch batch) {
  for (int i = 0; i < batch.count; ++i) batch.requests[i]->outcome = ChargeOutcome::kLocked;
}

// One request after the other, so that one that fails does not take the others along.
void charge_one_by_one(Batch batch);

void charge(Batch batch) {
  const ErrorData* error = charge_and_commit(batch.requests, batch.count, Waiting::kNever);
  if (error == nullptr) return;
  clear_replies(batch);
  if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE) {
    mark_all_locked(batch);
  } else if (batch.count > 1) {
    charge_one_by_one(batch);
  } else {
    refuse_with_error(batch.requests[0], error);
  }
}

void charge_one_by_one(Batch batch) {
  for (int i = 0; i < batch.count; ++i) charge({batch.requests + i, 1});
}

// Until a session calls.
void wait_for_call(long milliseconds) {
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                  PG_WAIT_EXTENSION);
}

void charge_and_report(Batch batch) {
  pgstat_report_activity(STATE_RUNNING, "charging privacy budgets");
  charge(batch);
  pgstat_report_activity(STATE_IDLE, nullptr);
  (void)pgstat_report_stat(false);
}

// Returns whether there were any charges.
bool charge_pending(WorkerPlace place, MemoryContext context) {
  ChargeRequest* requests[kQueueEntries];
  int count;
  if (!take_charges(place, requests, &count)) return false;
  MemoryContextSwitchTo(context);
  if (count > 0) charge_and_report({requests, count});
  MemoryContextReset(context);
  if (!answer_charges(place)) wait_for_call(kLockedRetryMilliseconds);
  return true;
}

// A lock_timeout that comes late is meant for a charge that is over.
void check_for_termination() {
  QueryCancelPending = false;
  CHECK_FOR_INTERRUPTS();
}

// Returns when there is nothing to do for a while. A new configuration is left to a new worker:
// not every setting that this one has forced could follow it.
void serve(WorkerPlace place) {
  MemoryContext context =
      AllocSetContextCreate(TopMemoryContext, "dpquantile charges", ALLOCSET_DEFAULT_SIZES);
  TimestampTz last_charge = GetCurrentTimestamp();
  while (!ConfigReloadPending) {
    ResetLatch(MyLatch);
    check_for_termination();
    if (charge_pending(place, context)) {
      last_charge = GetCurrentTimestamp();
      continue;
    }
    const long idle = TimestampDifferenceMilliseconds(last_charge, GetCurrentTimestamp());
    if (idle < kIdleMilliseconds) {
      wait_for_call(kIdleMilliseconds - idle);
    } else if (leave_if_idle(place)) {
      return;
    }
  }
}

void leave(int, Datum) {
  ResidentTask task;
  memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof task);
  leave_place(task.place);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

void dpq_resident_worker(Datum) {
  pqsignal(SIGTERM, die);
  ignore_cancels();
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  BackgroundWorkerUnblockSignals();

  ResidentTask task;
  memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof task);
  if (!charge_queue_exists() || !enter_place(task.place)) return;
  // Registered first, so called last: when an open transaction has been aborted.
  before_shmem_exit(leave, Datum{0});
  BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

  force_charge_settings(Waiting::kNever);
  serve(task.place);
}
