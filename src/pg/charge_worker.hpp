#pragma once

#include "pg/charge_request.hpp"

extern "C" {
#include "postmaster/bgworker.h"
}

namespace dpquantile {

// Has a background worker of its own make this charge, which may wait for a lock. Waits for a
// worker slot, and ereports if none comes free.
void charge_by_own_worker(ChargeRequest* request);

// The same if a worker slot is free now; else returns false.
bool charge_if_slot_is_free(ChargeRequest* request);

// A background worker of this library, connected to databases and not restarted, of whose start
// and end this session is told.
BackgroundWorker describe_worker(const char* type, const char* function);

}  // namespace dpquantile
