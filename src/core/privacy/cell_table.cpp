#include "core/privacy/cell_table.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>

namespace dpquantile {

namespace {

using boost::multiprecision::cpp_int;
// The largest number is a bound below 2^12 times another, or a fraction's part with the bits.
using Fixed = boost::multiprecision::checked_uint512_t;

constexpr unsigned kTableBits = 128;
constexpr unsigned kWordOfStream = 64;
constexpr unsigned kOtherHalfBits = CellTable::kWordBits - CellTable::kHalfBits;
// The bits of the probabilities beyond those of U, for their rounding.
constexpr unsigned kGuardBits = 64;
constexpr std::uint64_t kAllWords = std::uint64_t{1} << CellTable::kWordBits;

}  // namespace

CellTable::CellTable(const CellLaw& law) : law_(law), bounds_{0}, guide_{} {
  const unsigned below = kTableBits - kWordBits;
  for (const auto& sum : law.cumulative<Fixed>(kTableBits)) {
    const auto bound = static_cast<std::uint64_t>(Fixed(sum.low >> below));
    if (sum.high >= Fixed(bound + kUndecided) << below) {
      throw std::logic_error("a probability is not known well enough");
    }
    bounds_.push_back(bound);
  }
  bounds_.insert(bounds_.end(), 2, kAllWords);
  for (const std::uint64_t bound : bounds_) {
    half_bounds_.push_back(static_cast<std::uint32_t>(bound >> kOtherHalfBits));
  }
  std::uint16_t cell = 0;
  for (std::size_t part = 0; part < guide_.size(); ++part) {
    while (std::uint64_t{part} << (kWordBits - kGuideBits) >= bounds_[cell + 1u]) ++cell;
    guide_[part] = cell;
  }
}

std::uint32_t CellTable::draw_with_half(std::uint32_t half, RandomStream& random) const {
  const std::uint64_t other = random.bits64() >> (kWordOfStream - kOtherHalfBits);
  return draw(std::uint64_t{half} << kOtherHalfBits | other, random);
}

std::uint32_t CellTable::draw_more(std::uint64_t word, RandomStream& random) const {
  cpp_int drawn = word;
  for (unsigned bits = kWordBits + kWordOfStream;; bits += kWordOfStream) {
    drawn = (drawn << kWordOfStream) | random.bits64();
    const auto sums = law_.cumulative<cpp_int>(bits + kGuardBits);
    const cpp_int low = drawn << kGuardBits;
    const cpp_int high = (drawn + 1) << kGuardBits;
    const auto above =
        std::ranges::partition_point(sums, [&](const auto& sum) { return sum.high <= low; });
    if (above == sums.end() || high <= above->low) {
      return static_cast<std::uint32_t>(above - sums.begin());
    }
  }
}

}  // namespace dpquantile
