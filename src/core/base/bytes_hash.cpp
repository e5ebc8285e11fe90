#include "core/base/bytes_hash.hpp"

#include <cstring>

namespace dpquantile {

namespace {

template <class Number>
std::uint64_t read(const std::uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

// All bytes of a string of less than 8, given its size.
std::uint64_t read_few(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return 0;
  if (bytes.size() >= sizeof(std::uint32_t)) {
    const std::uint8_t* last = bytes.data() + bytes.size() - sizeof(std::uint32_t);
    return read<std::uint32_t>(bytes.data()) << 32U | read<std::uint32_t>(last);
  }
  return std::uint64_t{bytes.front()} << 16U | std::uint64_t{bytes[bytes.size() / 2]} << 8U |
         bytes.back();
}

// The words of a string of at least 8 bytes. The last may have bytes of the one before, too.
void add_words(VectorHasher& hasher, const VectorHashFactors* factors,
               std::span<const std::uint8_t> bytes) {
  const std::size_t last = bytes.size() - sizeof(std::uint64_t);
  for (std::size_t i = 0; i < last; i += sizeof(std::uint64_t)) {
    hasher.add(*factors++, read<std::uint64_t>(bytes.data() + i));
  }
  hasher.add(*factors, read<std::uint64_t>(bytes.data() + last));
}

}  // namespace

std::uint64_t hash_of_bytes(const BytesHashKey& key, std::span<const std::uint8_t> bytes) {
  VectorHasher hasher(key.factors[0]);
  hasher.add(key.factors[1], bytes.size());
  const VectorHashFactors* of_words = key.factors + 2;
  if (bytes.size() > BytesHashKey::kMostShort) {
    const SipHash128 found = sip_hash_128(key.key, bytes);
    hasher.add(of_words[0], found.low);
    hasher.add(of_words[1], found.high);
  } else if (bytes.size() < sizeof(std::uint64_t)) {
    hasher.add(of_words[0], read_few(bytes));
  } else {
    add_words(hasher, of_words, bytes);
  }
  return hasher.hash().high;
}

}  // namespace dpquantile
