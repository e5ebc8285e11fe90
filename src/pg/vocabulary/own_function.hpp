#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The function of schema dpquantile with this name and these types of arguments, whatever rights
// the user has on the schema. InvalidOid if there is none.
Oid own_function(const char* name, const oidvector* arguments);

}  // namespace dpquantile
