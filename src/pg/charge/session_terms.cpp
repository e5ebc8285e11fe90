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

// A column of the row, null if an older version of the schema lacks it.
Datum value_of(Relation table, HeapTuple row, const char* name, bool* is_null) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  *is_null = true;
  if (column == InvalidAttrNumber) return 0;
  return heap_getattr(row, column, RelationGetDescr(table), is_null);
}

bool column_is(Relation table, HeapTuple row, const char* name, const char* expected) {
  bool is_null;
  const Datum value = value_of(table, row, name, &is_null);
  return !is_null && strcmp(TextDatumGetCString(value), expected) == 0;
}

bool is_revoked(Relation table, HeapTuple row) {
  bool is_null;
  const Datum value = value_of(table, row, "revoked", &is_null);
  return !is_null && DatumGetBool(value);
}

bool is_general(Relation table, HeapTuple row) {
  bool is_null;
  value_of(table, row, "table_id", &is_null);
  return is_null;
}

// What the budgets of a role say of the terms.
struct TermsOfRole {
  bool is_revoked = false;  // these three: of the general budget
  bool in_rho = false;
  bool replaces = false;
  int tables = 0;  // budgets for tables that are not revoked
  int tables_in_rho = 0;
};

void add_row(Relation table, HeapTuple row, TermsOfRole* terms) {
  const bool revoked = is_revoked(table, row);
  const bool in_rho = column_is(table, row, "accountant", "zcdp");
  if (is_general(table, row)) {
    terms->is_revoked = revoked;
    terms->in_rho = in_rho;
    terms->replaces = column_is(table, row, "neighbours", "replace");
  } else if (!revoked) {
    ++terms->tables;
    terms->tables_in_rho += in_rho ? 1 : 0;
  }
}

// The role is that which this session spends. It reads the table by its index, without permission
// checks, in a snapshot of its own: the transaction's may be older than the grant. An older version
// of the schema may lack the index.
TermsOfRole terms_of_role() {
  TermsOfRole terms;
  const Oid schema = get_namespace_oid(kSchema, true);
  if (!OidIsValid(schema)) return terms;
  const Oid table_oid = get_relname_relid("budget", schema);
  if (!OidIsValid(table_oid)) return terms;
  lock_budget_table(table_oid);
  Relation table = table_open(table_oid, NoLock);
  const AttrNumber role = get_attnum(table_oid, "role");
  if (role != InvalidAttrNumber) {
    const Oid index = get_relname_relid("budget_of_role", schema);
    ScanKeyData key;
    ScanKeyInit(&key, role, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(GetOuterUserId()));
    SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
    for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
      add_row(table, row, &terms);
    }
    systable_endscan(scan);
  }
  table_close(table, AccessShareLock);
  return terms;
}

}  // namespace

BudgetTerms session_terms() {
  const TermsOfRole role = terms_of_role();
  const bool tables_in_rho = role.tables > 0 && role.tables_in_rho == role.tables;
  BudgetTerms terms;
  terms.in_rho = role.is_revoked ? tables_in_rho : role.in_rho;
  terms.replaces = role.replaces;
  return terms;
}

}  // namespace dpquantile
