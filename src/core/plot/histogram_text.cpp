#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/plot/cdf_plot.hpp"
#include "core/plot/histogram_bars.hpp"
#include "core/plot/histogram_plot.hpp"
#include "core/plot/text_frame.hpp"

namespace dpquantile {

namespace {

constexpr int kParts = 8;  // of a line

struct Glyphs {
  // The lowest 1 .. kParts parts of a cell are filled.
  std::array<std::string_view, kParts> filled;
  std::string_view uncertain;  // of the bar
  std::string_view error;      // above the bar
};

constexpr Glyphs kUtf8{{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "▓", "░"};
constexpr Glyphs kAscii{{" ", " ", " ", "#", "#", "#", "#", "#"}, "#", "."};

std::vector<TextLegendItem> legend_items(const HistogramPlot& plot, const Glyphs& glyphs) {
  std::vector<TextLegendItem> items = {{"", "bins " + std::to_string(plot.counts.size())},
                                       {glyphs.filled.back(), "rows"}};
  if (plot.error) {
    items.push_back({glyphs.error, "error of a bin (+-" + std::to_string(*plot.error) + ")"});
  }
  return items;
}

// The lines of the plot area from the top. A tick lies between two lines; its label is in the line
// below.
struct CountAxis {
  int lines;
  double rows_per_line;
  std::vector<AxisTick> ticks;

  // The first tick is 0, which the horizontal axis shows.
  std::string label(int line) const {
    for (const AxisTick& tick : ticks) {
      if (std::lround(tick.value / rows_per_line) == lines - line && tick.value > 0) {
        return tick.label;
      }
    }
    return "";
  }
  std::size_t label_width() const {
    std::size_t width = 0;
    for (const AxisTick& tick : ticks) width = std::max(width, tick.label.size());
    return width;
  }
};

// As many lines between two ticks as there is room for, the same number everywhere.
CountAxis fit_count_axis(double top, int available) {
  constexpr int kLinesPerTick = 3;
  CountAxis axis{available, 0, axis_ticks(0, top, std::max(available / kLinesPerTick, 2))};
  if (axis.ticks.size() < 2) {
    axis.rows_per_line = top / available;
    return axis;
  }
  const double step = axis.ticks[1].value;
  const auto lines_of = [&](int per_step) {
    return static_cast<int>(std::ceil(top / step * per_step));
  };
  int per_step = 1;
  while (lines_of(per_step + 1) <= available) ++per_step;
  axis.lines = std::max(lines_of(per_step), 1);
  axis.rows_per_line = step / per_step;
  return axis;
}

// Draws one column of a bar, from the bottom.
void draw_bar(TextCanvas& canvas, const CountAxis& axis, std::size_t column,
              const HistogramBar& bar, const Glyphs& glyphs) {
  const double rows = axis.rows_per_line;
  const double high = std::ceil(bar.high / rows - 1.0 / kParts);
  for (int up = 0; up < axis.lines; ++up) {
    std::string_view& cell = canvas[static_cast<std::size_t>(axis.lines - 1 - up)][column];
    const int parts = static_cast<int>(
        std::clamp(std::round((bar.count / rows - up) * kParts), 0.0, double{kParts}));
    if (parts > 0) cell = glyphs.filled[static_cast<std::size_t>(parts - 1)];
    if (parts == kParts && up >= bar.low / rows) cell = glyphs.uncertain;
    if (parts == 0 && up < high) cell = glyphs.error;
  }
}

TextCanvas draw_canvas(const std::vector<HistogramBar>& bars, const CountAxis& axis, int columns,
                       const Glyphs& glyphs) {
  TextCanvas canvas(static_cast<std::size_t>(axis.lines),
                    std::vector<std::string_view>(static_cast<std::size_t>(columns), " "));
  for (int column = 0; column < columns; ++column) {
    const double middle = (column + 0.5) / columns;
    const auto bar = static_cast<std::size_t>(middle * static_cast<double>(bars.size()));
    draw_bar(canvas, axis, static_cast<std::size_t>(column), bars[bar], glyphs);
  }
  return canvas;
}

}  // namespace

std::vector<std::string> draw_histogram_text(const HistogramPlot& plot, int width, int height,
                                             bool utf8) {
  check_text_size(width, height);
  const Glyphs& glyphs = utf8 ? kUtf8 : kAscii;
  const TextAxisGlyphs& axes = utf8 ? kUtf8Axes : kAsciiAxes;
  std::vector<std::string> lines = draw_text_legend(legend_items(plot, glyphs), width);
  constexpr int kAxisLines = 2;
  const double top = histogram_top(histogram_bars(plot, plot.counts.size()));
  const CountAxis vertical =
      fit_count_axis(top, height - kAxisLines - static_cast<int>(lines.size()));
  const int margin = static_cast<int>(vertical.label_width()) + 2;
  const TextAxis horizontal = fit_text_axis(bound_ticks(plot), TickDensity::kFull, margin, width);
  const auto columns = static_cast<std::size_t>(horizontal.columns);
  const TextCanvas canvas =
      draw_canvas(histogram_bars(plot, columns), vertical, horizontal.columns, glyphs);
  for (int line = 0; line < vertical.lines; ++line) {
    lines.push_back(draw_text_row(vertical.label(line), vertical.label_width(),
                                  canvas[static_cast<std::size_t>(line)], axes));
  }
  std::string axis = draw_text_axis(horizontal, axes);
  axis.replace(vertical.label_width() - 1, 1, "0");
  lines.push_back(axis);
  lines.push_back(draw_text_axis_labels(horizontal));
  return lines;
}

}  // namespace dpquantile
