#pragma once

#include <cstddef>
#include <cstdint>

namespace dpquantile {

// Half-open range of interquartile ranges, lower <= iqr < upper. Infinity as the upper end excludes
// nothing, as every interquartile range is finite.
struct IqrBin {
  double lower;
  double upper;
  bool operator==(const IqrBin&) const = default;
};

// The log scale is cut into bins of width 1 in several ways: by discretisation d into the ranges
// [k - d/8, k + 1 - d/8), k an integer. Every number is at least 7/16 from the ends of its bin in
// one of them.
inline constexpr int kDiscretisations = 8;

// A scale on which an interquartile range is measured and released: its logarithm in public units,
// in steps of 1/1024 unit. Step j has the value
//
//   value(j) = exp(unit * j / 1024),  -last() <= j <= last(),
//
// as a double. The values ascend strictly and are positive, finite and normal (10^-307.5 to
// 10^307.5). All comparisons of data with the scale are comparisons of doubles with these values,
// so what is proved of the scale holds for the program.
class LogGrid {
 public:
  static constexpr std::int64_t kStepsPerUnit = 1024;
  // Steps of a smaller unit might change places by rounding.
  static constexpr double kLeastUnit = 0x1p-20;
  // The least whose logarithm is above 1.
  static constexpr std::uint64_t kMinCount = 3;

  // With the unit of Dwork and Lei 2009, ln(1 + 1/ln(count)), which is above 1/64 for every count.
  // Requires count >= kMinCount.
  explicit LogGrid(std::uint64_t count);

  // Requires kLeastUnit <= unit <= 1.
  static LogGrid of_unit(double unit);

  // The unit as it is used, in logarithms.
  double unit() const { return log_step_ * static_cast<double>(kStepsPerUnit); }
  std::int64_t last() const { return last_; }
  double value(std::int64_t step) const;

  // The last step with value(step) <= iqr; -last() if there is none. Requires 0 < iqr < infinity.
  std::int64_t step_of(double iqr) const;

  // The bin that contains iqr: a range of kStepsPerUnit steps (at the ends of the scale fewer, and
  // whatever lies beyond), or the bin of 0 alone. Requires 0 <= iqr < infinity and 0 <=
  // discretisation < kDiscretisations.
  IqrBin bin_of(double iqr, int discretisation) const;

 private:
  LogGrid(double log_step, std::int64_t last) : log_step_(log_step), last_(last) {}

  double log_step_;
  std::int64_t last_;
};

}  // namespace dpquantile
