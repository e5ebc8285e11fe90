#include "core/base/sip_hash.hpp"

#include <bit>

namespace dpquantile {

namespace {

constexpr std::size_t kWord = 8;

// Little-endian on every processor.
std::uint64_t read_word(const std::uint8_t* bytes, std::size_t count = kWord) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

class SipState {
 public:
  explicit SipState(const SipKey& key) {
    const std::uint64_t k0 = read_word(key.data());
    const std::uint64_t k1 = read_word(key.data() + kWord);
    // "somepseudorandomlygeneratedbytes"
    v0_ = k0 ^ 0x736f6d6570736575;
    v1_ = k1 ^ 0x646f72616e646f6d;
    v2_ = k0 ^ 0x6c7967656e657261;
    v3_ = k1 ^ 0x7465646279746573;
  }

  void add(std::uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }

  // Before the first word.
  void choose_output_of_128_bits() { v1_ ^= 0xee; }

  std::uint64_t finish() {
    v2_ ^= 0xff;
    return finish_rounds();
  }

  SipHash128 finish_128() {
    v2_ ^= 0xee;
    const std::uint64_t low = finish_rounds();
    v1_ ^= 0xdd;
    return {low, finish_rounds()};
  }

 private:
  std::uint64_t finish_rounds() {
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
};

void add_message(SipState& state, std::span<const std::uint8_t> message) {
  const std::size_t whole = message.size() / kWord * kWord;
  for (std::size_t i = 0; i < whole; i += kWord) state.add(read_word(message.data() + i));
  // The last word holds the remaining bytes and, in its top byte, the length.
  const std::uint64_t length = std::uint64_t{message.size()} << 56;
  state.add(read_word(message.data() + whole, message.size() - whole) | length);
}

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::span<const std::uint8_t> message) {
  SipState state(key);
  add_message(state, message);
  return state.finish();
}

SipHash128 sip_hash_128(const SipKey& key, std::span<const std::uint8_t> message) {
  SipState state(key);
  state.choose_output_of_128_bits();
  add_message(state, message);
  return state.finish_128();
}

std::uint64_t sip_hash_of_number(const SipKey& key, std::uint64_t number) {
  SipState state(key);
  state.add(number);
  state.add(std::uint64_t{kWord} << 56);
  return state.finish();
}

}  // namespace dpquantile
