#pragma once

#include "pg/ledger/charge_request.hpp"

namespace dpquantile {

// Has the session worker make this charge, which may wait for a lock. Starts one unless the
// session's last is still there; waits for a worker slot, and ereports if none comes free.
void charge_by_session_worker(ChargeRequest* request);

// The same if a worker slot is free now; else returns false.
bool try_session_worker(ChargeRequest* request);

}  // namespace dpquantile
