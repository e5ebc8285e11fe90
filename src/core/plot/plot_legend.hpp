#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dpquantile {

// A confidence as a percentage: "95%", "99.9%".
std::string percentage(double confidence);

// Breaks a legend into lines and gives the first item of each line. Items keep their order, `gap`
// apart; the lines are as few as possible, none longer than `limit` unless it is a single item, and
// of similar length.
std::vector<std::size_t> legend_lines(std::span<const double> widths, double gap, double limit);

}  // namespace dpquantile
