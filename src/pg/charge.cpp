#include "pg/charge.hpp"

#include "pg/charge_request.hpp"
#include "pg/decimal.hpp"

extern "C" {
#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/wait_event.h"
}

namespace dpquantile {

namespace {

constexpr int kQueryBytes = 8192;
constexpr long kSlotRetryMilliseconds = 10;
constexpr int kSlotRetries = 500;

// The query's text, cut at a character boundary.
int query_length() {
  if (debug_query_string == nullptr) return 0;
  const int length = static_cast<int>(strnlen(debug_query_string, kQueryBytes + 1));
  return pg_mbcliplen(debug_query_string, length, kQueryBytes);
}

dsm_segment* write_request(const Charge& charge) {
  const int query_bytes = query_length();
  const Size size = offsetof(ChargeRequest, query) + static_cast<Size>(query_bytes) + 1;
  dsm_segment* segment = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
  if (segment == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES),
                    errmsg("the privacy budget cannot be charged: no dynamic shared memory"),
                    errhint("This call was not charged. Try again.")));
  }
  auto* request = static_cast<ChargeRequest*>(dsm_segment_address(segment));
  memset(request, 0, size);
  request->role = GetOuterUserId();
  namestrcpy(&request->role_name, GetUserNameFromId(GetOuterUserId(), false));
  namestrcpy(&request->session_role_name, GetUserNameFromId(GetSessionUserId(), false));
  namestrcpy(&request->function, charge.function);
  strlcpy(request->mechanism, charge.mechanism, sizeof request->mechanism);
  strlcpy(request->neighbours, charge.neighbours, sizeof request->neighbours);
  if (charge.epsilon) {
    strlcpy(request->epsilon, decimal_text(*charge.epsilon), sizeof request->epsilon);
  }
  strlcpy(request->delta, decimal_text(charge.delta), sizeof request->delta);
  if (charge.rho) {
    // What is computed from epsilon is rounded up; what the user wrote is charged as it is.
    const char* rho = charge.epsilon ? decimal_text_above(*charge.rho) : decimal_text(*charge.rho);
    strlcpy(request->rho, rho, sizeof request->rho);
  }
  request->grouping_sets = charge.grouping_sets;
  request->for_one_group = charge.for_one_group;
  request->groups = charge.groups;
  if (query_bytes > 0) memcpy(request->query, debug_query_string, static_cast<Size>(query_bytes));
  return segment;
}

BackgroundWorker describe_worker(dsm_handle request) {
  BackgroundWorker worker;
  memset(&worker, 0, sizeof worker);
  strlcpy(worker.bgw_name, "dpquantile charge", sizeof worker.bgw_name);
  strlcpy(worker.bgw_type, "dpquantile charge", sizeof worker.bgw_type);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  strlcpy(worker.bgw_library_name, kLibrary, sizeof worker.bgw_library_name);
  strlcpy(worker.bgw_function_name, kChargeWorker, sizeof worker.bgw_function_name);
  worker.bgw_main_arg = UInt32GetDatum(request);
  memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
  worker.bgw_notify_pid = MyProcPid;
  return worker;
}

// Worker slots are shared with parallel queries and other charges; a short wait spares the user an
// error in a busy moment.
BackgroundWorkerHandle* start_worker(dsm_handle request) {
  BackgroundWorker worker = describe_worker(request);
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

// In a security-restricted operation (ANALYZE, index maintenance, REFRESH MATERIALIZED VIEW) code
// of a table's owner runs in the session of somebody else, who must not pay for it.
void refuse_restricted_operation() {
  if (!InSecurityRestrictedOperation()) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("the privacy budget cannot be charged within a security-restricted operation"),
           errhint("Instead of a materialized view use CREATE TABLE AS.")));
}

void report_reply(const ChargeRequest* request) {
  if (request->outcome == ChargeOutcome::kCharged) return;
  if (request->outcome == ChargeOutcome::kPending) {
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR),
                    errmsg("the privacy budget cannot be charged: the worker ended early"),
                    errhint("Nothing was released. The server log says why the worker ended.")));
  }
  ereport(ERROR, (errcode(request->sqlstate), errmsg("%s", request->message),
                  request->detail[0] != '\0' ? errdetail("%s", request->detail) : 0,
                  request->hint[0] != '\0' ? errhint("%s", request->hint) : 0));
}

}  // namespace

void charge_budget(const Charge& charge) {
  refuse_restricted_operation();
  if (RecoveryInProgress()) {
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("the privacy budget cannot be charged on a standby server"),
                    errhint("Run private queries on the primary.")));
  }
  dsm_segment* segment = write_request(charge);
  BackgroundWorkerHandle* worker = start_worker(dsm_segment_handle(segment));
  if (WaitForBackgroundWorkerShutdown(worker) == BGWH_POSTMASTER_DIED) {
    ereport(FATAL, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("the server is going down")));
  }
  const auto* request = static_cast<const ChargeRequest*>(dsm_segment_address(segment));
  report_reply(request);
  dsm_detach(segment);
}

}  // namespace dpquantile
