#pragma once

#include "pg/ledger/charge_request.hpp"

// What the workers that charge budgets have in common.
namespace dpquantile {

// Forces what a database's settings may have changed and the charge depends on.
void force_charge_settings(Waiting waiting);

// Lets no cancel end the wait for a synchronous standby, after which nothing would be sure; only a
// lock_timeout still cancels. To be called when a worker starts.
void ignore_cancels();

// Makes the charges, which have no reply yet, in one transaction. Returns null, and then every
// request has its outcome, and what counts as charged is durable; or the error for which the
// transaction was aborted, and then no outcome counts.
ErrorData* charge_and_commit(ChargeRequest* const* requests, int count, Waiting waiting);

}  // namespace dpquantile
