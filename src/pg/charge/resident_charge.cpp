#include "pg/charge/resident_charge.hpp"

#include "pg/charge/background_workers.hpp"
#include "pg/charge/charge_queue.hpp"
#include "pg/charge/resident_worker.hpp"
#include "pg/charge/session_charge.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace dpquantile {

namespace {

constexpr long kBusyRetryMilliseconds = 10;
constexpr int kBusyMilliseconds = 1000;
constexpr int kCrowdedMilliseconds = 5000;
// Every change wakes the session; should one be missed, it looks for itself.
constexpr long kLookMilliseconds = 1000;

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

// Whether the request is, or will be, with a worker. A session starts one worker at most for a
// request: if that does not help, another would not.
bool find_worker(StartedWorker* started) {
  if (started->handle != nullptr && has_ended(started->handle)) cancel_place(started->place);
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

// kNone if the request was withdrawn.
Reply wait_for_reply(ChargeRequest* request) {
  StartedWorker started{};
  for (;;) {
    const Reply reply = collect_reply(request);
    if (reply != Reply::kNone) return reply;
    if (!find_worker(&started) && withdraw_charge()) return Reply::kNone;
    sleep_until_woken(kLookMilliseconds);
  }
}

// Returns whether the charge was made or refused.
bool charge_in_queue(ChargeRequest* request) {
  for (;;) {
    switch (wait_for_reply(request)) {
      case Reply::kNone:
        return false;
      case Reply::kComplete:
        return true;
      case Reply::kTurn:
        if (try_session_worker(request)) return true;
        postpone_turn();
    }
  }
}

void refuse_crowd() {
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                  errmsg("the privacy budget cannot be charged: too many charges wait"),
                  errhint("This call was not charged. Try again.")));
}

// Returns whether the charge was made or refused. With every entry taken the worker has much to do
// for others, but does it fast.
bool ask(ChargeRequest* request) {
  const Deadline busy(kBusyMilliseconds);
  const Deadline crowded(kCrowdedMilliseconds);
  for (;;) {
    if (enqueue_charge(request)) return charge_in_queue(request);
    if (busy.is_over() && take_turn(request->role)) {
      charge_by_session_worker(request);
      return true;
    }
    if (crowded.is_over()) refuse_crowd();
    sleep_until_woken(kBusyRetryMilliseconds);
  }
}

void give_entry_back(int, Datum) {
  release_entry();
}

}  // namespace

bool charge_by_resident_worker(ChargeRequest* request) {
  if (!charge_queue_exists()) return false;
  volatile bool done = false;
  PG_ENSURE_ERROR_CLEANUP(give_entry_back, Datum{0});
  { done = ask(request); }
  PG_END_ENSURE_ERROR_CLEANUP(give_entry_back, Datum{0});
  release_entry();
  return done;
}

}  // namespace dpquantile
