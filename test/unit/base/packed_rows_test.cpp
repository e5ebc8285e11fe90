#include "core/base/packed_rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace dpquantile {
namespace {

using Bytes = std::vector<std::byte>;

// A number, a string of three bytes, and one of any length.
constexpr std::array<PackedForm, 3> kForms = {PackedForm{true, kAnyLength}, PackedForm{false, 3},
                                              PackedForm{false, kAnyLength}};

void append(Bytes& bytes, std::uint64_t number) {
  const auto* from = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), from, from + sizeof number);
}

void append_string(Bytes& bytes, std::size_t length) {
  append(bytes, kPackedValue);
  append(bytes, length);
  bytes.insert(bytes.end(), length, std::byte{'x'});
}

// A row of values, one of NULLs, and the end.
Bytes two_rows(std::size_t length_of_three = 3) {
  Bytes bytes;
  append(bytes, kPackedRow);
  append(bytes, kPackedValue);
  append(bytes, 77);
  append_string(bytes, length_of_three);
  append_string(bytes, 10);
  append(bytes, kPackedRow);
  for (int i = 0; i < 3; ++i) append(bytes, kPackedNull);
  append(bytes, kPackedEnd);
  return bytes;
}

// How many rows there are before the end, or before the bytes are broken.
struct Rows {
  int count;
  RowRead last;
};

Rows rows_of(const Bytes& bytes) {
  FieldReader fields(bytes);
  std::array<PackedValue, 3> values;
  Rows rows{0, RowRead::kRow};
  unsigned sum = 0;
  while ((rows.last = read_packed_row(&fields, kForms, values)) == RowRead::kRow) {
    ++rows.count;
    EXPECT_TRUE(values[1].is_null || values[1].bytes.size() == 3);
    for (const PackedValue& value : values) {
      for (const std::byte byte : value.bytes) sum += std::to_integer<unsigned>(byte);
    }
  }
  EXPECT_LE(sum, 255 * bytes.size());
  return rows;
}

TEST(PackedRows, AreReadAsTheyWereWritten) {
  const Bytes bytes = two_rows();
  FieldReader fields(bytes);
  std::array<PackedValue, 3> values;
  EXPECT_EQ(read_packed_row(&fields, kForms, values), RowRead::kRow);
  EXPECT_EQ(values[0].number, 77u);
  EXPECT_EQ(values[1].bytes.size(), 3u);
  EXPECT_EQ(values[2].bytes.size(), 10u);
  EXPECT_EQ(values[2].bytes.back(), std::byte{'x'});
  EXPECT_EQ(read_packed_row(&fields, kForms, values), RowRead::kRow);
  for (const PackedValue& value : values) EXPECT_TRUE(value.is_null);
  EXPECT_EQ(read_packed_row(&fields, kForms, values), RowRead::kEnd);
}

// threat 120: bytes of other columns, or that are cut short or longer, are broken.
TEST(PackedRows, AreBrokenIfTheyAreOthers) {
  EXPECT_EQ(rows_of(two_rows(2)).last, RowRead::kBroken);
  EXPECT_EQ(rows_of(two_rows(4)).last, RowRead::kBroken);
  Bytes longer = two_rows();
  longer.push_back(std::byte{0});
  EXPECT_EQ(rows_of(longer).last, RowRead::kBroken);
  const Bytes whole = two_rows();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(rows_of(cut).last, RowRead::kBroken) << size;
  }
}

// threat 120: AddressSanitizer sees each byte that is read beyond.
TEST(PackedRows, AreReadWithinTheirBytesWhateverTheseAre) {
  std::mt19937_64 random(1);
  int broken = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Bytes bytes = two_rows();
    for (auto edits = random() % 4 + 1; edits > 0; --edits) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 5 == 0 ? random() : 1);
    }
    const Rows rows = rows_of(bytes);
    EXPECT_LE(rows.count, 4);
    broken += rows.last == RowRead::kBroken ? 1 : 0;
  }
  EXPECT_GT(broken, 10000);
}

}  // namespace
}  // namespace dpquantile
