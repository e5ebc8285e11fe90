#include "pg/borrowed/fresh_plans.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/plancache.h"
}

namespace dpquantile {

namespace {

// Whether this transaction has planned such a query. It stays so until the transaction ends: a plan
// that is made together with others may be kept after the execution of one of them has started.
bool has_fresh_plans = false;

void forget_at_end(XactEvent event, void*) {
  forget_fresh_plans();
  const bool is_end = event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
                      event == XACT_EVENT_PREPARE || event == XACT_EVENT_PARALLEL_COMMIT ||
                      event == XACT_EVENT_PARALLEL_ABORT;
  if (is_end) has_fresh_plans = false;
}

void forget_at_rollback(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event == SUBXACT_EVENT_ABORT_SUB) forget_fresh_plans();
}

}  // namespace

void begin_fresh_plan() {
  has_fresh_plans = true;
}

void forget_fresh_plans() {
  if (has_fresh_plans) ResetPlanCache();
}

void install_fresh_plans() {
  ResetPlanCache();
  RegisterXactCallback(forget_at_end, nullptr);
  RegisterSubXactCallback(forget_at_rollback, nullptr);
}

}  // namespace dpquantile
