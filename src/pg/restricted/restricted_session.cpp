#include "pg/restricted/restricted_session.hpp"

#include <initializer_list>

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

constexpr char kSetting[] = "dpquantile.restricted";

bool setting_is_on = false;
bool loaded_at_start = false;
bool preloaded = false;

struct SessionRoles {
  Oid login;
  Oid session;
  Oid outer;  // of SET ROLE, never the owner of a SECURITY DEFINER function
  bool runs_code_of_others;

  bool operator==(const SessionRoles&) const = default;
};

SessionRoles decided_roles{};
bool decision = true;

// "dpquantile.restricted=on". A value that is not a boolean counts as on.
bool turns_on(const char* setting) {
  constexpr size_t kLength = sizeof kSetting - 1;
  if (pg_strncasecmp(setting, kSetting, kLength) != 0 || setting[kLength] != '=') return false;
  bool value = true;
  return !parse_bool(setting + kLength + 1, &value) || value;
}

bool any_turns_on(ArrayType* settings) {
  Datum* texts;
  int count;
  deconstruct_array(settings, TEXTOID, -1, false, TYPALIGN_INT, &texts, nullptr, &count);
  for (int i = 0; i < count; ++i) {
    if (turns_on(TextDatumGetCString(texts[i]))) return true;
  }
  return false;
}

bool row_restricts(Relation catalog, HeapTuple row) {
  bool is_null = false;
  const Datum settings =
      heap_getattr(row, Anum_pg_db_role_setting_setconfig, RelationGetDescr(catalog), &is_null);
  return !is_null && any_turns_on(DatumGetArrayTypeP(settings));
}

// What ALTER ROLE … [IN DATABASE …] SET has stored for the role; database 0: for all.
bool catalog_restricts(Relation catalog, Oid database, Oid role) {
  ScanKeyData key[2];
  ScanKeyInit(&key[0], Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(database));
  ScanKeyInit(&key[1], Anum_pg_db_role_setting_setrole, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(role));
  SysScanDesc scan =
      systable_beginscan(catalog, DbRoleSettingDatidRolidIndexId, true, nullptr, 2, key);
  const HeapTuple row = systable_getnext(scan);
  const bool restricts = HeapTupleIsValid(row) && row_restricts(catalog, row);
  systable_endscan(scan);
  return restricts;
}

// Whether a role of this database is restricted.
bool restricts_any(Relation catalog) {
  SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
  bool restricts = false;
  while (!restricts) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const Oid database = reinterpret_cast<Form_pg_db_role_setting>(GETSTRUCT(row))->setdatabase;
    restricts = (database == InvalidOid || database == MyDatabaseId) && row_restricts(catalog, row);
  }
  systable_endscan(scan);
  return restricts;
}

bool catalog_restricts(const SessionRoles& roles) {
  Relation catalog = table_open(DbRoleSettingRelationId, AccessShareLock);
  bool restricts = false;
  for (const Oid role : {roles.login, roles.session, roles.outer}) {
    for (const Oid database : {InvalidOid, MyDatabaseId}) {
      restricts = restricts || catalog_restricts(catalog, database, role);
    }
  }
  restricts = restricts || (roles.runs_code_of_others && restricts_any(catalog));
  table_close(catalog, AccessShareLock);
  return restricts;
}

// Whether PostgreSQL maintains a table or view of somebody else, for example by ANALYZE, or calls a
// SECURITY DEFINER function while it maintains one. Such code may be a restricted role's, or answer
// one. The owner's code alone is not, if the owner is a superuser.
bool runs_code_of_others() {
  if (!InSecurityRestrictedOperation()) return false;
  const Oid user = GetUserId();
  return InLocalUserIdChange() || (user != GetOuterUserId() && !superuser_arg(user));
}

}  // namespace

void define_restricted_setting() {
  preloaded = process_shared_preload_libraries_in_progress;
  loaded_at_start = process_shared_preload_libraries_in_progress || debug_query_string == nullptr;
  DefineCustomBoolVariable(kSetting, "Restricts the session (see dp_restrict_role).",
                           "Functions and statements that tell exact facts about data are refused.",
                           &setting_is_on, false, PGC_SUSET, 0, nullptr, nullptr, nullptr);
}

bool session_is_restricted() {
  if (setting_is_on) return true;
  const SessionRoles roles = {GetAuthenticatedUserId(), GetSessionUserId(), GetOuterUserId(),
                              runs_code_of_others()};
  if (roles == decided_roles) return decision;
  if (!IsTransactionState()) return true;
  decision = catalog_restricts(roles);
  decided_roles = roles;
  return decision;
}

bool is_preloaded() {
  return preloaded;
}

List* restricted_roles() {
  List* roles = NIL;
  for (const Oid role : {GetAuthenticatedUserId(), GetSessionUserId(), GetOuterUserId()}) {
    const bool is_restricted = session_is_restricted() && !superuser_arg(role);
    if (is_restricted) roles = list_append_unique_oid(roles, role);
  }
  Relation catalog = table_open(DbRoleSettingRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
  while (true) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const auto* setting = reinterpret_cast<Form_pg_db_role_setting>(GETSTRUCT(row));
    const bool is_here = setting->setdatabase == InvalidOid || setting->setdatabase == MyDatabaseId;
    if (is_here && OidIsValid(setting->setrole) && row_restricts(catalog, row)) {
      roles = list_append_unique_oid(roles, setting->setrole);
    }
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return roles;
}

// The setting is on if dp_restrict_role had stored it for the login role when the session began.
bool session_began_restricted() {
  return (setting_is_on && loaded_at_start) || superuser_arg(GetAuthenticatedUserId());
}

int errdetail_restricted(const char* reason) {
  return errdetail(
      "The session is restricted (dp_restrict_role), and this would reveal exact facts about data: "
      "%s.",
      reason);
}

}  // namespace dpquantile
