#include "core/privacy/random.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/base/error.hpp"

namespace dpquantile {
namespace {

// The number of forks between this process and the one that loaded the code. A fork copies a
// stream's buffer. If a child drew from its copy, it would add its parent's noise to other data,
// and the difference of two answers would be exact. This counter is the only mutable global
// variable of core. Comparing process ids instead would cost a system call for each draw, and ids
// are reused.
std::atomic<unsigned> fork_count{0};
static_assert(std::atomic<unsigned>::is_always_lock_free,
              "a fork handler must not wait for a lock");

void count_fork() {
  fork_count.fetch_add(1, std::memory_order_relaxed);
}

unsigned current_fork_generation() {
  return fork_count.load(std::memory_order_relaxed);
}

void register_fork_handler_once() {
  static const int failure = pthread_atfork(nullptr, nullptr, count_fork);
  if (failure != 0) {
    throw RandomnessUnavailable("could not register a fork handler: " +
                                std::string(std::strerror(failure)));
  }
}

// Removes the reason from OpenSSL's error queue, so that it is not reported for a TLS connection.
std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

// As many one bits as `largest` has bits, so that rejection discards less than half of the draws.
std::uint64_t mask_of(std::uint64_t largest) {
  return largest == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(largest);
}

}  // namespace

void CsprngSource::fill(std::span<std::byte> out) {
  constexpr std::size_t kLargestRequest = 1 << 16;  // OpenSSL counts in int
  while (!out.empty()) {
    const auto part = out.first(std::min(out.size(), kLargestRequest));
    auto* const bytes = reinterpret_cast<unsigned char*>(part.data());
    if (RAND_priv_bytes(bytes, static_cast<int>(part.size())) != 1) {
      throw RandomnessUnavailable("OpenSSL's generator gave no random bytes: " + openssl_reason());
    }
    out = out.subspan(part.size());
  }
}

RandomStream::RandomStream(RandomSource& source)
    : source_(source), buffer_{}, position_(buffer_.size()), fork_generation_(0) {
  register_fork_handler_once();
}

RandomStream::~RandomStream() {
  OPENSSL_cleanse(buffer_.data(), buffer_.size());
}

void RandomStream::refill() {
  position_ = buffer_.size();  // if the source throws, there is nothing to draw
  fork_generation_ = current_fork_generation();
  source_.fill(buffer_);
  position_ = 0;
}

void RandomStream::refill_if_used() {
  if (position_ == buffer_.size() || fork_generation_ != current_fork_generation()) refill();
}

std::uint64_t RandomStream::bits64() {
  refill_if_used();
  std::uint64_t word = 0;
  static_assert(sizeof buffer_ % sizeof word == 0, "words must fill the buffer exactly");
  std::memcpy(&word, &buffer_[position_], sizeof word);
  // The compiler must keep this: the destructor passes the buffer to a function it cannot see into.
  std::memset(&buffer_[position_], 0, sizeof word);
  position_ += sizeof word;
  return word;
}

void RandomStream::fill(std::span<std::uint64_t> words) {
  auto out = std::as_writable_bytes(words);
  while (!out.empty()) {
    refill_if_used();
    const auto part = std::span(buffer_).subspan(position_).first(
        std::min(out.size(), buffer_.size() - position_));
    std::ranges::copy(part, out.begin());
    std::ranges::fill(part, std::byte{0});
    position_ += part.size();
    out = out.subspan(part.size());
  }
}

std::uint64_t RandomStream::uniform_below(std::uint64_t bound) {
  if (bound == 0) throw std::invalid_argument("uniform_below: expected a bound above 0, got 0");
  if (bound == 1) return 0;
  const std::uint64_t mask = mask_of(bound - 1);
  for (;;) {
    const std::uint64_t candidate = bits64() & mask;
    if (candidate < bound) return candidate;
  }
}

uint128_t RandomStream::uniform_below_128(uint128_t bound) {
  constexpr uint128_t kTwoTo64 = uint128_t{1} << 64;
  if (bound < kTwoTo64) return uniform_below(static_cast<std::uint64_t>(bound));
  const auto largest_high = static_cast<std::uint64_t>((bound - 1) >> 64);
  const std::uint64_t high_mask = mask_of(largest_high);
  for (;;) {
    const uint128_t high = bits64() & high_mask;
    const uint128_t candidate = high << 64 | bits64();
    if (candidate < bound) return candidate;
  }
}

double RandomStream::unit_real() {
  constexpr int kMantissaBits = 52;
  constexpr int kSmallestExponent = -1022;
  constexpr int kExponentBias = 1023;
  static_assert(std::numeric_limits<double>::is_iec559);
  // A uniform real lies in [2^(-k-1), 2^-k) with probability 2^(-k-1); k is the number of zero bits
  // before its first one bit. The bits after that are uniform, so they can be drawn afresh.
  int exponent = -1;
  std::uint64_t word = bits64();
  while (word == 0) {
    exponent -= 64;
    if (exponent < kSmallestExponent) return 0.0;
    word = bits64();
  }
  exponent -= std::countl_zero(word);
  if (exponent < kSmallestExponent) return 0.0;
  const std::uint64_t mantissa = bits64() >> (64 - kMantissaBits);
  // The double's own bits; `ldexp` would take longer than the rest of the draw.
  const auto biased_exponent = static_cast<std::uint64_t>(exponent + kExponentBias);
  return std::bit_cast<double>(biased_exponent << kMantissaBits | mantissa);
}

}  // namespace dpquantile
