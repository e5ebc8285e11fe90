#include "pg/resident_charge.hpp"

#include "pg/charge_queue.hpp"
#include "pg/charge_worker.hpp"
#include "pg/resident_worker.hpp"

extern "C" {
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/wait_event.h"
}

namespace dpquantile {

namespace {

constexpr long kBusyRetryMilliseconds = 10;
constexpr int kBusyRetries = 100;
// Every change wakes the session; should one be missed, it looks for itself.
constexpr long kLookMilliseconds = 1000;

void doze(long milliseconds) {
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
                  PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

// With every slot taken the worker has much to do for others, but does it fast.
bool enqueue_soon(const ChargeRequest* request) {
  for (int attempt = 0; attempt < kBusyRetries; ++attempt) {
    if (enqueue_charge(request)) return true;
    doze(kBusyRetryMilliseconds);
  }
  return false;
}

// The worker that this session has started for its present request, if any.
struct StartedWorker {
  BackgroundWorkerHandle* handle;
  WorkerPlace place;
};

bool start_resident_worker(StartedWorker* started) {
  BackgroundWorker worker = describe_worker(kResidentType, kResidentWorker);
  const ResidentTask task{MyDatabaseId, started->place};
  static_assert(sizeof task <= sizeof worker.bgw_extra);
  memcpy(worker.bgw_extra, &task, sizeof task);
  if (RegisterDynamicBackgroundWorker(&worker, &started->handle)) return true;
  cancel_place(started->place);
  return false;
}

bool has_ended(const StartedWorker& started) {
  pid_t pid;
  return GetBackgroundWorkerPid(started.handle, &pid) == BGWH_STOPPED;
}

// Whether the request is, or will be, with a worker. A session starts one worker at most for a
// request: if that does not help, another would not.
bool find_worker(StartedWorker* started) {
  if (started->handle != nullptr && has_ended(*started)) cancel_place(started->place);
  WorkerPlace place;
  switch (call_worker(&place)) {
    case Service::kPromised:
      return true;
    case Service::kImpossible:
      return false;
    case Service::kWanted:
      break;
  }
  if (started->handle != nullptr) {
    cancel_place(place);
    return false;
  }
  started->place = place;
  return start_resident_worker(started);
}

// False if the request was withdrawn.
bool wait_for_reply(ChargeRequest* request) {
  StartedWorker started{};
  while (!collect_reply(request)) {
    if (!find_worker(&started) && withdraw_charge()) return false;
    doze(kLookMilliseconds);
  }
  return true;
}

void give_slot_back(int, Datum) {
  release_slot();
}

bool ask(ChargeRequest* request) {
  volatile bool answered = false;
  PG_ENSURE_ERROR_CLEANUP(give_slot_back, Datum{0});
  { answered = enqueue_soon(request) && wait_for_reply(request); }
  PG_END_ENSURE_ERROR_CLEANUP(give_slot_back, Datum{0});
  return answered;
}

// A trigger on the budget tables may ask a private query.
bool is_resident_worker() {
  return MyBgworkerEntry != nullptr && strcmp(MyBgworkerEntry->bgw_type, kResidentType) == 0;
}

}  // namespace

bool charge_by_resident_worker(ChargeRequest* request) {
  if (!charge_queue_exists() || is_resident_worker() || !ask(request)) return false;
  if (request->outcome != ChargeOutcome::kLocked) return true;
  clear_reply(request);
  return false;
}

}  // namespace dpquantile
