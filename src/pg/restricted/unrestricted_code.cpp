#include "pg/restricted/unrestricted_code.hpp"

#include "pg/restricted/restricted_session.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_shdepend.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// Names a restricted role that has the rights of another one, or null. A superuser's rights are no
// restricted role's.
const char* restricted_member(const List* restricted, Oid role) {
  if (role == ACL_ID_PUBLIC) return "every role";
  for (const Oid oid : each_oid(restricted)) {
    if (!is_member_of_role_nosuper(oid, role)) continue;
    return psprintf("restricted role %s", GetUserNameFromId(oid, true));
  }
  return nullptr;
}

// Names a restricted role that owns an object, or to which its ACL gives CREATE; or null.
const char* restricted_creator(const List* restricted, Oid owner, const Acl* grants) {
  const char* creator = restricted_member(restricted, owner);
  if (creator != nullptr || grants == nullptr) return creator;
  const AclItem* items = ACL_DAT(grants);
  for (int i = 0; i < ACL_NUM(grants) && creator == nullptr; ++i) {
    const bool may_create = (ACLITEM_GET_PRIVS(items[i]) & ACL_CREATE) != 0;
    if (may_create) creator = restricted_member(restricted, items[i].ai_grantee);
  }
  return creator;
}

const Acl* grants_in(HeapTuple row, AttrNumber column, Relation catalog) {
  bool is_null = false;
  const Datum grants = heap_getattr(row, column, RelationGetDescr(catalog), &is_null);
  return is_null ? nullptr : DatumGetAclPCopy(grants);
}

const char* code_in_schemas(const List* restricted) {
  Relation catalog = table_open(NamespaceRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
  const char* found = nullptr;
  while (found == nullptr) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const auto* schema = reinterpret_cast<Form_pg_namespace>(GETSTRUCT(row));
    if (isAnyTempNamespace(schema->oid)) continue;
    const char* creator = restricted_creator(restricted, schema->nspowner,
                                             grants_in(row, Anum_pg_namespace_nspacl, catalog));
    if (creator == nullptr) continue;
    found = psprintf("%s may create tables in schema %s", creator,
                     quote_identifier(NameStr(schema->nspname)));
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

// Whether commands of others evaluate what the owner of a relation has written.
bool has_code(const FormData_pg_class* relation) {
  const bool has_rows =
      relation->relkind == RELKIND_RELATION || relation->relkind == RELKIND_PARTITIONED_TABLE ||
      relation->relkind == RELKIND_MATVIEW || relation->relkind == RELKIND_FOREIGN_TABLE;
  return has_rows && relation->relpersistence != RELPERSISTENCE_TEMP;
}

const char* code_in_relation(const char* member, Oid relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) return nullptr;
  const auto* described = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  const char* found = nullptr;
  if (has_code(described)) {
    const char* schema = get_namespace_name(described->relnamespace);
    found = psprintf("%s owns table %s", member,
                     quote_qualified_identifier(schema, NameStr(described->relname)));
  }
  ReleaseSysCache(row);
  return found;
}

// Owners are among the shared dependencies of each database, except the first superuser.
// `describe` makes a clause of who owns an object, or null if the object does not matter.
template <typename Describe>
const char* code_of_owners(const List* restricted, Oid database, Oid catalog_of_objects,
                           Describe describe) {
  Relation catalog = table_open(SharedDependRelationId, AccessShareLock);
  ScanKeyData key[2];
  ScanKeyInit(&key[0], Anum_pg_shdepend_dbid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(database));
  ScanKeyInit(&key[1], Anum_pg_shdepend_classid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(catalog_of_objects));
  SysScanDesc scan =
      systable_beginscan(catalog, SharedDependDependerIndexId, true, nullptr, 2, key);
  const char* found = nullptr;
  Oid harmless = InvalidOid;  // the owner of the object before
  while (found == nullptr) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const auto* entry = reinterpret_cast<Form_pg_shdepend>(GETSTRUCT(row));
    if (entry->deptype != SHARED_DEPENDENCY_OWNER || entry->refobjid == harmless) continue;
    const char* member = restricted_member(restricted, entry->refobjid);
    if (member == nullptr) {
      harmless = entry->refobjid;
      continue;
    }
    found = describe(member, entry->objid);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

const char* code_in_this_database(const List* restricted) {
  if (const char* found = code_in_schemas(restricted)) return found;
  return code_of_owners(restricted, MyDatabaseId, RelationRelationId, code_in_relation);
}

// The catalogs of another database cannot be read here. So each relation there counts.
const char* code_in_other_database(const List* restricted, Oid database, const char* name) {
  const char* found = code_of_owners(
      restricted, database, NamespaceRelationId, [name](const char* member, Oid) -> const char* {
        return psprintf("%s may create tables in a schema of database %s", member, name);
      });
  if (found != nullptr) return found;
  return code_of_owners(restricted, database, RelationRelationId,
                        [name](const char* member, Oid) -> const char* {
                          return psprintf("%s owns a relation in database %s", member, name);
                        });
}

const char* code_in_database(const List* restricted, Relation catalog, HeapTuple row) {
  const auto* database = reinterpret_cast<Form_pg_database>(GETSTRUCT(row));
  const bool is_this = database->oid == MyDatabaseId;
  const char* name = quote_identifier(NameStr(database->datname));
  const char* creator = restricted_creator(restricted, database->datdba,
                                           grants_in(row, Anum_pg_database_datacl, catalog));
  if (creator != nullptr) {
    return psprintf("%s may create schemas in %s", creator,
                    is_this ? "this database" : psprintf("database %s", name));
  }
  return is_this ? code_in_this_database(restricted)
                 : code_in_other_database(restricted, database->oid, name);
}

// An autovacuum worker of any database reads the counters of all.
const char* code_in_databases(const List* restricted) {
  Relation catalog = table_open(DatabaseRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
  const char* found = nullptr;
  while (found == nullptr) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    found = code_in_database(restricted, catalog, row);
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

}  // namespace

const char* unrestricted_code() {
  if (is_preloaded()) return nullptr;
  const List* restricted = restricted_roles();
  if (restricted == NIL) return nullptr;
  return code_in_databases(restricted);
}

}  // namespace dpquantile

using namespace dpquantile;

// () returns text: which restricted role's code may run where nothing restricts it, or NULL.
DPQ_FUNCTION(dpq_unrestricted_code) {
  const char* code = unrestricted_code();
  if (code == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(code));
}
