#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/execdesc.h"
#include "tcop/dest.h"
}

// What procedural languages get of a query's rows.
namespace dpquantile {

// Begins to hand the rows of the query to code that runs queries (SPI) by a receiver of its own,
// and returns the receiver that the query had. A row that the executor has not changed is still the
// stored one, with its system columns: PL/pgSQL reads record.xmax, which no check of permissions
// sees. The receiver hands on the values only. Queries for other receivers stay as they are.
DestReceiver* hand_on_bare_rows(QueryDesc* query);

}  // namespace dpquantile
