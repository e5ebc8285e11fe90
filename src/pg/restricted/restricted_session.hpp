#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// Whether the session is restricted.
namespace dpquantile {

// Defines the setting dpquantile.restricted, which only superusers may change. Call it once, when
// the library is loaded: before the first statement, or later.
void define_restricted_setting();

// Whether the session is restricted: dpquantile.restricted is on, or the catalog has it on for the
// login role, the session user or the role of SET ROLE. The catalog counts because a client can
// give the setting another value before the library is loaded. It is read again when one of
// these roles changes. True where the catalog cannot be read, and where its value is not a boolean.
// While a table or view is maintained, it is also true for code of others, as soon as any role of
// the database is restricted.
bool session_is_restricted();

// Whether the library is in shared_preload_libraries, so that every process has it.
bool is_preloaded();

// The OIDs of the roles whose sessions in this database the catalog restricts, and of the roles of
// this session if it is restricted, without superusers. Needs a transaction.
List* restricted_roles();

// Whether it has been restricted since it began, so that nothing from before tells exact facts,
// such as an open cursor over statistics or the session of a login role that is not restricted.
// Also true for the login of a superuser, who sees everything.
bool session_began_restricted();

// An errdetail that says why a restricted session is refused something.
int errdetail_restricted(const char* reason);

}  // namespace dpquantile
