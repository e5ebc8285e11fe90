#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/attnum.h"
#include "nodes/pg_list.h"
}

// What the rows of a materialized view were read from. A materialized view keeps rows of protected
// tables under another name: protected by itself, it must protect the same persons as they do.
// Only catalogs decide.
namespace dpquantile {

// The OIDs of the view and of all tables and views that its query reads, also through views. What
// functions of the query read is not among them.
List* relations_stored_in(Oid view);

// A column of a table or view.
struct StoredColumn {
  Oid relation;
  AttrNumber number;
};

// The columns that a column of a materialized view shows: that of what the view's query reads,
// that of what this one reads if it is a view, and so on. Fewer where a column is computed. A list
// of StoredColumn*.
List* columns_stored_in(Oid view, AttrNumber number);

}  // namespace dpquantile
