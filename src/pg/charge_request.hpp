#pragma once

#include "pg/postgres.hpp"

namespace dpquantile {

enum class ChargeOutcome : uint32 {
  kPending = 0,  // the worker has not got so far
  kCharged = 1,  // committed
  kRefused = 2,  // nothing charged; the reply says why
};

// One charge on its way to the worker and back, in a dynamic shared memory segment. Amounts are
// decimals, so that the budget adds up exactly what the user wrote; rho, where it is computed from
// epsilon, is never below what it was as a double.
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

  char query[FLEXIBLE_ARRAY_MEMBER];
};

// The library and the function that PostgreSQL starts as a background worker for one charge.
inline constexpr const char* kLibrary = "$libdir/dpquantile";
inline constexpr const char* kChargeWorker = "dpq_charge_worker";

}  // namespace dpquantile
