#include "pg/distributed/citus_catalog.hpp"

#include <cstring>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_unknown_version(const char* what) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("this version of Citus is not supported"),
           errdetail("There is no %s in schema pg_catalog.", what),
           errhint("The guide docs/citus.md names the versions that are.")));
}

Oid catalog_named(const char* name) {
  const Oid catalog = get_relname_relid(name, PG_CATALOG_NAMESPACE);
  if (!OidIsValid(catalog)) refuse_unknown_version(name);
  return catalog;
}

}  // namespace

// Citus refuses to be loaded in any other way.
bool server_has_citus() {
  return shared_preload_libraries_string != nullptr &&
         strstr(shared_preload_libraries_string, "citus") != nullptr;
}

bool database_has_citus() {
  return OidIsValid(get_extension_oid("citus", true));
}

bool is_citus_table(Oid relation) {
  Relation tables = table_open(catalog_named("pg_dist_partition"), AccessShareLock);
  ScanKeyData key;
  constexpr AttrNumber kTable = 1;
  ScanKeyInit(&key, kTable, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
  SysScanDesc scan = systable_beginscan(
      tables, catalog_named("pg_dist_partition_logical_relid_index"), true, nullptr, 1, &key);
  const bool found = HeapTupleIsValid(systable_getnext(scan));
  systable_endscan(scan);
  table_close(tables, AccessShareLock);
  return found;
}

bool is_shard(Oid relation) {
  Oid argument = REGCLASSOID;
  List* name = list_make2(makeString(pstrdup("pg_catalog")),
                          makeString(pstrdup("relation_is_a_known_shard")));
  const Oid function = LookupFuncName(name, 1, &argument, true);
  if (!OidIsValid(function)) refuse_unknown_version("relation_is_a_known_shard");
  return DatumGetBool(OidFunctionCall1(function, ObjectIdGetDatum(relation)));
}

// The coordinator is group 0.
bool is_coordinator() {
  Relation groups = table_open(catalog_named("pg_dist_local_group"), AccessShareLock);
  SysScanDesc scan = systable_beginscan(groups, InvalidOid, false, nullptr, 0, nullptr);
  bool found = false;
  if (HeapTuple row = systable_getnext(scan); HeapTupleIsValid(row)) {
    bool is_null;
    const Datum group = heap_getattr(row, 1, RelationGetDescr(groups), &is_null);
    found = !is_null && DatumGetInt32(group) == 0;
  }
  systable_endscan(scan);
  table_close(groups, AccessShareLock);
  return found;
}

bool is_session_of_citus() {
  constexpr const char* kNames[] = {
      "citus_internal gpid=", "citus_rebalancer gpid=", "citus_run_command gpid="};
  if (application_name == nullptr) return false;
  for (const char* name : kNames) {
    if (strncmp(application_name, name, strlen(name)) == 0) return true;
  }
  return false;
}

}  // namespace dpquantile
