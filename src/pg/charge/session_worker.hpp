#pragma once

#include "pg/ledger/charge_request.hpp"

extern "C" {
#include "port/atomics.h"
#include "storage/latch.h"
}

// The session worker: a background worker that makes the charges of one session, each in a
// transaction of its own: neither a rollback, an error, a cancel nor a crash of the query takes it
// back.
namespace dpquantile {

// The states of a charge, and who changes them:
//   asked -> taken     by the worker; from here on the charge may be made
//   taken -> answered  by the worker, once the charge is durable or refused
//   answered -> asked  by the session, with a further charge
//   answered -> left   by the worker, which ends, or by the session, so that it does
//   asked, taken -> left   by the session, which has given the charge up
//   asked -> declined  by the worker, which ends without having taken the request
// The worker touches the request from when it has taken it until it is answered, the session only
// before and after.
enum class SessionChargeState : uint32 { kAsked, kTaken, kAnswered, kLeft, kDeclined };

// What session and session worker share.
struct SharedCharge {
  pg_atomic_uint32 state;
  Latch* session;  // latches are in the server's memory: there even if their process has gone
  Latch* worker;   // null until it has started
  alignas(ChargeRequest) char request[kLargestRequest];
};

inline ChargeRequest* request_in(SharedCharge* shared) {
  return reinterpret_cast<ChargeRequest*>(shared->request);
}

// Whether the state was `from` and is `to` now. What was written before is seen by who reads `to`.
inline bool change_state(SharedCharge* shared, SessionChargeState from, SessionChargeState to) {
  auto expected = static_cast<uint32>(from);
  return pg_atomic_compare_exchange_u32(&shared->state, &expected, static_cast<uint32>(to));
}

inline SessionChargeState state_of(SharedCharge* shared) {
  const uint32 state = pg_atomic_read_u32(&shared->state);
  pg_read_barrier();
  return static_cast<SessionChargeState>(state);
}

inline constexpr const char* kSessionType = "dpquantile session";
inline constexpr const char* kSessionWorker = "dpq_session_worker";

}  // namespace dpquantile
