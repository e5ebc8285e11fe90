#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace dpquantile {

// A number of elements as the size of a container. Throws std::length_error if it does not fit,
// which happens on processors of 32 bits only.
inline std::size_t as_size(std::uint64_t count) {
  if (count > std::numeric_limits<std::size_t>::max()) {
    throw std::length_error("more elements than memory can hold");
  }
  return static_cast<std::size_t>(count);
}

}  // namespace dpquantile
