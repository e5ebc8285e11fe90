#pragma once

#include "pg/charge/library_stamp.hpp"
#include "pg/ledger/charge_request.hpp"

extern "C" {
#include "port/atomics.h"
#include "storage/latch.h"
}

// The session worker: a background worker that makes the charges of one session, each in its own
// transaction. A rollback, an error, a cancel or a crash of the query does not undo a charge.
namespace dpquantile {

// The states of a charge, and who changes them:
//   asked -> taken     by the worker; from now on the charge may be made
//   taken -> answered  by the worker, once the charge is durable or refused
//   answered -> asked  by the session, with another charge
//   answered -> left   by the worker, which ends, or by the session, so that the worker ends
//   asked -> left      by the session, which gives the charge up
//   taken -> left      by the session, which gives the charge up
//   asked -> declined  by the worker, which ends without taking the request
// The worker reads and writes the request only between taken and answered, the session only outside
// of that.
enum class SessionChargeState : uint32 { kAsked, kTaken, kAnswered, kLeft, kDeclined };

// The shared memory of a session and its worker.
struct SharedCharge {
  LibraryStamp stamp;  // the worker reads nothing else unless it accepts the stamp
  pg_atomic_uint32 state;
  Latch* session;  // in the server's shared memory, so valid even after the process has ended
  Latch* worker;   // null until it has started
  RequestStorage request;
};

// Changes the state from `from` to `to` and returns true, or returns false if it was not `from`. A
// process that reads `to` sees everything that was written before.
inline bool change_state(SharedCharge* shared, SessionChargeState from, SessionChargeState to) {
  auto expected = static_cast<uint32>(from);
  return pg_atomic_compare_exchange_u32(&shared->state, &expected, static_cast<uint32>(to));
}

// Reads the state. Later reads see everything that was written before the state was.
inline SessionChargeState state_of(SharedCharge* shared) {
  const uint32 state = pg_atomic_read_u32(&shared->state);
  pg_read_barrier();
  return static_cast<SessionChargeState>(state);
}

// Its type in pg_stat_activity, and its C function.
inline constexpr const char* kSessionType = "dpquantile session";
inline constexpr const char* kSessionWorker = "dpq_session_worker";

}  // namespace dpquantile
