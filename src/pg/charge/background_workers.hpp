#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "postmaster/bgworker.h"
}

namespace dpquantile {

// A background worker of this library, connected to databases and not restarted, of whose start
// and end this session is told.
BackgroundWorker describe_worker(const char* type, const char* function);

bool has_ended(BackgroundWorkerHandle* worker);

// Whether at least half of max_worker_processes are free. A moment later it may be otherwise.
bool half_of_worker_slots_free();

}  // namespace dpquantile
