#pragma once

#include "pg/server/postgres.hpp"

// The names of roles with budgets. What was spent under one name of a role counts for each later
// role of any of its names, so every name must be known, also one under which nothing is charged.
// Roles belong to all databases: PostgreSQL has no event triggers for them.
namespace dpquantile {

// Notes the names of roles with budgets in this database before a role is dropped, and before and
// after it is renamed. Call it once, when the library is loaded.
void install_role_names();

// Notes them in a transaction of its own, in a worker: other databases may have renamed roles. An
// error leaves what is noted as it is.
void note_role_names_now();

}  // namespace dpquantile
