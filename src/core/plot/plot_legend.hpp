#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dpquantile {

// A confidence as a percentage: "95%", "99.9%".
std::string percentage(double confidence);

// Breaks a legend into lines and returns the index of the first item of each line. Items keep their
// order and lie `gap` apart. The lines are as few as possible and of similar length. Only a line
// with a single item may be longer than `limit`. Widths, gap and limit have the same unit.
std::vector<std::size_t> legend_lines(std::span<const double> widths, double gap, double limit);

}  // namespace dpquantile
