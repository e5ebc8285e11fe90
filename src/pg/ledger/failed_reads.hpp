#pragma once

#include <span>

#include "pg/ledger/charge_request.hpp"

// The table dpquantile.failed_read: queries of protected tables that ended while they read rows.
// What closes private access is only ever added, so that nobody waits for a lock of a row.
namespace dpquantile {

// Adds a row for each relation, in the present transaction, with the rights of no user: no trigger
// fires. Sessions read the table again. If the role or the extension is gone, there is nothing to
// note. ereports if there is no such table.
void note_failed_read(Oid role, std::span<const Oid> relations, const FailedRead& failure);

}  // namespace dpquantile
