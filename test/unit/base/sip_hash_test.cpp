#include "core/base/sip_hash.hpp"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace dpquantile {
namespace {

SipKey counting_key() {
  SipKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

std::vector<std::uint8_t> counting_message(std::size_t length) {
  std::vector<std::uint8_t> message(length);
  for (std::size_t i = 0; i < length; ++i) message[i] = static_cast<std::uint8_t>(i);
  return message;
}

// threat 41: ids are hashed with a secret key.
//
// Appendix A of the paper has the key 00 01 .. 0f and the message 00 01 .. 0e; the authors'
// vectors.h has the lengths 0, 1, 7, 8 and 63.
TEST(SipHash, GivesThePublishedValues) {
  const auto hash = [](std::size_t length) {
    return sip_hash(counting_key(), counting_message(length));
  };
  EXPECT_EQ(hash(15), 0xa129ca6149be45e5);
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31);
  EXPECT_EQ(hash(1), 0x74f839c593dc67fd);
  EXPECT_EQ(hash(7), 0xab0200f58b01d137);
  EXPECT_EQ(hash(8), 0x93f5f5799a932462);
  EXPECT_EQ(hash(63), 0x958a324ceb064572);
}

TEST(SipHash, OfANumberIsThatOfItsBytesFromTheLowest) {
  EXPECT_EQ(sip_hash_of_number(counting_key(), 0x0706050403020100), 0x93f5f5799a932462);
}

using Words = std::vector<std::uint64_t>;

Words hash_by_openssl(const SipKey& key, const std::vector<std::uint8_t>& message,
                      std::size_t words) {
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
  std::size_t size = words * sizeof(std::uint64_t);
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                   OSSL_PARAM_construct_end()};
  std::vector<std::uint8_t> bytes(size);
  std::size_t written = 0;
  EXPECT_EQ(EVP_MAC_init(context, key.data(), key.size(), parameters), 1);
  EXPECT_EQ(EVP_MAC_update(context, message.data(), message.size()), 1);
  EXPECT_EQ(EVP_MAC_final(context, bytes.data(), &written, size), 1);
  EXPECT_EQ(written, size);
  EVP_MAC_CTX_free(context);
  EVP_MAC_free(mac);
  Words hash(words);
  for (std::size_t i = 0; i < size; ++i) hash[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
  return hash;
}

TEST(SipHash, AgreesWithOpenSsl) {
  SipKey key = counting_key();
  for (std::size_t length = 0; length <= 300; ++length) {
    std::vector<std::uint8_t> message(length);
    for (std::size_t i = 0; i < length; ++i) {
      message[i] = static_cast<std::uint8_t>(i * 37 + length);
    }
    key[length % key.size()] ^= static_cast<std::uint8_t>(length * 91 + 1);
    ASSERT_EQ(Words{sip_hash(key, message)}, hash_by_openssl(key, message, 1)) << length;
    const SipHash128 hash = sip_hash_128(key, message);
    ASSERT_EQ((Words{hash.low, hash.high}), hash_by_openssl(key, message, 2)) << length;
  }
}

}  // namespace
}  // namespace dpquantile
