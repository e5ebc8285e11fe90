#include "pg/aggregate/user_key.hpp"

extern "C" {
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
}

namespace dpquantile {

namespace {

constexpr AttrNumber kKeyColumn = 1;

// What was read last, and the start of the transaction that read it.
SipKey last_key{};
TimestampTz read_in = 0;

[[noreturn]] void refuse_table() {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the table dpquantile.user_key must hold one key of 16 bytes"),
           errhint("CREATE EXTENSION dpquantile makes this key. Restore the row, or drop and "
                   "create the extension again.")));
}

Oid key_table() {
  const Oid schema = get_namespace_oid("dpquantile", true);
  const Oid table = OidIsValid(schema) ? get_relname_relid("user_key", schema) : InvalidOid;
  if (!OidIsValid(table) || get_rel_relkind(table) != RELKIND_RELATION) refuse_table();
  return table;
}

SipKey key_of(TupleTableSlot* slot) {
  bool is_null;
  const Datum stored = slot_getattr(slot, kKeyColumn, &is_null);
  SipKey key;
  const bytea* bytes = is_null ? nullptr : DatumGetByteaPP(stored);
  if (bytes == nullptr || VARSIZE_ANY_EXHDR(bytes) != key.size()) refuse_table();
  memcpy(key.data(), VARDATA_ANY(bytes), key.size());
  return key;
}

SipKey read_key() {
  Relation table = table_open(key_table(), AccessShareLock);
  TupleTableSlot* slot = table_slot_create(table, nullptr);
  TableScanDesc scan = DPQ_SCAN_TABLE(table, GetActiveSnapshot());
  SipKey key{};
  int rows = 0;
  while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    key = key_of(slot);
    ++rows;
  }
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
  table_close(table, AccessShareLock);
  if (rows != 1) refuse_table();
  return key;
}

}  // namespace

void read_user_key() {
  last_key = read_key();
  read_in = GetCurrentTransactionStartTimestamp();
}

SipKey user_key() {
  if (read_in != GetCurrentTransactionStartTimestamp()) read_user_key();
  return last_key;
}

}  // namespace dpquantile
