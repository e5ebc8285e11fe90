#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Rewritten queries call functions of schema dpquantile, which is closed to all roles but its
// owner.
namespace dpquantile {

// The function of schema dpquantile with this name and these types of arguments, whatever rights
// the user has on the schema. InvalidOid if there is none.
Oid own_function(const char* name, const oidvector* arguments);

// The first arguments of such a call: the OID of the function of PostgreSQL in whose place it is,
// and '{}' of an array of its answer's type.
Const* oid_constant(Oid oid);
Const* empty_array(Oid type);

}  // namespace dpquantile
