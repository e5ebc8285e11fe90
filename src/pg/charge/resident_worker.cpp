// The resident worker of a database. It makes all waiting charges in one transaction and answers
// when the transaction is committed, so that they share one flush of the write-ahead log.
#include "pg/charge/resident_worker.hpp"

#include "pg/charge/background_workers.hpp"
#include "pg/charge/role_names.hpp"
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

constexpr long kIdleMilliseconds = 2000;
static_assert(2 * kIdleMilliseconds < kDatabaseWaitMilliseconds);
constexpr long kLockedRetryMilliseconds = 1;

// The requests that are charged together.
struct Batch {
  ChargeRequest** requests;
  int count;
};

void clear_replies(Batch batch) {
  for (int i = 0; i < batch.count; ++i) clear_reply(batch.requests[i]);
}

// The worker never waits for a row, so the lock is on a whole table and prevents all charges.
void mark_all_locked(Batch batch) {
  for (int i = 0; i < batch.count; ++i) batch.requests[i]->outcome = ChargeOutcome::kLocked;
}

// Makes each charge in its own transaction, so that one that fails does not abort the others.
void charge_one_by_one(Batch batch);

void charge(Batch batch) {
  const ErrorData* error = charge_and_commit(batch.requests, batch.count, LockWait::kNever);
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

// A lock_timeout that arrives now belongs to a charge that is over.
void check_for_termination() {
  QueryCancelPending = false;
  CHECK_FOR_INTERRUPTS();
}

// Returns when the worker has been idle for some time, or the configuration was reloaded: a new
// worker applies it, because the settings that this one has forced would hide some changes.
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
  start_charging_worker();

  ResidentTask task;
  memcpy(&task, MyBgworkerEntry->bgw_extra, sizeof task);
  if (!charge_queue_exists() || !occupy_place(task.place)) return;
  // Registered first, so it runs last, after an open transaction has been aborted.
  before_shmem_exit(leave, Datum{0});
  BackgroundWorkerInitializeConnectionByOid(task.database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

  force_charge_settings(LockWait::kNever);
  note_role_names_now();
  serve(task.place);
}
