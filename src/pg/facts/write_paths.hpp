#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

namespace dpquantile {

// OIDs of the relations whose writers also write a table, the table first: its inheritance parents
// and partitioned tables; the tables that its foreign keys with CASCADE, SET NULL or SET DEFAULT
// refer to; the views and the tables with rules that use it, if their owner may write it; and those
// of all these, and of views with security_invoker that use one. Reads catalogs only. Functions and
// triggers that write the table are not found.
List* write_paths(Oid table);

}  // namespace dpquantile
