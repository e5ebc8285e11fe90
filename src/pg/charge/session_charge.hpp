#pragma once

#include "pg/ledger/charge_request.hpp"

namespace dpquantile {

// Asks this session's worker to make the charge and waits for the reply. The worker may wait for a
// lock. Starts a worker unless the session's last one still runs. Waits for a worker slot and
// ereports if none becomes free. ereports for a cancel or a termination. If the worker ends early,
// the outcome stays kPending, and the charge may have been made or not.
void charge_by_session_worker(ChargeRequest* request);

// The same, but returns false, and makes no charge, if no worker slot is free now.
bool try_session_worker(ChargeRequest* request);

}  // namespace dpquantile
