#pragma once

#include <cstdint>

namespace dpquantile {

// A public grid over all doubles, for values of which no bounds are known. Its cells are in the
// order of their values. They are as fine as the values are small: each octave, from 2^k to
// 2^(k+1), is divided into 2^digits cells of equal width, and 0 to 2^least, too. The negative side
// mirrors the positive one. Edges are dyadic, so all arithmetic is exact. Fixed by its constants,
// never by data.
//
// Plain data.
class OrdinalGrid {
 public:
  // Values of 2^end and above belong to the last cell. Requires 0 <= digits <= 10,
  // -1000 <= least <= end <= 1024, and fewer than 2^32 cells.
  constexpr OrdinalGrid(int digits, int least, int end)
      : digits_(digits), least_(least), end_(end) {}

  std::uint32_t cells() const { return 2 * side(); }

  // The cell of a value, infinities included. The value must not be NaN.
  std::uint32_t cell_of(double value) const;

  // Where cell i begins and cell i - 1 ends, for i = 0 .. cells(), ascending strictly. A value lies
  // within the edges of its cell, or beyond those of the first or last cell if these are not
  // +-DBL_MAX. Values on the edge of two cells belong to the one that is farther from 0.
  double edge(std::uint32_t i) const;

  int digits() const { return digits_; }
  int end() const { return end_; }

 private:
  // The number of cells for values from 0 on.
  std::uint32_t side() const { return static_cast<std::uint32_t>(end_ - least_ + 1) << digits_; }
  std::uint32_t cell_of_magnitude(double magnitude) const;
  double edge_of_magnitude(std::uint32_t i) const;

  int digits_;
  int least_;
  int end_;
};

}  // namespace dpquantile
