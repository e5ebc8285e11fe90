#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/int128.hpp"

// Randomness for the mechanisms: a source of bytes, and a stream of exact uniform draws over it.
namespace dpquantile {

// Gives independent uniform bytes, or throws RandomnessUnavailable and gives none.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual void fill(std::span<std::byte> out) = 0;
};

// The only source of noise that protects data: OpenSSL's private CSPRNG (RAND_priv_bytes). There is
// no seed. OpenSSL reseeds the generator by itself in a child process.
class CsprngSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override;
};

// Buffered draws from a source, which must outlive the stream. Bytes buffered before a fork are
// never used in the child (fork() is noticed, a bare clone system call is not), used bytes are
// wiped. Not thread-safe. Every draw may throw RandomnessUnavailable, and so may the constructor.
class RandomStream {
 public:
  explicit RandomStream(RandomSource& source);
  ~RandomStream();
  RandomStream(const RandomStream&) = delete;
  RandomStream& operator=(const RandomStream&) = delete;

  // 64 independent fair bits.
  std::uint64_t bits64();

  // Uniform on {0, ..., bound - 1}, without bias (rejection). Requires bound >= 1;
  // std::invalid_argument otherwise.
  std::uint64_t uniform_below(std::uint64_t bound);
  uint128_t uniform_below_128(uint128_t bound);

  // A uniform real on [0, 1) rounded down to a double: every double r in [0, 1) comes out with the
  // probability that a real uniform falls in [r, next double). All 52 bits after the first one bit
  // are random, however small the value is. Below 2^-1022, the smallest normal double, it is 0.
  double unit_real();

 private:
  void refill();

  RandomSource& source_;
  std::array<std::byte, 1024> buffer_;
  std::size_t position_;
  unsigned fork_generation_;
};

}  // namespace dpquantile
