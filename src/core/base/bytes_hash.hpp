#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/sip_hash.hpp"
#include "core/base/vector_hash.hpp"

namespace dpquantile {

// The secrets of a hash of strings of bytes. All must be independent and uniform.
struct BytesHashKey {
  static constexpr std::size_t kMostWords = 8;
  static constexpr std::size_t kMostShort = kMostWords * sizeof(std::uint64_t);

  VectorHashFactors factors[kMostWords + 2];  // of the sums, of the size, of each word
  SipKey key;                                 // for strings of more than kMostShort bytes
};

// A 64-bit hash of a string of bytes, which takes some nanoseconds for a short one. Two given
// strings of at most kMostShort bytes have the same hash with probability 2^-64, which needs no
// assumption: their sizes and words are hashed as one vector (VectorHash), in which words that a
// string lacks count as 0. A longer string is hashed with SipHash-2-4 first. Processors give
// different hashes.
std::uint64_t hash_of_bytes(const BytesHashKey& key, std::span<const std::uint8_t> bytes);

}  // namespace dpquantile
