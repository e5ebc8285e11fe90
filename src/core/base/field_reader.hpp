#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dpquantile {

// Reads fields that were written one after the other: numbers of eight bytes, in the order of the
// processor, and strings of bytes after their length. It looks at nothing beyond the bytes,
// whatever is in them. After a field that is not there as a whole all fields are 0 or empty. Throws
// nothing and owns nothing.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    const std::span<const std::byte> bytes = take(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  std::span<const std::byte> bytes() { return take(number()); }

  // Whether a field was not there as a whole.
  bool is_broken() const { return is_broken_; }

  // Whether all fields were there, and nothing is left.
  bool is_at_end() const { return !is_broken_ && left_.empty(); }

 private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > left_.size()) {
      is_broken_ = true;
      left_ = {};
      return {};
    }
    const auto length = static_cast<std::size_t>(size);
    const std::span<const std::byte> taken = left_.first(length);
    left_ = left_.subspan(length);
    return taken;
  }

  std::span<const std::byte> left_;
  bool is_broken_ = false;
};

}  // namespace dpquantile
