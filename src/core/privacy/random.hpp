#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/int128.hpp"

// Randomness for the mechanisms: a source of random bytes, and a stream of exact uniform draws.
namespace dpquantile {

// A source of independent uniform bytes.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  // Fills `out`, or throws RandomnessUnavailable; then nothing in `out` may be used.
  virtual void fill(std::span<std::byte> out) = 0;
};

// OpenSSL's private CSPRNG (RAND_priv_bytes), the only source for noise that protects data. It
// takes no seed. OpenSSL reseeds the generator by itself in a child process.
class CsprngSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override;
};

// Buffered draws from a source, which must outlive the stream. A child process never uses bytes
// that its parent buffered before the fork (the stream detects fork(), but not a direct clone
// system call). Used bytes are wiped. Not thread-safe. The constructor and every draw may throw
// RandomnessUnavailable.
class RandomStream {
 public:
  explicit RandomStream(RandomSource& source);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  // 64 independent fair bits.
  std::uint64_t bits64();
  // The same for each of many words, in less time.
  void fill(std::span<std::uint64_t> words);

  // Uniform on {0, ..., bound - 1}, without bias (rejection). Throws std::invalid_argument if bound
  // is 0.
  std::uint64_t uniform_below(std::uint64_t bound);
  uint128_t uniform_below_128(uint128_t bound);

  // A uniform real on [0, 1) rounded down to a double: the result is r with the probability that a
  // uniform real falls in [r, next double). All 52 bits after the first one bit are random, however
  // small the value is. Reals below 2^-1022, the smallest normal double, become 0.
  double unit_real();

 private:
  void refill();
  void refill_if_used();

  RandomSource& source_;
  // OpenSSL takes a microsecond for a request, and another for 4 kB.
  std::array<std::byte, 8192> buffer_;
  std::size_t position_;
  unsigned fork_generation_;
};

}  // namespace dpquantile
