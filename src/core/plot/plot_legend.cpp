#include "core/plot/plot_legend.hpp"

#include <algorithm>

#include "core/base/decimal_format.hpp"

namespace dpquantile {

namespace {

// Hides that 100 * 0.999 is not quite 99.9 in binary.
constexpr int kPercentagePlaces = 10;

std::vector<std::size_t> filled_lines(std::span<const double> widths, double gap, double limit) {
  std::vector<std::size_t> starts;
  double length = 0;
  for (std::size_t item = 0; item < widths.size(); ++item) {
    const bool fits = !starts.empty() && length + gap + widths[item] <= limit;
    if (!fits) starts.push_back(item);
    length = fits ? length + gap + widths[item] : widths[item];
  }
  return starts;
}

// The lengths that a line of consecutive items can have, ascending.
std::vector<double> line_lengths(std::span<const double> widths, double gap) {
  std::vector<double> lengths;
  for (std::size_t first = 0; first < widths.size(); ++first) {
    double length = -gap;
    for (const double width : widths.subspan(first)) lengths.push_back(length += gap + width);
  }
  std::ranges::sort(lengths);
  return lengths;
}

}  // namespace

std::string percentage(double confidence) {
  return shortest_decimal(round_to_places(100 * confidence, kPercentagePlaces)) + "%";
}

std::vector<std::size_t> legend_lines(std::span<const double> widths, double gap, double limit) {
  const std::vector<std::size_t> fewest = filled_lines(widths, gap, limit);
  for (const double length : line_lengths(widths, gap)) {
    const std::vector<std::size_t> starts = filled_lines(widths, gap, std::min(length, limit));
    if (starts.size() == fewest.size()) return starts;
  }
  return fewest;
}

}  // namespace dpquantile
