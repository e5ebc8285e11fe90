#include "pg/charge/background_workers.hpp"

#include "pg/ledger/charge_transaction.hpp"

extern "C" {
#include "postmaster/interrupt.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/wait_event.h"
}

namespace dpquantile {

namespace {

constexpr const char* kLibrary = "$libdir/dpquantile";

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

void start_charging_worker() {
  pqsignal(SIGTERM, die);
  ignore_cancels();
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  BackgroundWorkerUnblockSignals();
}

bool has_ended(BackgroundWorkerHandle* worker) {
  pid_t pid;
  return GetBackgroundWorkerPid(worker, &pid) == BGWH_STOPPED;
}

bool half_of_worker_slots_free() {
  int workers = 0;
  const int backends = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= backends; ++i) {
    const LocalPgBackendStatus* backend = DPQ_LOCAL_BACKEND_STATUS(i);
    if (backend->backendStatus.st_backendType == B_BG_WORKER) ++workers;
  }
  pgstat_clear_backend_activity_snapshot();
  return 2 * workers <= max_worker_processes;
}

void sleep_until_woken(long milliseconds) {
  const int timeout = milliseconds < 0 ? 0 : WL_TIMEOUT;
  (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | timeout, milliseconds,
                  PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

}  // namespace dpquantile
