#pragma once

#include "pg/charge/charge_queue.hpp"

namespace dpquantile {

// What a resident worker is told when it is started.
struct ResidentTask {
  Oid database;
  WorkerPlace place;
};

inline constexpr const char* kResidentType = "dpquantile resident";
inline constexpr const char* kResidentWorker = "dpq_resident_worker";

}  // namespace dpquantile
