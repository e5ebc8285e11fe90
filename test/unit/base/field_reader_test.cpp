#include "core/base/field_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dpquantile {
namespace {

void append(std::vector<std::byte>& bytes, std::uint64_t number) {
  const auto* from = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), from, from + sizeof number);
}

void append(std::vector<std::byte>& bytes, const std::string& text) {
  append(bytes, text.size());
  for (const char letter : text) bytes.push_back(static_cast<std::byte>(letter));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(FieldReader, ReadsWhatWasWritten) {
  std::vector<std::byte> bytes;
  append(bytes, 7);
  append(bytes, "seven");
  append(bytes, "");
  append(bytes, ~std::uint64_t{0});
  FieldReader fields(bytes);
  EXPECT_EQ(fields.number(), 7u);
  EXPECT_EQ(text_of(fields.bytes()), "seven");
  EXPECT_EQ(text_of(fields.bytes()), "");
  EXPECT_FALSE(fields.is_at_end());
  EXPECT_EQ(fields.number(), ~std::uint64_t{0});
  EXPECT_TRUE(fields.is_at_end());
  EXPECT_FALSE(fields.is_broken());
}

// threat 120: however bytes are cut short, nothing beyond them is read.
TEST(FieldReader, EndsWhereTheBytesEnd) {
  std::vector<std::byte> whole;
  append(whole, 7);
  append(whole, "seven");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    FieldReader fields(cut);
    EXPECT_EQ(fields.number(), size < 8 ? 0u : 7u);
    EXPECT_TRUE(fields.bytes().empty());
    EXPECT_TRUE(fields.is_broken());
    EXPECT_FALSE(fields.is_at_end());
    EXPECT_EQ(fields.number(), 0u);
  }
}

TEST(FieldReader, RefusesLengthsThatWrap) {
  for (const std::uint64_t length :
       {std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    std::vector<std::byte> bytes;
    append(bytes, length);
    FieldReader fields(bytes);
    EXPECT_TRUE(fields.bytes().empty());
    EXPECT_TRUE(fields.is_broken());
  }
}

// threat 120: AddressSanitizer sees each byte that is read beyond.
TEST(FieldReader, ReadsNothingBeyondRandomBytes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::byte> bytes(random() % 64);
    // Mostly small numbers, so that some lengths fit.
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 9 == 0 ? random() : 0);
    FieldReader fields(bytes);
    std::size_t taken = 0;
    while (!fields.is_broken() && !fields.is_at_end()) {
      if (random() % 2 == 0) {
        static_cast<void>(fields.number());
        taken += fields.is_broken() ? 0 : 8;
        continue;
      }
      unsigned sum = 0;
      const auto field = fields.bytes();
      for (const std::byte byte : field) sum += std::to_integer<unsigned>(byte);
      EXPECT_LE(sum, 255 * field.size());
      taken += fields.is_broken() ? 0 : 8 + field.size();
    }
    EXPECT_LE(taken, bytes.size());
    EXPECT_EQ(fields.is_at_end(), taken == bytes.size() && !fields.is_broken());
  }
}

}  // namespace
}  // namespace dpquantile
