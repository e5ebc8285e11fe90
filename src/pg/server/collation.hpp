#pragma once

#include "pg/server/postgres.hpp"

// Collations, without the headers of ICU, which utils/pg_locale.h needs.
namespace dpquantile {

// Opens a collation as PostgreSQL does for the first comparison by it: warns if the system has
// another version of it than the database, and ereports if the system lacks its locale. It stays
// open for the session.
void open_collation(Oid collation);

// Whether upper case and names of months by it are found by ICU, or by PostgreSQL's own tables of
// Unicode, and not by the operating system.
bool is_of_unicode(Oid collation);

// Whether a comparison by it may put the marks of a letter into Unicode's order first. ICU does so
// by insertion, which takes as many steps as the number of marks squared. Opens the collation.
bool reorders_marks(Oid collation);

}  // namespace dpquantile
