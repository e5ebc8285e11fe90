#include "pg/charge/charge.hpp"

#include "pg/charge/resident_charge.hpp"
#include "pg/charge/session_charge.hpp"
#include "pg/ledger/charge_refusal.hpp"
#include "pg/ledger/charge_request.hpp"
#include "pg/ledger/charge_transaction.hpp"
#include "pg/server/decimal.hpp"

extern "C" {
#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// The length in bytes of the query's text, cut at a character boundary.
int query_length() {
  if (debug_query_string == nullptr) return 0;
  const int length = static_cast<int>(strnlen(debug_query_string, kQueryBytes + 1));
  return pg_mbcliplen(debug_query_string, length, kQueryBytes);
}

ChargeRequest* write_request(const Charge& charge, bool after_first_group) {
  const int query_bytes = query_length();
  const Size size = offsetof(ChargeRequest, query) + static_cast<Size>(query_bytes) + 1;
  auto* request = static_cast<ChargeRequest*>(palloc0(size));
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
    // A rho that is computed from epsilon is rounded up; a rho that the user wrote is charged
    // exactly.
    const char* rho = charge.epsilon ? decimal_text_above(*charge.rho) : decimal_text(*charge.rho);
    strlcpy(request->rho, rho, sizeof request->rho);
  }
  request->grouping_sets = charge.grouping_sets;
  request->after_first_group = after_first_group;
  request->groups = charge.groups;
  request->query_bytes = query_bytes;
  if (query_bytes > 0) memcpy(request->query, debug_query_string, static_cast<Size>(query_bytes));
  return request;
}

// In a security-restricted operation (ANALYZE, index maintenance, REFRESH MATERIALIZED VIEW) a
// table owner's code runs in another role's session. That role must not pay for it.
void refuse_restricted_operation() {
  if (!InSecurityRestrictedOperation()) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("the privacy budget cannot be charged within a security-restricted operation"),
           errhint("Use CREATE TABLE AS instead of a materialized view.")));
}

void report_reply(const ChargeRequest* request) {
  if (request->outcome == ChargeOutcome::kCharged) return;
  if (request->outcome == ChargeOutcome::kRefused) {
    ereport(ERROR, (errcode(request->sqlstate), errmsg("%s", request->message),
                    request->detail[0] != '\0' ? errdetail("%s", request->detail) : 0,
                    request->hint[0] != '\0' ? errhint("%s", request->hint) : 0));
  }
  if (request->outcome == ChargeOutcome::kLocked) {
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("the privacy budget cannot be charged: it stays locked"),
                    errhint("%s", locked_hint(request))));
  }
  ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR),
                  errmsg("the privacy budget cannot be charged: the worker ended early"),
                  errhint("Nothing was released. The server log says why the worker ended.")));
}

}  // namespace

void charge_budget(const Charge& charge, bool after_first_group) {
  refuse_restricted_operation();
  if (RecoveryInProgress()) {
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("the privacy budget cannot be charged on a standby server"),
                    errhint("Run private queries on the primary.")));
  }
  ChargeRequest* request = write_request(charge, after_first_group);
  if (!charge_by_resident_worker(request)) charge_by_session_worker(request);
  report_reply(request);
  pfree(request);
}

}  // namespace dpquantile
