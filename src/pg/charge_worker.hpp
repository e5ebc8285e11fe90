#pragma once

#include "pg/charge_request.hpp"

extern "C" {
#include "postmaster/bgworker.h"
}

namespace dpquantile {

// Has a single-charge worker make this charge, which may wait for a lock. Waits for a
// worker slot, and ereports if none comes free.
void charge_by_single_charge_worker(ChargeRequest* request);

// The same if a worker slot is free now; else returns false.
bool try_single_charge_worker(ChargeRequest* request);

// A background worker of this library, connected to databases and not restarted, of whose start
// and end this session is told.
BackgroundWorker describe_worker(const char* type, const char* function);

}  // namespace dpquantile
