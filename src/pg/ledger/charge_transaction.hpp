#pragma once

#include "pg/ledger/charge_request.hpp"

// The transaction that makes charges, for all background workers that make charges.
namespace dpquantile {

// Overrides the settings that a charge depends on, whatever the database's or the cluster's
// settings are: synchronous_commit is at least on, and lock_timeout is 2 s, or 20 ms for
// LockWait::kNever. Call it when a worker starts.
void force_charge_settings(LockWait wait);

// Ignores cancels in this worker, except those of a lock_timeout. Otherwise a cancel could end the
// wait for a synchronous standby, and a charge that is not durable could count as made. Call it
// when a worker starts.
void ignore_cancels();

// Makes the charges of the requests, whose outcomes must be kPending, in one transaction, in their
// order. Makes all charges of a request or none; a refused request leaves the others alone. Returns
// null if every request has its outcome; every request with kCharged is durable then. Returns the
// error, in the current memory context, if it aborted the transaction; then no outcome counts.
ErrorData* charge_and_commit(ChargeRequest* const* requests, int count, LockWait wait);

}  // namespace dpquantile
