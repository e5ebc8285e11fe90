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

// What a row says of the terms.
struct RowTerms {
  bool is_general;
  bool is_revoked;
  bool in_rho;
  bool replaces;
};

bool is_null_in(Relation table, HeapTuple row, const char* name) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  bool is_null = true;
  if (column != InvalidAttrNumber) {
    heap_getattr(row, column, RelationGetDescr(table), &is_null);
  }
  return is_null;
}

bool is_revoked(Relation table, HeapTuple row) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), "revoked");
  if (column == InvalidAttrNumber) return false;
  bool is_null = true;
  const Datum value = heap_getattr(row, column, RelationGetDescr(table), &is_null);
  return !is_null && DatumGetBool(value);
}

// The rows of the role that this session spends. It reads the table by its index, without
// permission checks, in a snapshot of its own: the transaction's may be older than the grant. An
// older version of the schema may lack a column or the index.
List* rows_of_role() {
  List* rows = NIL;
  const Oid schema = get_namespace_oid(kSchema, true);
  if (!OidIsValid(schema)) return rows;
  const Oid table_oid = get_relname_relid("budget", schema);
  if (!OidIsValid(table_oid)) return rows;
  lock_budget_table(table_oid);
  Relation table = table_open(table_oid, NoLock);
  const AttrNumber role = get_attnum(table_oid, "role");
  if (role != InvalidAttrNumber) {
    const Oid index = get_relname_relid("budget_of_role", schema);
    ScanKeyData key;
    ScanKeyInit(&key, role, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(GetOuterUserId()));
    SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
    for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
      auto* terms = static_cast<RowTerms*>(palloc(sizeof(RowTerms)));
      *terms = {is_null_in(table, row, "table_id"), is_revoked(table, row),
                column_is(table, row, "accountant", "zcdp"),
                column_is(table, row, "neighbours", "replace")};
      rows = lappend(rows, terms);
    }
    systable_endscan(scan);
  }
  table_close(table, AccessShareLock);
  return rows;
}

const RowTerms* general_terms(const List* rows) {
  const ListCell* cell;
  foreach (cell, rows) {
    const auto* row = static_cast<const RowTerms*>(lfirst(cell));
    if (row->is_general) return row;
  }
  return nullptr;
}

// Whether all budgets for tables add rhos, and there is one.
bool tables_in_rho(const List* rows) {
  bool in_rho = false;
  const ListCell* cell;
  foreach (cell, rows) {
    const auto* row = static_cast<const RowTerms*>(lfirst(cell));
    if (row->is_general || row->is_revoked) continue;
    if (!row->in_rho) return false;
    in_rho = true;
  }
  return in_rho;
}

}  // namespace

BudgetTerms session_terms() {
  BudgetTerms terms;
  const List* rows = rows_of_role();
  const RowTerms* general = general_terms(rows);
  if (general == nullptr) return terms;
  terms.in_rho = general->is_revoked ? tables_in_rho(rows) : general->in_rho;
  terms.replaces = general->replaces;
  return terms;
}

}  // namespace dpquantile
