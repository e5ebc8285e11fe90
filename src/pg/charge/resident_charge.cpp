#include "pg/charge/resident_charge.hpp"

#include "pg/charge/background_workers.hpp"
#include "pg/charge/charge_queue.hpp"
#include "pg/charge/resident_worker.hpp"
#include "pg/charge/session_charge.hpp"
#include "pg/ledger/charge_refusal.hpp"

extern "C" {
#include "storage/ipc.h"
}

namespace dpquantile {

namespace {

constexpr long kBusyRetryMilliseconds = 10;
constexpr int kBusyMilliseconds = 1000;
constexpr int kOverloadMilliseconds = 5000;
// Every change wakes the session. It also checks at this interval, in case a wake-up is lost.
constexpr long kPollMilliseconds = 1000;

// The worker that this session has started for its current request; handle is null if it has not.
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
  cancel_reservation(started->place);
  return false;
}

// Whether a worker has the request or will take it. A session starts at most one worker for a
// request: if that one ends without taking it, another would not help.
bool find_worker(StartedWorker* started) {
  if (started->handle != nullptr && has_ended(started->handle)) cancel_reservation(started->place);
  WorkerPlace place;
  switch (call_worker(&place)) {
    case WorkerStatus::kAvailable:
      return true;
    case WorkerStatus::kNoPlace:
      return false;
    case WorkerStatus::kMustStart:
      break;
  }
  if (started->handle != nullptr) {
    cancel_reservation(place);
    return false;
  }
  started->place = place;
  return start_resident_worker(started);
}

// Returns kNone if the request was withdrawn.
Reply wait_for_reply(ChargeRequest* request) {
  StartedWorker started{};
  for (;;) {
    const Reply reply = collect_reply(request);
    if (reply != Reply::kNone) return reply;
    if (!find_worker(&started) && withdraw_charge()) return Reply::kNone;
    sleep_until_woken(kPollMilliseconds);
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

void report_overload(const ChargeRequest* request) {
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                  errmsg("the privacy budget cannot be charged: too many charges are waiting"),
                  errhint("%s Try again.", not_charged(request))));
}

// Returns whether the charge was made or refused. If all entries are busy, this retries: the worker
// soon frees some.
bool queue_or_take_turn(ChargeRequest* request) {
  const Deadline busy(kBusyMilliseconds);
  const Deadline overloaded(kOverloadMilliseconds);
  for (;;) {
    if (enqueue_charge(request)) return charge_in_queue(request);
    if (busy.is_over() && take_turn(request->role)) {
      charge_by_session_worker(request);
      return true;
    }
    if (overloaded.is_over()) report_overload(request);
    sleep_until_woken(kBusyRetryMilliseconds);
  }
}

void release_entry_on_error(int, Datum) {
  release_entry();
}

}  // namespace

bool charge_by_resident_worker(ChargeRequest* request) {
  if (!charge_queue_exists()) return false;
  volatile bool done = false;
  PG_ENSURE_ERROR_CLEANUP(release_entry_on_error, Datum{0});
  done = queue_or_take_turn(request);
  PG_END_ENSURE_ERROR_CLEANUP(release_entry_on_error, Datum{0});
  release_entry();
  return done;
}

}  // namespace dpquantile
