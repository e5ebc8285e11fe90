#include "pg/ledger/budget_tables.hpp"

#include <span>

#include "pg/server/version.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_subscription.h"
#include "catalog/pg_trigger.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/guc.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

constexpr const char* kSchema = "dpquantile";

// The triggers by which replication workers skip rows and refuse TRUNCATE.
constexpr const char* kProtections[] = {"skip_replicated", "refuse_replicated_truncate"};

bool fires_in_replication(const TriggerDesc* triggers, const char* name) {
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger& trigger = triggers->triggers[i];
    if (strcmp(trigger.tgname, name) != 0) continue;
    return trigger.tgenabled == TRIGGER_FIRES_ON_REPLICA ||
           trigger.tgenabled == TRIGGER_FIRES_ALWAYS;
  }
  return false;
}

bool is_protected(Relation table) {
  for (const char* name : kProtections) {
    if (!fires_in_replication(table->trigdesc, name)) return false;
  }
  return true;
}

// ENABLE TRIGGER ALL, as in a data-only restore with --disable-triggers, turns the protection off.
// That matters only where subscriptions could have changed the budgets.
void refuse_replicated(Relation table) {
  if (is_protected(table) || CountDBSubscriptions(MyDatabaseId) == 0) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a subscription of this database may have changed the table %s.%s",
                         kSchema, RelationGetRelationName(table)),
                  errhint("Check the budgets. Then protect all tables: SELECT "
                          "dpquantile.protect_tables().")));
}

Oid check_and_get_owner(Oid table) {
  Relation relation = table_open(table, NoLock);
  refuse_replicated(relation);
  const Oid owner = relation->rd_rel->relowner;
  table_close(relation, NoLock);
  return owner;
}

// Locks a table of the extension and returns its owner.
Oid lock_table(Oid extension, const char* name) {
  RangeVar* table = makeRangeVar(pstrdup(kSchema), pstrdup(name), -1);
  const Oid oid = RangeVarGetRelid(table, RowExclusiveLock, true);
  if (!OidIsValid(oid) || !OidIsValid(extension) ||
      getExtensionOfObject(RelationRelationId, oid) != extension) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("the extension %s has no table %s.%s", kExtension, kSchema, name)));
  }
  return check_and_get_owner(oid);
}

}  // namespace

Oid lock_budget_tables(bool with_tables) {
  const Oid extension = get_extension_oid(kExtension, true);
  const Oid owner = lock_table(extension, "budget");
  constexpr const char* kOthers[] = {"ledger", "query_text", "table_identity", "table_name",
                                     "failed_read"};
  for (const char* name : std::span(kOthers, with_tables ? 5 : 2)) {
    if (lock_table(extension, name) == owner) continue;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the tables %s.budget and %s.%s have different owners", kSchema, kSchema,
                           name)));
  }
  // Now: ALTER EXTENSION UPDATE cannot change the columns any more.
  require_matching_sql();
  return owner;
}

SavedUser switch_to_user(Oid owner) {
  SavedUser before;
  GetUserIdAndSecContext(&before.user, &before.context);
  SetUserIdAndSecContext(
      owner, before.context | SECURITY_RESTRICTED_OPERATION | SECURITY_LOCAL_USERID_CHANGE);
  before.settings = NewGUCNestLevel();
  return before;
}

void restore_user(const SavedUser& before) {
  AtEOXact_GUC(false, before.settings);
  SetUserIdAndSecContext(before.user, before.context);
}

}  // namespace dpquantile
