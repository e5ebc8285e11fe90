#include "pg/ledger/failed_reads.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// The columns of the table, in its order.
enum Column { kRelation, kGrantee, kGranteeOid, kFailedAt, kSqlstate, kCloses, kColumns };

constexpr int kTries = 100;
constexpr long kPauseMicroseconds = 20000;

// A worker has locked the table before. A session that ends cannot be cancelled, and must not wait
// for long.
void lock_for_some_time(Oid table) {
  for (int i = 0; i < kTries; ++i) {
    if (ConditionalLockRelationOid(table, RowExclusiveLock)) return;
    pg_usleep(kPauseMicroseconds);
  }
  ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                  errmsg("the table dpquantile.failed_read stays locked")));
}

// Null if there is no extension any more, and so no private access.
Relation open_failed_reads() {
  const Oid schema = get_namespace_oid("dpquantile", true);
  if (!OidIsValid(schema)) return nullptr;
  const Oid oid = get_relname_relid("failed_read", schema);
  if (OidIsValid(oid)) lock_for_some_time(oid);
  Relation table = OidIsValid(oid) ? try_table_open(oid, NoLock) : nullptr;
  if (table == nullptr || RelationGetDescr(table)->natts != kColumns) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("there is no table dpquantile.failed_read of this version")));
  }
  return table;
}

}  // namespace

void note_failed_read(Oid role, std::span<const Oid> relations, const FailedRead& failure) {
  const char* grantee = GetUserNameFromId(role, true);
  Relation table = grantee == nullptr ? nullptr : open_failed_reads();
  if (table == nullptr) return;
  NameData name;
  namestrcpy(&name, grantee);
  Datum values[kColumns];
  bool nulls[kColumns] = {};
  values[kGrantee] = NameGetDatum(&name);
  values[kGranteeOid] = ObjectIdGetDatum(role);
  values[kFailedAt] = TimestampTzGetDatum(GetCurrentTimestamp());
  nulls[kSqlstate] = failure.sqlstate == 0;
  values[kSqlstate] =
      nulls[kSqlstate] ? Datum{0} : CStringGetTextDatum(unpack_sql_state(failure.sqlstate));
  values[kCloses] = BoolGetDatum(failure.closes);
  for (const Oid relation : relations) {
    values[kRelation] = ObjectIdGetDatum(relation);
    HeapTuple row = heap_form_tuple(RelationGetDescr(table), values, nulls);
    CatalogTupleInsert(table, row);
    heap_freetuple(row);
  }
  CacheInvalidateRelcache(table);
  table_close(table, NoLock);
}

}  // namespace dpquantile
