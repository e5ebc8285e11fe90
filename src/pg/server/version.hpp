#pragma once

#include "pg/server/postgres.hpp"

// The version of this library, and whether the extension's SQL objects in the current database are
// of the same version. They differ after an upgrade that is half done: the new files are installed
// and ALTER EXTENSION UPDATE was not run, or it was run and a process still has the old library.
namespace dpquantile {

// The name of the extension.
inline constexpr const char* kExtension = "dpquantile";

inline constexpr int kVersionBytes = 24;

// The default_version of the control file at the time of the build.
extern const char kLibraryVersion[kVersionBytes];

// A hash of kLibraryVersion, not 0. Its 15 bits may be the same for two versions.
extern const uint16 kLibraryMark;

// ereports unless the SQL objects are of this library's version. Reads pg_extension each time: any
// session may run ALTER EXTENSION UPDATE at any time. Needs a transaction.
void require_matching_sql();

// The hint of require_matching_sql(), or null if the versions are the same.
char* advice_on_versions();

}  // namespace dpquantile
