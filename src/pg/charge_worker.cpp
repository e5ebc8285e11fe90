// The background worker that makes one charge, in a session and a transaction of its own: neither a
// rollback, an error, a cancel nor a crash of the query takes it back.
#include "pg/charge_worker.hpp"

#include "pg/charge_transaction.hpp"

extern "C" {
#include "pgstat.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

DPQ_EXPORT void dpq_charge_worker(Datum request_handle);
}

namespace dpquantile {

namespace {

constexpr long kSlotRetryMilliseconds = 10;
constexpr int kSlotRetries = 500;

dsm_segment* share_request(const ChargeRequest* request) {
  const Size size = request_size(request);
  dsm_segment* segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
  if (segment == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                    errmsg("the privacy budget cannot be charged: no dynamic shared memory"),
                    errhint("This call was not charged. Try again.")));
  }
  memcpy(dsm_segment_address(segment), request, size);
  return segment;
}

// Worker slots are shared with parallel queries and other charges; a short wait spares the user an
// error in a busy moment.
BackgroundWorkerHandle* start_worker(dsm_handle request) {
  BackgroundWorker worker = describe_worker("dpquantile charge", "dpq_charge_worker");
  worker.bgw_main_arg = UInt32GetDatum(request);
  memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
  BackgroundWorkerHandle* handle;
  for (int attempt = 0; attempt < kSlotRetries; ++attempt) {
    if (RegisterDynamicBackgroundWorker(&worker, &handle)) return handle;
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                    kSlotRetryMilliseconds, PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
  }
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                  errmsg("the privacy budget cannot be charged: no free background worker slot"),
                  errhint("This call was not charged. Try again, or raise max_worker_processes.")));
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

void charge_by_own_worker(ChargeRequest* request) {
  dsm_segment* segment = share_request(request);
  BackgroundWorkerHandle* worker = start_worker(dsm_segment_handle(segment));
  if (WaitForBackgroundWorkerShutdown(worker) == BGWH_POSTMASTER_DIED) {
    ereport(FATAL, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("the server is going down")));
  }
  copy_reply(request, static_cast<const ChargeRequest*>(dsm_segment_address(segment)));
  dsm_detach(segment);
  pfree(worker);
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
  auto* request = static_cast<ChargeRequest*>(dsm_segment_address(segment));

  force_charge_settings(Waiting::kForAWhile);
  pgstat_report_activity(STATE_RUNNING, "charging the privacy budget");
  const ErrorData* error = charge_and_commit(&request, 1, Waiting::kForAWhile);
  if (error != nullptr) refuse_with_error(request, error);
}
