#pragma once

#include "core/base/field_reader.hpp"

// Rows of values as fields: a 1 before each row, in a row a 0 for each NULL and a 1 before each
// value, and a 0 after the last row.
namespace dpquantile {

inline constexpr std::uint64_t kPackedEnd = 0;
inline constexpr std::uint64_t kPackedRow = 1;
inline constexpr std::uint64_t kPackedNull = 0;
inline constexpr std::uint64_t kPackedValue = 1;

// How the values of a column are packed.
struct PackedForm {
  bool is_number;        // as numbers, else as strings of bytes
  std::uint64_t length;  // of each string, or kAnyLength
};
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

struct PackedValue {
  bool is_null;
  std::uint64_t number;
  std::span<const std::byte> bytes;  // a part of the bytes of the fields
};

enum class RowRead { kRow, kEnd, kBroken };

// Reads the next row of values of these forms. At the end nothing is left. If the bytes are not
// those of such rows, it says so, at the latest at the end, and reads nothing beyond them. Throws
// nothing.
RowRead read_packed_row(FieldReader* fields, std::span<const PackedForm> forms,
                        std::span<PackedValue> values);

}  // namespace dpquantile
