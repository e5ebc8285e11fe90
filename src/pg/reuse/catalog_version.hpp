#pragma once

#include "pg/reuse/fields.hpp"

extern "C" {
#include "utils/syscache.h"
}

// Which of the objects that have had an OID one after the other is meant. PostgreSQL may give the
// OID of a dropped object to a new one, and who makes many objects can wait for it.
namespace dpquantile {

// The transaction that wrote the row of an object that a syscache has by its OID; 0 without a row.
// What changes the row gives the object a new version: ALTER ROLE for a role, another name or owner
// for a type.
uint64 version_of(SysCacheIdentifier cache, Oid object);

// The object and its version.
void add_object(Fields* fields, SysCacheIdentifier cache, Oid object);

// A relation and the version of its row type: VACUUM, ANALYZE and TRUNCATE change rows of other
// catalogs, but not this one.
void add_relation(Fields* fields, Oid relation);

}  // namespace dpquantile
