#pragma once

#include "pg/server/postgres.hpp"

// A net below catalog_gate.hpp. While a query over protected rows is planned and executed, only
// functions of PostgreSQL and of this extension run. The gate looks at what a query names. This
// sees what PostgreSQL calls besides: the constant parts of expressions in indexes, extended
// statistics, CHECK constraints and partition keys of any table of the statement, which the planner
// computes, and the SQL that some of PostgreSQL's own functions run, whose operators search_path
// may replace. Code of a role there could change the planner's settings, or see what the query
// does.
namespace dpquantile {

// From now on another function is refused when it is called, until the end, which gets what the
// beginning has returned. An error must not skip the end.
bool begin_without_foreign_code();
void end_without_foreign_code(bool before);

// Once, when the library is loaded.
void install_foreign_code_guard();

}  // namespace dpquantile
