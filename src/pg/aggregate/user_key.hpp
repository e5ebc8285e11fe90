#pragma once

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// The key of the user hashes: 128 random bits, made by CREATE EXTENSION, in the only row of
// dpquantile.user_key. Read as it is stored, without a query: whoever runs an aggregate needs no
// right to it, and it can be read in a parallel worker. ereports unless there is exactly one.
SipKey read_user_key();

}  // namespace dpquantile
