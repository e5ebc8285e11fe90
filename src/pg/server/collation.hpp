#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
// utils/pg_locale.h has it, but needs the headers of ICU.
struct pg_locale_struct* pg_newlocale_from_collation(Oid collation);
}

namespace dpquantile {

// Opens a collation as PostgreSQL does for the first comparison by it: warns if the system has
// another version of it than the database, and ereports if the system lacks its locale. It stays
// open for the session.
inline void open_collation(Oid collation) {
  (void)pg_newlocale_from_collation(collation);
}

}  // namespace dpquantile
