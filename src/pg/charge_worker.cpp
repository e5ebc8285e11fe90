// The single-charge worker: a background worker that makes one charge, in a session and a
// transaction of its own: neither a rollback, an error, a cancel nor a crash of the query takes it
// back.
#include "pg/charge_worker.hpp"

#include "pg/charge_transaction.hpp"
#include "pg/charge_wait.hpp"

extern "C" {
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

PGDLLEXPORT void dpq_charge_worker(Datum request_handle);
}

namespace dpquantile {

namespace {

constexpr long kSlotRetryMilliseconds = 10;
constexpr int kSlotMilliseconds = 5000;

// What session and worker share: this, and behind it the request. The reply may be read when it is
// complete, and the worker does not touch it any more.
struct SharedCharge {
  pg_atomic_uint32 complete;
  Latch* session;  // in the server's shared memory: there even if the session has gone
};

ChargeRequest* request_of(SharedCharge* shared) {
  return reinterpret_cast<ChargeRequest*>(shared + 1);
}

SharedCharge* shared_in(dsm_segment* segment) {
  return static_cast<SharedCharge*>(dsm_segment_address(segment));
}

dsm_segment* share_request(const ChargeRequest* request) {
  const Size size = sizeof(SharedCharge) + request_size(request);
  dsm_segment* segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
  if (segment == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                    errmsg("the privacy budget cannot be charged: no dynamic shared memory"),
                    errhint("This call was not charged. Try again.")));
  }
  SharedCharge* shared = shared_in(segment);
  pg_atomic_init_u32(&shared->complete, 0);
  shared->session = MyLatch;
  memcpy(request_of(shared), request, request_size(request));
  return segment;
}

// Null if no worker slot is free.
BackgroundWorkerHandle* start_worker(dsm_handle request) {
  BackgroundWorker worker = describe_worker("dpquantile charge", "dpq_charge_worker");
  worker.bgw_main_arg = UInt32GetDatum(request);
  memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
  BackgroundWorkerHandle* handle;
  return RegisterDynamicBackgroundWorker(&worker, &handle) ? handle : nullptr;
}

// Worker slots are shared with parallel queries and other charges; a short wait spares the user an
// error in a busy moment.
BackgroundWorkerHandle* start_worker_soon(dsm_handle request) {
  const Deadline deadline(kSlotMilliseconds);
  do {
    if (BackgroundWorkerHandle* worker = start_worker(request)) return worker;
    sleep_until_woken(kSlotRetryMilliseconds);
  } while (!deadline.is_over());
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                  errmsg("the privacy budget cannot be charged: no free background worker slot"),
                  errhint("This call was not charged. Try again, or raise max_worker_processes.")));
}

bool reply_is_complete(SharedCharge* shared) {
  if (pg_atomic_read_u32(&shared->complete) == 0) return false;
  pg_read_barrier();
  return true;
}

// The end of the worker is not waited for: it takes as long as the charge.
void complete_reply(SharedCharge* shared) {
  pg_write_barrier();
  pg_atomic_write_u32(&shared->complete, 1);
  SetLatch(shared->session);
}

bool has_stopped(BackgroundWorkerHandle* worker) {
  pid_t pid;
  return GetBackgroundWorkerPid(worker, &pid) == BGWH_STOPPED;
}

// The postmaster wakes the session at the worker's end. If that comes without a reply, the outcome
// stays pending.
void wait_for_reply(SharedCharge* shared, BackgroundWorkerHandle* worker) {
  // What it wrote before its end is seen after it.
  while (!reply_is_complete(shared) && !has_stopped(worker)) sleep_until_woken(-1);
}

// Whether there was a worker, by one of the functions above.
bool charge_by_worker(ChargeRequest* request, BackgroundWorkerHandle* (*start)(dsm_handle)) {
  dsm_segment* segment = share_request(request);
  BackgroundWorkerHandle* worker = start(dsm_segment_handle(segment));
  if (worker != nullptr) {
    SharedCharge* shared = shared_in(segment);
    wait_for_reply(shared, worker);
    if (reply_is_complete(shared)) copy_reply(request, request_of(shared));
    pfree(worker);
  }
  dsm_detach(segment);
  return worker != nullptr;
}

}  // namespace

BackgroundWorker describe_worker(const char* type, const char* function) {
  BackgroundWorker worker;
  memset(&worker, 0, sizeof worker);
  strlcpy(worker.bgw_name, type, sizeof worker.bgw_name);
  strlcpy(worker.bgw_type, type, sizeof worker.bgw_type);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  strlcpy(worker.bgw_library_name, kLibrary, sizeof worker.bgw_library_name);
  strlcpy(worker.bgw_function_name, function, sizeof worker.bgw_function_name);
  worker.bgw_notify_pid = MyProcPid;
  return worker;
}

void charge_by_single_charge_worker(ChargeRequest* request) {
  (void)charge_by_worker(request, start_worker_soon);
}

bool try_single_charge_worker(ChargeRequest* request) {
  return charge_by_worker(request, start_worker);
}

}  // namespace dpquantile

using namespace dpquantile;

void dpq_charge_worker(Datum request_handle) {
  pqsignal(SIGTERM, die);
  ignore_cancels();
  BackgroundWorkerUnblockSignals();

  Oid database;
  memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof database);
  BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);

  CurrentResourceOwner = ResourceOwnerCreate(nullptr, "dpquantile charge");
  dsm_segment* segment = dsm_attach(DatumGetUInt32(request_handle));
  // The query that asked may have been cancelled: nothing to do then.
  if (segment == nullptr) return;
  dsm_pin_mapping(segment);
  SharedCharge* shared = shared_in(segment);
  ChargeRequest* request = request_of(shared);

  force_charge_settings(Waiting::kForAWhile);
  pgstat_report_activity(STATE_RUNNING, "charging the privacy budget");
  const ErrorData* error = charge_and_commit(&request, 1, Waiting::kForAWhile);
  if (error != nullptr) refuse_with_error(request, error);
  complete_reply(shared);
}
