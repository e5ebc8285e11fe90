#pragma once

#include "pg/grants/protection_catalog.hpp"
#include "pg/owner/column_domains.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
}

// What the functions have in common by which an owner has something found of the rows of a
// protected table, and publishes it. The rows are read with the rights of the owner, by queries
// that name only PostgreSQL's own functions. What is found goes through a mechanism.
namespace dpquantile {

// The epsilon that the owner states. ereports if it is NULL; the range is for the caller to check.
double epsilon_argument(FunctionCallInfo fcinfo, int argument);

// ereports unless the relation is protected. `writes`: the function changes the catalog in the end,
// which a transaction that only reads cannot.
ProtectedRelation require_protected(Oid relation, bool writes);

// The rows of a protected table as t0, joined with those that they refer to.
struct PersonRows {
  const char* from;    // "FROM ..."
  const char* person;  // the expression whose values are the persons; null if rows are protected
};

// ereports if the caller may not read the tables, or the rows do not lead to persons.
PersonRows rows_with_persons(const ProtectedRelation& protection);

// A column of t0, and its base type. SQL's own names of char and bit are one character or bit long,
// so the type is named as the catalogs do. A value of a domain is one of its base type.
struct ColumnText {
  const char* value;
  const char* type;
};
ColumnText text_of_column(const Column& column);

// The row that a function with arguments OUT returns.
Datum result_row(FunctionCallInfo fcinfo, Datum* values, bool* nulls);

// A value of a view that fails for a row is NULL, as in queries: nobody is told that there is such
// a row, and the noted publication is made.
//
// Connects to SPI and opens the query of the rows of a relation, but reads nothing. So what is
// wrong with it, rights that are missing included, is known before anything is noted. ereports also
// unless queries of the relation are answered: where they are refused, as those of a view that
// numbers its rows, one person more may change the rows of all others. That is judged when the plan
// is made and its tables are locked, by what the catalogs say now, whatever the snapshot of the
// transaction is. read_rows() disconnects.
Portal open_rows(Oid relation, const char* query);
// The same rows once more, by the same snapshot. Requires open_rows().
Portal open_rows_again(const char* query);

// Calls row(HeapTuple, TupleDesc) for each row of the portal. What it allocates in the current
// memory context is freed. ereports what the query reports.
template <class Row>
void fetch_rows(Portal portal, Row row) {
  constexpr int kRowsAtOnce = 1000;
  for (;;) {
    SPI_cursor_fetch(portal, true, kRowsAtOnce);
    if (SPI_processed == 0) break;
    for (uint64 i = 0; i < SPI_processed; ++i) row(SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
    SPI_freetuptable(SPI_tuptable);
    CHECK_FOR_INTERRUPTS();
  }
  SPI_cursor_close(portal);
}

// The same for a portal that is the last one, and disconnects.
template <class Row>
void read_rows(Portal portal, Row row) {
  fetch_rows(portal, row);
  SPI_finish();
}

}  // namespace dpquantile
