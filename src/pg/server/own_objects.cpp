#include "pg/server/own_objects.hpp"

#include <initializer_list>

#include "pg/server/version.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

struct Object {
  Oid catalog;
  Oid object;
};

// Members only: another object may become one (ALTER EXTENSION ADD), and PostgreSQL tells nobody.
// When a member is dropped or replaced, or moves to another schema with its extension, it does.
HTAB* members = nullptr;
Oid schema = InvalidOid;
uint64 changes = 0;

void forget(Datum /*unused*/, DPQ_SYSCACHE /*cache*/, uint32 /*hash*/) {
  ++changes;
  if (members != nullptr) hash_destroy(members);
  members = nullptr;
  schema = InvalidOid;
}

bool tells_of_changes(Oid catalog) {
  return catalog == ProcedureRelationId || catalog == TypeRelationId ||
         catalog == OperatorRelationId;
}

void keep(const Object& member) {
  if (members == nullptr) {
    HASHCTL control = {};
    control.keysize = control.entrysize = sizeof(Object);
    members =
        hash_create("dpquantile objects of the extension", 64, &control, HASH_ELEM | HASH_BLOBS);
  }
  hash_search(members, &member, HASH_ENTER, nullptr);
}

bool is_member(const Object& object) {
  const Oid extension = getExtensionOfObject(object.catalog, object.object);
  return OidIsValid(extension) && extension == get_extension_oid(kExtension, true);
}

Oid read_schema() {
  Relation table = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
              CStringGetDatum(kExtension));
  SysScanDesc scan = systable_beginscan(table, ExtensionNameIndexId, true, nullptr, 1, &key);
  HeapTuple row = systable_getnext(scan);
  const Oid found = HeapTupleIsValid(row)
                        ? reinterpret_cast<Form_pg_extension>(GETSTRUCT(row))->extnamespace
                        : InvalidOid;
  systable_endscan(scan);
  table_close(table, AccessShareLock);
  return found;
}

}  // namespace

void install_own_objects() {
  for (const SysCacheIdentifier cache : {PROCOID, TYPEOID, OPEROID})
    CacheRegisterSyscacheCallback(cache, forget, 0);
}

bool is_own_object(Oid catalog, Oid object) {
  const Object searched = {catalog, object};
  if (members != nullptr && hash_search(members, &searched, HASH_FIND, nullptr) != nullptr) {
    return true;
  }
  const uint64 before = changes;
  if (!is_member(searched)) return false;
  if (tells_of_changes(catalog) && changes == before) keep(searched);
  return true;
}

Oid schema_of_extension() {
  if (OidIsValid(schema)) return schema;
  const uint64 before = changes;
  const Oid found = read_schema();
  if (changes == before) schema = found;
  return found;
}

}  // namespace dpquantile
