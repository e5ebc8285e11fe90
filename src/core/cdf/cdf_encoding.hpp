#pragma once

#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cdf/cdf_curve.hpp"

namespace dpquantile {

// A curve as bytes: little-endian, the version first. Curves of numbers
// and of other types have different versions. The counts are variable-length increments, so
// that 1024 bins of a usual table take 1 to 2 kB. Clients decode these bytes (docs/languages.md)
// and tables store them: another layout needs another version. Throws std::bad_alloc.
std::pmr::vector<std::byte> encode_cdf(const CdfCurve& curve, std::pmr::memory_resource* memory);

// The curve that the bytes encode. Throws CorruptInput for bytes that encode_cdf() cannot have
// written, std::bad_alloc.
CdfCurve decode_cdf(std::span<const std::byte> bytes, std::pmr::memory_resource* memory);

// The domain at the beginning of the bytes, in constant time. Its numbers are not checked. Throws
// CorruptInput if the bytes are too short or of another version.
CdfDomain decode_cdf_domain(std::span<const std::byte> bytes);

}  // namespace dpquantile
