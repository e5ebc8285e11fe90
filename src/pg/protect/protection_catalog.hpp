#pragma once

#include <optional>

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/attnum.h"
}

// Which relations are protected, and who may ask private queries about them: the tables
// dpquantile.protected_table and dpquantile.private_grant, kept in a cache of the backend. The
// cache follows invalidations of these tables. Without the extension, or without its tables, no
// relation is protected and nobody borrows a right.
namespace dpquantile {

struct ProtectedRelation {
  Oid relation;
  // The column that names the user all of whose rows are protected; 0 if each row is protected.
  AttrNumber user_column;
  NameData user_column_name;
};

// Makes the cache follow the catalog. Call it once, when the library is loaded.
void install_protection_catalog();

// Whether the database has a protected relation. Needs a transaction, as the functions below do.
bool any_protected_relation();

// Null if the relation is not protected. Valid until the next call of one of these functions.
const ProtectedRelation* find_protected_relation(Oid relation);

// The smallest epsilon of a charge that the user's grant on the relation allows, or none without a
// valid grant. A grant is valid for the members of a role, if the role still exists under the name
// to which the owner gave it, and if the column that names the user is still the same. Of several
// grants the one with the smallest epsilon counts.
std::optional<double> granted_epsilon(Oid relation, Oid user);

}  // namespace dpquantile
