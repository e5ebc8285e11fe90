#include "pg/restricted/triggers.hpp"

#include "pg/restricted/denied_functions.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/restricted/system_columns.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

using RelationPermissions = DPQ_RELATION_PERMISSIONS;

struct RowTrigger {
  const char* name;
  Oid relation;
  Oid function;
  Node* condition;
};

// The triggers of views (INSTEAD OF) get no stored rows.
bool gets_stored_rows(int16 type) {
  return TRIGGER_FOR_ROW(type) && !TRIGGER_FOR_INSTEAD(type);
}

Oid owner_of_function(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->proowner;
  ReleaseSysCache(row);
  return owner;
}

// Whether a restricted role may have written the function.
bool is_of_restricted_role(Oid function) {
  const Oid owner = owner_of_function(function);
  if (superuser_arg(owner)) return false;
  for (const Oid role : each_oid(restricted_roles())) {
    if (is_member_of_role_nosuper(role, owner)) return true;
  }
  return false;
}

void refuse(const RowTrigger& trigger) {
  refuse_system_columns_of_trigger(trigger.relation, trigger.condition);
  if (!is_of_restricted_role(trigger.function)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("row trigger %s of table %s is not supported: a restricted role owns its function",
              quote_identifier(trigger.name), get_rel_name(trigger.relation)),
       errdetail_restricted("the system columns of OLD and NEW"),
       errhint("Use a trigger FOR EACH STATEMENT with transition tables, or give the function to a "
               "role that is not restricted.")));
}

// SELECT … FOR UPDATE needs the right to update, but updates no column.
bool writes_rows(const RelationPermissions* relation) {
  if ((relation->requiredPerms & (ACL_INSERT | ACL_DELETE)) != 0) return true;
  return (relation->requiredPerms & ACL_UPDATE) != 0 && !bms_is_empty(relation->updatedCols);
}

void refuse_triggers_of(Oid table) {
  Relation relation = table_open(table, NoLock);
  // Invalidation frees the cached one.
  const TriggerDesc* triggers = CopyTriggerDesc(relation->trigdesc);
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger& trigger = triggers->triggers[i];
    refuse_function(trigger.tgfoid);
    if (!gets_stored_rows(trigger.tgtype)) continue;
    Node* condition =
        trigger.tgqual == nullptr ? nullptr : static_cast<Node*>(stringToNode(trigger.tgqual));
    refuse({trigger.tgname, table, trigger.tgfoid, condition});
  }
  table_close(relation, NoLock);
}

Node* condition_in(HeapTuple row, Relation catalog) {
  bool is_null = false;
  const Datum qual = heap_getattr(row, Anum_pg_trigger_tgqual, RelationGetDescr(catalog), &is_null);
  return is_null ? nullptr : static_cast<Node*>(stringToNode(TextDatumGetCString(qual)));
}

}  // namespace

// The row of the catalog is not visible yet to the command that makes it.
void refuse_new_trigger(Oid trigger) {
  Relation catalog = table_open(TriggerRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
  SysScanDesc scan = systable_beginscan(catalog, TriggerOidIndexId, true, SnapshotSelf, 1, &key);
  const HeapTuple row = systable_getnext(scan);
  if (HeapTupleIsValid(row)) {
    const auto* entry = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(row));
    refuse_function(entry->tgfoid);
    if (gets_stored_rows(entry->tgtype)) {
      refuse({NameStr(entry->tgname), entry->tgrelid, entry->tgfoid, condition_in(row, catalog)});
    }
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

// The table may not be locked yet. PostgreSQL asks again if it has changed when it is.
void refuse_triggers_of_truncate(Oid table) {
  Relation catalog = table_open(TriggerRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(table));
  SysScanDesc scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, nullptr, 1, &key);
  while (const HeapTuple row = systable_getnext(scan)) {
    const auto* entry = reinterpret_cast<Form_pg_trigger>(GETSTRUCT(row));
    if (TRIGGER_FOR_TRUNCATE(entry->tgtype)) refuse_function(entry->tgfoid);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

void refuse_triggers(const List* permissions) {
  for (const auto* relation : each<const RelationPermissions>(permissions)) {
    if (relation->relid < FirstNormalObjectId || !writes_rows(relation)) continue;
    for (const Oid oid :
         each_oid(find_all_inheritors(relation->relid, RowExclusiveLock, nullptr))) {
      refuse_triggers_of(oid);
    }
  }
}

}  // namespace dpquantile
