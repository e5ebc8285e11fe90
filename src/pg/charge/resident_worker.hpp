#pragma once

#include "pg/charge/charge_queue.hpp"

namespace dpquantile {

// The arguments of a resident worker (bgw_extra).
struct ResidentTask {
  Oid database;
  WorkerPlace place;
};

// Its type in pg_stat_activity, and its C function.
inline constexpr const char* kResidentType = "dpquantile resident";
inline constexpr const char* kResidentWorker = "dpq_resident_worker";

}  // namespace dpquantile
