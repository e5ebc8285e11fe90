#include "pg/charge/charge.hpp"

#include "pg/charge/resident_charge.hpp"
#include "pg/charge/session_charge.hpp"
#include "pg/ledger/charge_refusal.hpp"
#include "pg/ledger/charge_request.hpp"
#include "pg/ledger/charge_transaction.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/nodes.hpp"

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

// Writes to amounts that are zero.
void write_amounts(ChargeAmounts* amounts, const PrivacyCost& cost) {
  if (cost.epsilon) strlcpy(amounts->epsilon, decimal_text(*cost.epsilon), sizeof amounts->epsilon);
  strlcpy(amounts->delta, decimal_text(cost.delta), sizeof amounts->delta);
  // A rho that is computed from epsilon is rounded up; a rho that the user wrote is charged
  // exactly.
  const char* rho = cost.epsilon ? decimal_text_above(*cost.rho) : decimal_text(*cost.rho);
  strlcpy(amounts->rho, rho, sizeof amounts->rho);
}

// Writes to an item that is zero.
void write_item(ChargeItem* item, const Charge& charge) {
  namestrcpy(&item->function, charge.function);
  strlcpy(item->mechanism, charge.mechanism, sizeof item->mechanism);
  strlcpy(item->neighbours, charge.neighbours, sizeof item->neighbours);
  write_amounts(&item->own, charge.costs.own);
  write_amounts(&item->replacing, charge.costs.replacing);
  item->times = charge.times;
  item->grouping_sets = charge.grouping_sets;
  item->groups = charge.groups;
}

// In the order of their OIDs, each once: all requests lock budgets in the same order.
void write_tables(ChargeRequest* request, const List* tables) {
  List* sorted = list_copy(tables);
  list_sort(sorted, list_oid_cmp);
  list_deduplicate_oid(sorted);
  for (const Oid table : each_oid(sorted)) request->tables[request->table_count++] = table;
}

ChargeRequest* write_request(std::span<const Charge> charges, const List* tables,
                             bool after_first_group) {
  const int item_count = static_cast<int>(charges.size());
  const int query_bytes = query_length();
  auto* request = static_cast<ChargeRequest*>(palloc0(request_size(item_count, query_bytes)));
  request->role = GetOuterUserId();
  namestrcpy(&request->role_name, GetUserNameFromId(GetOuterUserId(), false));
  namestrcpy(&request->session_role_name, GetUserNameFromId(GetSessionUserId(), false));
  write_tables(request, tables);
  request->after_first_group = after_first_group;
  request->item_count = item_count;
  request->query_bytes = query_bytes;
  for (int i = 0; i < item_count; ++i) write_item(&request->items[i], charges[i]);
  if (query_bytes > 0) {
    memcpy(query_of(request), debug_query_string, static_cast<Size>(query_bytes));
  }
  return request;
}

void refuse_too_many(std::span<const Charge> charges) {
  if (charges.size() <= kMaxCharges) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("one SELECT can have at most %d private aggregates, got %d", kMaxCharges,
                         static_cast<int>(charges.size())),
                  errhint("This call was not charged. Split the query into several.")));
}

void refuse_many_tables(const List* tables) {
  if (list_length(tables) <= kMaxTables) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("one SELECT can read at most %d protected tables, got %d", kMaxTables,
                         list_length(tables)),
                  errhint("This call was not charged. Split the query into several.")));
}

// Only a bug can ask for nothing. Nothing may be released for it.
void refuse_empty(std::span<const Charge> charges) {
  bool charges_nothing = charges.empty();
  for (const Charge& charge : charges) charges_nothing = charges_nothing || charge.times < 1;
  if (!charges_nothing) return;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the charge of a private query must not be empty")));
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

int64 charge_budget(std::span<const Charge> charges, const List* tables, bool after_first_group) {
  refuse_empty(charges);
  refuse_too_many(charges);
  refuse_many_tables(tables);
  refuse_restricted_operation();
  if (RecoveryInProgress()) {
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("the privacy budget cannot be charged on a standby server"),
                    errhint("Run private queries on the primary.")));
  }
  ChargeRequest* request = write_request(charges, tables, after_first_group);
  if (!charge_by_resident_worker(request)) charge_by_session_worker(request);
  report_reply(request);
  const int64 first_number = request->first_number;
  pfree(request);
  return first_number;
}

}  // namespace dpquantile
