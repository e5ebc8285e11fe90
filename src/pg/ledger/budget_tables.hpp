#pragma once

#include "pg/server/postgres.hpp"

// Whose the budget tables are, and acting as that role.
namespace dpquantile {

// Returns the owner of the budget tables; ereports unless they have one and are the extension's.
// After DROP EXTENSION others may have made tables of these names, with triggers. They stay locked
// against that until the transaction ends.
Oid lock_budget_tables();

// The worker is a superuser. What the tables' owner may have hung on them, such as triggers, runs
// as that owner, and what it sets lasts no longer. An abort of the transaction undoes it, too.
struct ActingAs {
  Oid user;
  int context;
  int settings;
};

ActingAs act_as(Oid owner);
void act_as_before(const ActingAs& before);

}  // namespace dpquantile
