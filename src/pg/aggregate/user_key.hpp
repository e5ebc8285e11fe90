#pragma once

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// Reads the key of the user hashes: 128 random bits in the only row of dpquantile.user_key, made by
// CREATE EXTENSION. It scans the table without a query. So a role that runs an aggregate needs no
// privilege on the table, and parallel workers can read it. ereports unless there is exactly one
// key, of 16 bytes.
void read_user_key();

// The key that was read last in this transaction; reads it if there is none. A release node reads
// it before it charges, so that the first row reads no table.
SipKey user_key();

}  // namespace dpquantile
