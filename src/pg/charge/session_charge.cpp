#include "pg/charge/session_charge.hpp"

#include "pg/charge/background_workers.hpp"
#include "pg/charge/session_worker.hpp"
#include "pg/ledger/charge_refusal.hpp"

extern "C" {
#include "storage/dsm.h"
}

namespace dpquantile {

namespace {

constexpr long kSlotRetryMilliseconds = 10;
constexpr int kSlotMilliseconds = 5000;

// This session's last worker, which may have ended; null pointers if there is none.
struct SessionWorker {
  dsm_segment* segment;
  BackgroundWorkerHandle* worker;
};
SessionWorker my_worker{};

SharedCharge* shared_in(dsm_segment* segment) {
  return static_cast<SharedCharge*>(dsm_segment_address(segment));
}

void detach_worker() {
  if (my_worker.segment == nullptr) return;
  dsm_detach(my_worker.segment);
  pfree(my_worker.worker);
  my_worker = {};
}

// Runs when the session detaches from the worker, at the latest at the session's end. The worker
// may leave, and need not begin a charge that it has not begun.
void let_worker_end(dsm_segment* segment, Datum) {
  SharedCharge* shared = shared_in(segment);
  if (change_state(shared, SessionChargeState::kAsked, SessionChargeState::kLeft) ||
      change_state(shared, SessionChargeState::kTaken, SessionChargeState::kLeft) ||
      change_state(shared, SessionChargeState::kAnswered, SessionChargeState::kLeft)) {
    if (shared->worker != nullptr) SetLatch(shared->worker);
  }
}

dsm_segment* share_request(const ChargeRequest* request) {
  dsm_segment* segment = dsm_create(sizeof(SharedCharge), DSM_CREATE_NULL_IF_MAXSEGMENTS);
  if (segment == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                    errmsg("the privacy budget cannot be charged: no dynamic shared memory"),
                    errhint("%s Try again.", not_charged(request))));
  }
  on_dsm_detach(segment, let_worker_end, Datum{0});
  SharedCharge* shared = shared_in(segment);
  shared->stamp = make_stamp(sizeof(SharedCharge));
  shared->worker = nullptr;
  pg_atomic_init_u32(&shared->state, static_cast<uint32>(SessionChargeState::kAsked));
  shared->session = MyLatch;
  memcpy(shared->request.get(), request, request_size(request));
  return segment;
}

// Null if no worker slot is free.
BackgroundWorkerHandle* start_worker(dsm_handle request) {
  BackgroundWorker worker = describe_worker(kSessionType, kSessionWorker);
  worker.bgw_main_arg = UInt32GetDatum(request);
  memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
  BackgroundWorkerHandle* handle = nullptr;
  const MemoryContext previous = MemoryContextSwitchTo(TopMemoryContext);
  const bool started = RegisterDynamicBackgroundWorker(&worker, &handle);
  MemoryContextSwitchTo(previous);
  return started ? handle : nullptr;
}

// Parallel queries and other charges use worker slots, too. A short wait avoids an error while all
// are busy. Null if the wait was too short.
BackgroundWorkerHandle* start_worker_soon(dsm_handle request) {
  const Deadline deadline(kSlotMilliseconds);
  do {
    if (BackgroundWorkerHandle* worker = start_worker(request)) return worker;
    sleep_until_woken(kSlotRetryMilliseconds);
  } while (!deadline.is_over());
  return nullptr;
}

using StartWorker = BackgroundWorkerHandle* (*)(dsm_handle request);

// Returns false if no worker could be started.
bool ask_new_worker(const ChargeRequest* request, StartWorker start) {
  detach_worker();
  dsm_segment* segment = share_request(request);
  BackgroundWorkerHandle* worker = start(dsm_segment_handle(segment));
  if (worker == nullptr) {
    dsm_detach(segment);
    return false;
  }
  dsm_pin_mapping(segment);
  my_worker = {segment, worker};
  return true;
}

// Returns false if the session's last worker cannot take the request.
bool ask_worker_again(const ChargeRequest* request) {
  if (my_worker.segment == nullptr) return false;
  SharedCharge* shared = shared_in(my_worker.segment);
  // The worker may still be making a charge that the session has given up.
  if (state_of(shared) != SessionChargeState::kAnswered) return false;
  memcpy(shared->request.get(), request, request_size(request));
  if (!change_state(shared, SessionChargeState::kAnswered, SessionChargeState::kAsked))
    return false;
  SetLatch(shared->worker);
  return true;
}

bool is_unanswered(SessionChargeState state) {
  return state == SessionChargeState::kAsked || state == SessionChargeState::kTaken;
}

// The postmaster wakes the session when the worker ends. If the worker ends without a reply, the
// outcome stays pending.
SessionChargeState wait_for_reply(ChargeRequest* request) {
  SharedCharge* shared = shared_in(my_worker.segment);
  PG_TRY();
  {
    while (is_unanswered(state_of(shared)) && !has_ended(my_worker.worker)) sleep_until_woken(-1);
  }
  PG_CATCH();
  {
    detach_worker();
    PG_RE_THROW();
  }
  PG_END_TRY();
  // Read the state again: the worker may have answered just before it ended.
  const SessionChargeState state = state_of(shared);
  const bool answered =
      state == SessionChargeState::kAnswered || state == SessionChargeState::kLeft;
  if (answered) copy_reply(request, shared->request.get());
  return state;
}

// The worker has ended without taking the request.
void refuse_other_library(const ChargeRequest* request) {
  const LibraryStamp& stamp = shared_in(my_worker.segment)->stamp;
  if (stamp.worker_version[0] == '\0') return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the privacy budget cannot be charged: this session has loaded version %s "
                         "of %s's library, and the worker version %s",
                         kLibraryVersion, kExtension, stamp.worker_version),
                  errhint("%s Reconnect.", not_charged(request))));
}

// Returns whether there was a worker for the request.
bool charge(ChargeRequest* request, StartWorker start) {
  if (ask_worker_again(request) && wait_for_reply(request) != SessionChargeState::kDeclined) {
    return true;
  }
  if (!ask_new_worker(request, start)) return false;
  (void)wait_for_reply(request);
  refuse_other_library(request);
  return true;
}

}  // namespace

void charge_by_session_worker(ChargeRequest* request) {
  if (charge(request, start_worker_soon)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                  errmsg("the privacy budget cannot be charged: no free background worker slot"),
                  errhint("%s Try again, or raise max_worker_processes.", not_charged(request))));
}

bool try_session_worker(ChargeRequest* request) {
  return charge(request, start_worker);
}

}  // namespace dpquantile
