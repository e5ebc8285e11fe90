#pragma once

#include "pg/ledger/charge_request.hpp"

namespace dpquantile {

// Asks the resident worker of this database to make the charge and waits for the reply. Starts the
// worker if there is none. If a lock prevents the charge, a session worker makes it when this
// session has a turn. Returns false if the charge was not made and no resident worker will make it,
// because the library is not preloaded or there is no place or worker slot. ereports for a cancel
// or a termination, and if too many charges are waiting.
bool charge_by_resident_worker(ChargeRequest* request);

}  // namespace dpquantile
