#pragma once

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
}

// A keyed 128-bit hash of all values of a row, as they are stored: whether a value is compressed or
// out of line has no influence. Rows with the same values have the same hash.
namespace dpquantile {

struct RowHash {
  SipKey key;
  StringInfoData bytes;  // scratch memory, palloc'd
};

RowHash make_row_hash(const SipKey& key);

// The hash of the row in the slot. It may leave memory allocated in the current memory context.
// ereports if a value that is out of line cannot be read.
SipHash128 hash_row(RowHash* hasher, TupleTableSlot* row);

}  // namespace dpquantile
