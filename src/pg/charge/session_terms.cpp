#include "pg/charge/session_terms.hpp"

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "pg/charge/background_workers.hpp"

namespace dpquantile {

namespace {

constexpr const char* kSchema = "dpquantile";

// As long as a charge waits for a lock. Longer waits would hang the sessions of all analysts.
constexpr int kLockWaitMilliseconds = 2000;
constexpr long kPauseMilliseconds = 20;

void lock_budget_table(Oid table) {
  const Deadline deadline(kLockWaitMilliseconds);
  while (!ConditionalLockRelationOid(table, AccessShareLock)) {
    if (deadline.is_over()) {
      ereport(ERROR,
              (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
               errmsg("the privacy budget cannot be read: it stays locked"),
               errhint("This call was not charged. Another session has locked the budget; end it "
                       "or try again.")));
    }
    sleep_until_woken(kPauseMilliseconds);
  }
}

// Whether the column of the row has this text. An older version of the schema may lack the column.
bool column_is(Relation table, HeapTuple row, const char* name, const char* expected) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  if (column == InvalidAttrNumber) return false;
  bool is_null = true;
  const Datum value = heap_getattr(row, column, RelationGetDescr(table), &is_null);
  return !is_null && strcmp(TextDatumGetCString(value), expected) == 0;
}

}  // namespace

// It reads the table by its index, without permission checks, in a snapshot of its own: the
// transaction's may be older than the grant.
BudgetTerms session_terms() {
  BudgetTerms terms;
  const Oid schema = get_namespace_oid(kSchema, true);
  if (!OidIsValid(schema)) return terms;
  const Oid table_oid = get_relname_relid("budget", schema);
  if (!OidIsValid(table_oid)) return terms;
  lock_budget_table(table_oid);
  Relation table = table_open(table_oid, NoLock);
  const AttrNumber role = get_attnum(table_oid, "role");
  if (role != InvalidAttrNumber) {
    const Oid index = get_relname_relid("budget_pkey", schema);
    ScanKeyData key;
    ScanKeyInit(&key, role, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(GetOuterUserId()));
    SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
    const HeapTuple row = systable_getnext(scan);
    if (HeapTupleIsValid(row)) {
      terms.in_rho = column_is(table, row, "accountant", "zcdp");
      terms.replaces = column_is(table, row, "neighbours", "replace");
    }
    systable_endscan(scan);
  }
  table_close(table, AccessShareLock);
  return terms;
}

}  // namespace dpquantile
