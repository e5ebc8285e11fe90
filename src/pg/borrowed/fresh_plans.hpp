#pragma once

#include "pg/server/postgres.hpp"

// PostgreSQL keeps the plan of a prepared query, or of one in a function, until something changes
// that the plan depends on: among others until a table of it is analyzed, or vacuumed after many
// changes of its rows. Whether a plan was kept would be seen in the time, in notices that come
// while a query is planned, and in which settings of the session it follows. So no plan over
// borrowed relations outlives its statement: each execution has one of its own. Only a function in
// SQL runs one several times in a statement, and each is checked and charged.
namespace dpquantile {

// Before a query over borrowed relations is planned: its plan is not kept.
void begin_fresh_plan();

// When an execution starts, of whatever query: forgets what is not to be kept. Those that do not
// get as far are forgotten when their transaction or subtransaction ends.
void forget_fresh_plans();

// Forgets the plans of the session that were made before the library came, too.
void install_fresh_plans();

}  // namespace dpquantile
