#pragma once

#include "core/base/sip_hash.hpp"
#include "core/base/vector_hash.hpp"
#include "pg/server/postgres.hpp"

// A secret 128-bit hash of the values of a row, which PostgreSQL passes in two ways. Those that are
// passed by value are numbers already. A value that is passed by reference becomes two: its bytes
// if they are 16, as those of a uuid, and else its keyed hash (SipHash-2-4), so that whether it is
// compressed or out of line has no influence. The numbers are hashed together (VectorHash).
namespace dpquantile {

// Plain data. One hash is for vectors of one length.
struct RowHash {
  SipKey key;
  const VectorHashFactors* factors;  // one more than numbers
};

// How many random numbers the hash of vectors of so many numbers takes.
Size count_secrets_of_row_hash(Size numbers);

// `secrets` are so many independent uniform numbers, which stay as long as the hash.
RowHash make_row_hash(const uint64* secrets);

// The two numbers of a value that is passed by reference; `length` is that of its type. It may
// leave memory allocated in the current memory context. ereports if a value that is out of line
// cannot be read.
void numbers_of_value(const RowHash* hash, Datum value, int16 length, uint64 numbers[2]);

inline VectorHash hash_numbers(const RowHash* hash, const uint64* numbers, Size count) {
  VectorHasher hasher(hash->factors[0]);
  for (Size i = 0; i < count; ++i) hasher.add(hash->factors[i + 1], numbers[i]);
  return hasher.hash();
}

}  // namespace dpquantile
