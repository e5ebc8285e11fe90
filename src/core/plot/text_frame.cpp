#include "core/plot/text_frame.hpp"

#include <algorithm>
#include <cmath>

#include "core/plot/plot_legend.hpp"

namespace dpquantile {

namespace {

// Columns between the items of the legend, and the least between two labels.
constexpr int kGap = 2;
constexpr int kMinTicks = 5;
constexpr int kMaxTicks = 20;
constexpr int kColumnsPerTick = 8;

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

std::string line_of(const TextLegendItem& item) {
  return item.mark.empty() ? item.text : std::string(item.mark) + " " + item.text;
}

double columns_of(const TextLegendItem& item) {
  return static_cast<double>(item.text.size()) + (item.mark.empty() ? 0.0 : 2.0);
}

// The column of the whole plot where the label of a tick begins. The label is centred, but kept
// within the plot.
int label_begin(const TextAxis& axis, const PlacedTick& tick) {
  const int length = static_cast<int>(tick.label.size());
  const int centred = axis.margin + axis.column_of(tick.across) - length / 2;
  return std::clamp(centred, 0, axis.width - length);
}

}  // namespace

std::vector<std::string> draw_text_legend(const std::vector<TextLegendItem>& items, int width) {
  std::vector<double> columns;
  for (const TextLegendItem& item : items) columns.push_back(columns_of(item));
  std::vector<std::string> lines;
  const std::vector<std::size_t> starts = legend_lines(columns, kGap, width);
  for (std::size_t item = 0; item < items.size(); ++item) {
    const bool starts_line = std::ranges::binary_search(starts, item);
    if (starts_line) {
      lines.push_back(line_of(items[item]));
    } else {
      lines.back() += std::string(kGap, ' ') + line_of(items[item]);
    }
  }
  return lines;
}

int TextAxis::column_of(double across) const {
  return static_cast<int>(std::lround(across * (columns - 1)));
}

TextAxis fit_text_axis(const TickMaker& make, TickDensity density, int margin, int width) {
  const int columns = width - margin;
  const int most = density == TickDensity::kFull
                       ? columns / (kGap + 1)
                       : std::clamp(columns / kColumnsPerTick, kMinTicks, kMaxTicks);
  const int overhang = static_cast<int>(make(most).back().label.size()) / 2;
  TextAxis axis{margin, columns - overhang, width, {}};
  axis.ticks = ticks_that_fit(make, most, kGap, [&](const PlacedTick& tick) {
    const int begin = label_begin(axis, tick);
    return LabelSpan{static_cast<double>(begin), begin + static_cast<double>(tick.label.size())};
  });
  return axis;
}

std::string draw_text_row(const std::string& label, std::size_t width,
                          const std::vector<std::string_view>& cells,
                          const TextAxisGlyphs& glyphs) {
  std::string line(width - label.size(), ' ');
  line += label + " ";
  line += label.empty() ? glyphs.left_axis : glyphs.left_tick;
  for (const std::string_view cell : cells) line += cell;
  trim_right(line);
  return line;
}

std::string draw_text_axis(const TextAxis& axis, const TextAxisGlyphs& glyphs) {
  std::vector<std::string_view> cells(static_cast<std::size_t>(axis.columns), glyphs.bottom_axis);
  for (const PlacedTick& tick : axis.ticks) {
    cells[static_cast<std::size_t>(axis.column_of(tick.across))] = glyphs.bottom_tick;
  }
  std::string line(static_cast<std::size_t>(axis.margin - 1), ' ');
  line += glyphs.corner;
  for (const std::string_view cell : cells) line += cell;
  return line;
}

std::string draw_text_axis_labels(const TextAxis& axis) {
  std::string line(static_cast<std::size_t>(axis.width), ' ');
  for (const PlacedTick& tick : axis.ticks) {
    const auto begin = static_cast<std::size_t>(label_begin(axis, tick));
    line.replace(begin, tick.label.size(), tick.label);
  }
  trim_right(line);
  return line;
}

}  // namespace dpquantile
