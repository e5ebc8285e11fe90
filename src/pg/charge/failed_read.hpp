#pragma once

#include <span>

#include "pg/ledger/charge_request.hpp"

// Notes that a query of protected tables ended while it read their rows, so that the note outlives
// the query's transaction.
namespace dpquantile {

// Has workers note the failure for the role and the relations, some of them at a time. It may be
// called after an error, before the transaction is aborted. When it returns, the note is
// durable. In every other case it ereports.
void note_failure_by_worker(Oid role, std::span<const Oid> relations, const FailedRead& failure);

// The same in a transaction of this session, which is about to end: it aborts what is open, and
// releases all locks. Call it in a callback of before_shmem_exit.
void note_failure_at_exit(Oid role, std::span<const Oid> relations, const FailedRead& failure);

}  // namespace dpquantile
