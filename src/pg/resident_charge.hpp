#pragma once

#include "pg/charge_request.hpp"

namespace dpquantile {

// Has the resident worker of this database make the charge, and starts it if need be. False if the
// charge was not made and no resident worker will make it: there is none without preloading, no
// place or worker slot for one, or it will not wait for somebody's lock.
bool charge_by_resident_worker(ChargeRequest* request);

}  // namespace dpquantile
