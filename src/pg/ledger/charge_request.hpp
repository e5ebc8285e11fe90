#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

enum class ChargeOutcome : uint32 {
  kPending = 0,  // the worker has not got so far
  kCharged = 1,  // committed
  kRefused = 2,  // nothing charged; the reply says why
  kLocked = 3,   // nothing charged: a lock stood in the way
};

// What becomes of a charge if somebody else has locked the budget's row.
enum class Waiting {
  kForAWhile,  // waits, and fails after the lock_timeout
  kNever,      // the outcome is kLocked
};

// The query's text in a request ends at a character boundary within so many bytes.
inline constexpr int kQueryBytes = 8192;

// One charge on its way to the worker and back, in shared memory. Amounts are decimals, so that the
// budget adds up exactly what the user wrote; rho, where it is computed from epsilon, is never
// below what it was as a double.
struct ChargeRequest {
  Oid role;
  NameData role_name;
  NameData session_role_name;
  NameData function;
  char mechanism[64];
  char neighbours[64];
  char epsilon[32];  // empty for a query stated in rho alone
  char delta[32];
  char rho[32];  // empty with a delta
  int32 grouping_sets;
  bool for_one_group;
  int32 groups;  // -1: not public

  // The reply, written by the worker. The error's parts are set where the charge was refused.
  ChargeOutcome outcome;
  int32 sqlstate;
  char message[512];
  char detail[512];
  char hint[256];

  int32 query_bytes;
  char query[FLEXIBLE_ARRAY_MEMBER];  // and a zero
};

inline constexpr Size kLargestRequest = offsetof(ChargeRequest, query) + kQueryBytes + 1;

inline Size request_size(const ChargeRequest* request) {
  return offsetof(ChargeRequest, query) + static_cast<Size>(request->query_bytes) + 1;
}

// Whether the charge has an epsilon, and whether it has a rho.
inline bool states_epsilon(const ChargeRequest* request) {
  return request->epsilon[0] != '\0';
}
inline bool has_rho(const ChargeRequest* request) {
  return request->rho[0] != '\0';
}

// Copies the reply's parts only.
void copy_reply(ChargeRequest* to, const ChargeRequest* from);

// Empties the reply.
void clear_reply(ChargeRequest* request);

}  // namespace dpquantile
