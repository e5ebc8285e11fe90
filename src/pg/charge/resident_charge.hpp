#pragma once

#include "pg/ledger/charge_request.hpp"

namespace dpquantile {

// Has the resident worker of this database make the charge, and starts it if need be; if a lock
// stands in the way, a session worker in its turn. False if the charge was not made and no
// resident worker will make it: there is none without preloading, or no place or worker slot for
// one.
bool charge_by_resident_worker(ChargeRequest* request);

}  // namespace dpquantile
