#pragma once

#include "pg/server/postgres.hpp"

// The owner of the tables that a charge writes to, and acting as that role.
namespace dpquantile {

// Locks these tables until the transaction ends and returns their owner. ereports if a table is
// missing or does not belong to the extension, if the owners differ, if logical replication into
// this database could have changed a table, or if the SQL objects are of another version. After
// DROP EXTENSION somebody else may create tables with these names and hostile triggers; the lock
// prevents that during the charge. with_tables: whether a charge is of rows of protected tables,
// and so the tables of their budgets are written, too.
Oid lock_budget_tables(bool with_tables);

// The user, the security context and the GUC nesting level before switch_to_user().
struct SavedUser {
  Oid user;
  int context;
  int settings;
};

// Acts as the owner in a security-restricted operation. The worker is a superuser, but triggers of
// the tables run as their owner, and settings that they change last until restore_user(). An abort
// of the transaction restores the user, too.
SavedUser switch_to_user(Oid owner);
void restore_user(const SavedUser& before);

}  // namespace dpquantile
