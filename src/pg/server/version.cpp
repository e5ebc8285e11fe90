#include "pg/server/version.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
}

namespace dpquantile {

namespace {

// FNV-1a, folded to 16 bits.
uint16 mark_of(const char* version) {
  uint32 hash = 2166136261u;
  for (; *version != '\0'; ++version) hash = (hash ^ static_cast<uint8>(*version)) * 16777619u;
  return static_cast<uint16>((hash >> 16) ^ hash) | 1;
}

// Null if the extension does not exist in this database.
char* sql_version() {
  Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
              CStringGetDatum(kExtension));
  SysScanDesc scan = systable_beginscan(extensions, ExtensionNameIndexId, true, nullptr, 1, &key);
  char* version = nullptr;
  if (HeapTuple row = systable_getnext(scan); HeapTupleIsValid(row)) {
    bool is_null;
    const Datum stored =
        heap_getattr(row, Anum_pg_extension_extversion, RelationGetDescr(extensions), &is_null);
    version = TextDatumGetCString(stored);
  }
  systable_endscan(scan);
  table_close(extensions, AccessShareLock);
  return version;
}

// Compares the numbers between the points: 0.9.0 is older than 0.10.0.
bool is_older(const char* version, const char* than) {
  for (;; ++version, ++than) {
    char* rest;
    char* rest_of_other;
    const long number = strtol(version, &rest, 10);
    const long other = strtol(than, &rest_of_other, 10);
    if (number != other) return number < other;
    if (*rest != '.' || *rest_of_other != '.') return false;
    version = rest;
    than = rest_of_other;
  }
}

char* advice_on(const char* version) {
  return is_older(version, kLibraryVersion)
             ? psprintf("Run ALTER EXTENSION %s UPDATE in this database.", kExtension)
             : psprintf(
                   "Reconnect. If the server preloads the library, restart it. The installed "
                   "library must be version %s.",
                   version);
}

[[noreturn]] void refuse(const char* version) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s's SQL objects are version %s, but its library is version %s",
                         kExtension, version, kLibraryVersion),
                  errhint("%s", advice_on(version))));
}

[[noreturn]] void refuse_missing() {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                  errmsg("the extension %s does not exist in this database", kExtension),
                  errhint("Run CREATE EXTENSION %s.", kExtension)));
}

// Null if the SQL objects are of this library's version.
char* other_sql_version() {
  char* version = sql_version();
  if (version == nullptr) refuse_missing();
  if (strcmp(version, kLibraryVersion) != 0) return version;
  pfree(version);
  return nullptr;
}

}  // namespace

const uint16 kLibraryMark = mark_of(kLibraryVersion);

void require_matching_sql() {
  if (const char* version = other_sql_version(); version != nullptr) refuse(version);
}

char* advice_on_versions() {
  const char* version = other_sql_version();
  return version == nullptr ? nullptr : advice_on(version);
}

}  // namespace dpquantile
