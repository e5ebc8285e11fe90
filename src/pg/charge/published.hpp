#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// What is to be published of a column of a protected table, and what that costs whoever is in it.
struct Publication {
  const char* function;  // the SQL function that finds it
  Oid table;
  const char* column;  // empty if it is of no column
  double epsilon;
  double delta;
};

// Has a worker note it in dpquantile.published. When this returns, the note is durable, even if the
// calling transaction rolls back. In every other case it ereports; then nothing may be drawn.
void note_publication_by_worker(const Publication& publication);

}  // namespace dpquantile
