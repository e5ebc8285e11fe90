#include "pg/charge/session_worker.hpp"

#include "pg/charge/background_workers.hpp"
#include "pg/charge/charge_queue.hpp"
#include "pg/ledger/charge_refusal.hpp"
#include "pg/ledger/charge_transaction.hpp"

extern "C" {
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

PGDLLEXPORT void dpq_session_worker(Datum request_handle);
}

namespace dpquantile {

namespace {

constexpr int kIdleMilliseconds = 1000;
static_assert(2 * kIdleMilliseconds < kDatabaseWaitMilliseconds);

// Null if the session has given the charge up, or has the library of another version.
SharedCharge* attach(dsm_handle handle) {
  CurrentResourceOwner = ResourceOwnerCreate(nullptr, "dpquantile charge");
  dsm_segment* segment = dsm_attach(handle);
  if (segment == nullptr) return nullptr;
  dsm_pin_mapping(segment);
  auto* shared = static_cast<SharedCharge*>(dsm_segment_address(segment));
  const Size length = dsm_segment_map_length(segment);
  return accept_stamp(&shared->stamp, length, sizeof(SharedCharge)) ? shared : nullptr;
}

// Runs when the worker ends, for any reason.
void leave(int, Datum shared) {
  auto* left = reinterpret_cast<SharedCharge*>(DatumGetPointer(shared));
  if (change_state(left, SessionChargeState::kAnswered, SessionChargeState::kLeft)) return;
  (void)change_state(left, SessionChargeState::kAsked, SessionChargeState::kDeclined);
}

void charge_and_answer(SharedCharge* shared) {
  ChargeRequest* request = shared->request.get();
  pgstat_report_activity(STATE_RUNNING, "charging the privacy budget");
  const ErrorData* error = charge_and_commit(&request, 1, LockWait::kUntilTimeout);
  if (error != nullptr) refuse_with_error(request, error);
  (void)change_state(shared, SessionChargeState::kTaken, SessionChargeState::kAnswered);
  SetLatch(shared->session);
  pgstat_report_activity(STATE_IDLE, nullptr);
  (void)pgstat_report_stat(false);
}

// A worker that stays saves the session's next charge the start of another. It leaves if few worker
// slots are free, or if the session's next charge will go to a resident worker.
bool may_stay() {
  return !charge_queue_exists() && half_of_worker_slots_free();
}

void wait_for_call(int milliseconds) {
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                  PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
  QueryCancelPending = false;
  CHECK_FOR_INTERRUPTS();
}

bool take(SharedCharge* shared) {
  return change_state(shared, SessionChargeState::kAsked, SessionChargeState::kTaken);
}

// Waits for the session's next charge and takes it. Returns false if the worker must leave: it was
// idle for too long, the session has ended, or the configuration was reloaded. A new worker applies
// that, because the settings that this one has forced would hide some changes.
bool take_another(SharedCharge* shared) {
  const TimestampTz since = GetCurrentTimestamp();
  while (!take(shared)) {
    const long idle = TimestampDifferenceMilliseconds(since, GetCurrentTimestamp());
    if (idle >= kIdleMilliseconds || ConfigReloadPending) {
      (void)change_state(shared, SessionChargeState::kAnswered, SessionChargeState::kLeft);
    }
    if (state_of(shared) == SessionChargeState::kLeft) return false;
    if (state_of(shared) == SessionChargeState::kAnswered) {
      wait_for_call(kIdleMilliseconds - static_cast<int>(idle));
    }
  }
  return true;
}

void serve(SharedCharge* shared) {
  MemoryContext context =
      AllocSetContextCreate(TopMemoryContext, "dpquantile charges", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(context);
  shared->worker = MyLatch;
  if (!take(shared)) return;
  do {
    charge_and_answer(shared);
    MemoryContextReset(context);
  } while (may_stay() && take_another(shared));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

void dpq_session_worker(Datum request_handle) {
  start_charging_worker();

  Oid database;
  memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof database);
  BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

  SharedCharge* shared = attach(DatumGetUInt32(request_handle));
  if (shared == nullptr) return;
  before_shmem_exit(leave, PointerGetDatum(shared));
  force_charge_settings(LockWait::kUntilTimeout);
  serve(shared);
}
