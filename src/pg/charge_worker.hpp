#pragma once

#include "pg/charge_request.hpp"

extern "C" {
#include "postmaster/bgworker.h"
}

namespace dpquantile {

// Starts a background worker for this one charge, which may wait for a lock, and waits for its end.
void charge_by_own_worker(ChargeRequest* request);

// A background worker of this library, connected to databases and not restarted, of whose start
// and end this session is told.
BackgroundWorker describe_worker(const char* type, const char* function);

}  // namespace dpquantile
