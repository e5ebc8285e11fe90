#pragma once

#include <cstddef>
#include <cstdint>

namespace dpquantile {

// A half-open range of interquartile ranges, lower <= iqr < upper. Infinity as the upper end
// excludes nothing, because every interquartile range is finite.
struct IqrBin {
  double lower;
  double upper;
  bool operator==(const IqrBin&) const = default;
};

// The log scale is cut into bins of width 1 in several ways: discretisation d has the ranges
// [k - d/8, k + 1 - d/8), k an integer. For every number there is a discretisation in which it is
// at least 7/16 from the ends of its bin.
inline constexpr int kDiscretisations = 8;

// A scale on which an interquartile range is measured and released: its logarithm in public units,
// in steps of 1/1024 unit. Step j has the value
//
//   value(j) = exp(unit * j / 1024),  -last() <= j <= last(),
//
// as a double. The values ascend strictly and are positive, finite and normal: they are in
// 10^-307.5 .. 10^307.5. All comparisons of data with the scale are comparisons of doubles with
// these values, so what is proved of the scale holds for the program.
class LogGrid {
 public:
  static constexpr std::int64_t kStepsPerUnit = 1024;
  // With a smaller unit, rounding might change the order of steps.
  static constexpr double kLeastUnit = 0x1p-20;
  // The least count with a logarithm above 1.
  static constexpr std::uint64_t kMinCount = 3;

  // Has the unit of Dwork and Lei 2009, ln(1 + 1/ln(count)), which is above 1/64 for every count.
  // Requires count >= kMinCount.
  explicit LogGrid(std::uint64_t count);

  // Requires kLeastUnit <= unit <= 1.
  static LogGrid of_unit(double unit);

  // The unit in use, in logarithms.
  double unit() const { return log_step_ * static_cast<double>(kStepsPerUnit); }
  std::int64_t last() const { return last_; }
  double value(std::int64_t step) const;

  // The last step with value(step) <= iqr; -last() if there is none. Requires 0 < iqr < infinity.
  std::int64_t step_of(double iqr) const;

  // The bin that contains iqr: a range of kStepsPerUnit steps, or the bin of 0 alone. A bin at an
  // end of the scale has fewer steps and contains all that lies beyond the end. Requires
  // 0 <= iqr < infinity and 0 <= discretisation < kDiscretisations.
  IqrBin bin_of(double iqr, int discretisation) const;

 private:
  LogGrid(double log_step, std::int64_t last) : log_step_(log_step), last_(last) {}

  double log_step_;
  std::int64_t last_;
};

}  // namespace dpquantile
