#include "pg/charge/failed_read.hpp"

#include "pg/charge/resident_charge.hpp"
#include "pg/charge/session_charge.hpp"
#include "pg/ledger/failed_reads.hpp"

extern "C" {
#include "access/xact.h"
#include "storage/lock.h"
#include "utils/snapmgr.h"
}

namespace dpquantile {

namespace {

ChargeRequest* write_request(Oid role, std::span<const Oid> relations, const FailedRead& failure) {
  auto* request = static_cast<ChargeRequest*>(palloc0(request_size(0, 0)));
  request->kind = RequestKind::kFailedRead;
  request->failure = failure;
  request->role = role;
  for (const Oid relation : relations) request->tables[request->table_count++] = relation;
  return request;
}

void note_some(Oid role, std::span<const Oid> relations, const FailedRead& failure) {
  ChargeRequest* request = write_request(role, relations, failure);
  if (!charge_by_resident_worker(request)) charge_by_session_worker(request);
  if (request->outcome != ChargeOutcome::kCharged) {
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR),
                    errmsg("the worker could not note a failed query%s%s",
                           request->message[0] == '\0' ? "" : ": ", request->message)));
  }
  pfree(request);
}

}  // namespace

void note_failure_by_worker(Oid role, std::span<const Oid> relations, const FailedRead& failure) {
  for (size_t i = 0; i < relations.size(); i += kMaxTables) {
    note_some(role, relations.subspan(i, Min(size_t{kMaxTables}, relations.size() - i)), failure);
  }
}

void note_failure_at_exit(Oid role, std::span<const Oid> relations, const FailedRead& failure) {
  AbortOutOfAnyTransaction();
  // Advisory locks outlive the transaction, and may fill the table of locks.
  LockReleaseAll(USER_LOCKMETHOD, true);
  StartTransactionCommand();
  // Those of the session may have it wait for others, or write nothing.
  XactIsoLevel = XACT_READ_COMMITTED;
  XactReadOnly = false;
  XactDeferrable = false;
  PushActiveSnapshot(GetTransactionSnapshot());
  note_failed_read(role, relations, failure);
  PopActiveSnapshot();
  // The user may have switched it off. A standby that does not answer must not keep the session.
  synchronous_commit = SYNCHRONOUS_COMMIT_LOCAL_FLUSH;
  CommitTransactionCommand();
}

}  // namespace dpquantile
