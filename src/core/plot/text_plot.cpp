#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/plot/axis_ticks.hpp"
#include "core/plot/cdf_plot.hpp"
#include "core/plot/plot_legend.hpp"
#include "core/plot/plot_plane.hpp"

namespace dpquantile {

namespace {

constexpr int kMinWidth = 40;
constexpr int kMaxWidth = 400;
constexpr int kMinHeight = 10;
constexpr int kMaxHeight = 200;

// Columns between the items of the legend, and the least between two labels.
constexpr int kGap = 2;
constexpr int kMinTicks = 5;
constexpr int kMaxTicks = 20;
constexpr int kColumnsPerTick = 8;

struct Glyphs {
  std::string_view level;
  std::string_view rise;
  std::string_view rise_begins;
  std::string_view rise_ends;
  std::string_view band;
  std::string_view left_axis;
  std::string_view left_tick;
  std::string_view corner;
  std::string_view bottom_axis;
  std::string_view bottom_tick;
};

constexpr Glyphs kUtf8{"━", "┃", "┛", "┏", "░", "│", "┤", "└", "─", "┬"};
constexpr Glyphs kAscii{"#", "#", "#", "#", ".", "|", "+", "+", "-", "+"};

// Cells of one column each, row by row from the top.
using Canvas = std::vector<std::vector<std::string_view>>;

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

// --- Legend --------------------------------------------------------------------------------------

struct LegendItem {
  std::string_view mark;
  std::string text;

  std::string line() const { return mark.empty() ? text : std::string(mark) + " " + text; }
  double columns() const { return static_cast<double>(text.size()) + (mark.empty() ? 0.0 : 2.0); }
};

std::vector<LegendItem> legend_items(const CdfPlot& plot, const Glyphs& glyphs) {
  return {{"", "rows " + std::to_string(plot.rows)},
          {"", std::string(parameter_name(plot.privacy.measure)) + " " +
                   shortest_decimal(plot.privacy.value)},
          {glyphs.level, "CDF"},
          {glyphs.band, percentage(plot.confidence) + " band"}};
}

std::vector<std::string> draw_legend(const CdfPlot& plot, int width, const Glyphs& glyphs) {
  const std::vector<LegendItem> items = legend_items(plot, glyphs);
  std::vector<double> columns;
  for (const LegendItem& item : items) columns.push_back(item.columns());
  std::vector<std::string> lines;
  const std::vector<std::size_t> starts = legend_lines(columns, kGap, width);
  for (std::size_t item = 0; item < items.size(); ++item) {
    const bool starts_line = std::ranges::binary_search(starts, item);
    if (starts_line) {
      lines.push_back(items[item].line());
    } else {
      lines.back() += std::string(kGap, ' ') + items[item].line();
    }
  }
  return lines;
}

// --- Vertical axis -------------------------------------------------------------------------------

// The rows of the plot area. Their number is such that every label of the axis lies exactly on a
// row.
struct VerticalAxis {
  int rows;
  int parts;  // the intervals between labels

  int row_of(double probability) const {
    return rows - 1 - static_cast<int>(std::lround(probability * (rows - 1)));
  }
  int places() const { return parts == 4 ? 2 : 1; }
  std::size_t label_width() const { return static_cast<std::size_t>(places()) + 2; }
};

// A coarse axis suits few rows only, where a finer one would have a label in every row.
bool labels_suit(int steps, int parts) {
  constexpr int kFewSteps = 8;
  if (steps % parts != 0) return false;
  return parts == 2 ? steps < kFewSteps : steps >= 2 * parts;
}

VerticalAxis fit_vertical_axis(int available) {
  for (int steps = available - 1;; --steps) {
    for (const int parts : {10, 4, 5, 2}) {
      if (labels_suit(steps, parts)) return {steps + 1, parts};
    }
  }
}

std::string probability_label(const VerticalAxis& axis, int row) {
  const int steps = axis.rows - 1;
  if (row * axis.parts % steps != 0) return "";
  const int part = axis.parts - row * axis.parts / steps;
  const int scale = axis.places() == 2 ? 100 : 10;
  const std::string digits = std::to_string(scale + part * scale / axis.parts % scale).substr(1);
  return (part == axis.parts ? "1." : "0.") + digits;
}

std::string left_of_row(const VerticalAxis& axis, int row, const Glyphs& glyphs) {
  const std::string label = probability_label(axis, row);
  const std::string padding(axis.label_width() - label.size(), ' ');
  return padding + label + " " + std::string(label.empty() ? glyphs.left_axis : glyphs.left_tick);
}

// --- Horizontal axis -----------------------------------------------------------------------------

struct HorizontalAxis {
  int margin;   // columns to the left of the plot area
  int columns;  // of the plot area
  int width;    // of the whole plot
  std::vector<AxisTick> ticks;
};

int column_of(const CdfPlot& plot, int columns, double x) {
  return static_cast<int>(std::lround(across(plot.lower, plot.upper, x) * (columns - 1)));
}

// The column of the whole plot where the label of a tick begins. The label is centred, but kept
// within the plot.
int label_begin(const CdfPlot& plot, const HorizontalAxis& axis, const AxisTick& tick) {
  const int length = static_cast<int>(tick.label.size());
  const int centred = axis.margin + column_of(plot, axis.columns, tick.value) - length / 2;
  return std::clamp(centred, 0, axis.width - length);
}

HorizontalAxis fit_horizontal_axis(const CdfPlot& plot, int margin, int width) {
  const int most = std::clamp((width - margin) / kColumnsPerTick, kMinTicks, kMaxTicks);
  const AxisTick last = axis_ticks(plot.lower, plot.upper, most).back();
  const int overhang = static_cast<int>(last.label.size()) / 2;
  HorizontalAxis axis{margin, width - margin - overhang, width, {}};
  axis.ticks = ticks_that_fit(plot.lower, plot.upper, most, kGap, [&](const AxisTick& tick) {
    const int begin = label_begin(plot, axis, tick);
    return LabelSpan{static_cast<double>(begin), begin + static_cast<double>(tick.label.size())};
  });
  return axis;
}

std::string draw_horizontal_axis(const CdfPlot& plot, const HorizontalAxis& axis,
                                 const Glyphs& glyphs) {
  std::vector<std::string_view> cells(static_cast<std::size_t>(axis.columns), glyphs.bottom_axis);
  for (const AxisTick& tick : axis.ticks) {
    cells[static_cast<std::size_t>(column_of(plot, axis.columns, tick.value))] = glyphs.bottom_tick;
  }
  std::string line(static_cast<std::size_t>(axis.margin - 1), ' ');
  line += glyphs.corner;
  for (const std::string_view cell : cells) line += cell;
  return line;
}

std::string draw_tick_labels(const CdfPlot& plot, const HorizontalAxis& axis) {
  std::string line(static_cast<std::size_t>(axis.width), ' ');
  for (const AxisTick& tick : axis.ticks) {
    const auto begin = static_cast<std::size_t>(label_begin(plot, axis, tick));
    line.replace(begin, tick.label.size(), tick.label);
  }
  trim_right(line);
  return line;
}

// --- Curve and band ------------------------------------------------------------------------------

double interpolate(double from, double to, double part) {
  return from + part * (to - from);
}

CurvePoint interpolate(const CurvePoint& left, const CurvePoint& right, double place) {
  const double part = (place - left.across) / (right.across - left.across);
  return {place, interpolate(left.probability, right.probability, part),
          interpolate(left.low, right.low, part), interpolate(left.high, right.high, part)};
}

// The curve at the right edge of every column. `lower` is the middle of the first column, `upper`
// the middle of the last.
std::vector<CurvePoint> curve_at_right_edges(const CdfPlot& plot, int columns) {
  std::vector<CurvePoint> edges;
  CurvePoint left = curve_start(plot);
  std::size_t next = 0;
  for (int column = 0; column < columns; ++column) {
    const auto is_passed = [&](const CdfPoint& point) {
      return column_of(plot, columns, point.x) <= column;
    };
    while (next < plot.points.size() && is_passed(plot.points[next])) {
      left = curve_point(plot, plot.points[next++]);
    }
    const double edge = (column + 0.5) / (columns - 1);
    const bool level = plot.discrete || next == plot.points.size();
    edges.push_back(level ? left : interpolate(left, curve_point(plot, plot.points[next]), edge));
  }
  return edges;
}

void draw_rise(Canvas& canvas, std::size_t column, int from, int to, const Glyphs& glyphs) {
  const auto cell = [&](int row) -> std::string_view& {
    return canvas[static_cast<std::size_t>(row)][column];
  };
  for (int row = to; row <= from; ++row) cell(row) = glyphs.rise;
  cell(from) = glyphs.rise_begins;
  cell(to) = from == to ? glyphs.level : glyphs.rise_ends;
}

void draw_column(Canvas& canvas, const VerticalAxis& axis, std::size_t column,
                 const CurvePoint& from, const CurvePoint& to, const Glyphs& glyphs) {
  for (int row = axis.row_of(to.high); row <= axis.row_of(from.low); ++row) {
    canvas[static_cast<std::size_t>(row)][column] = glyphs.band;
  }
  if (std::isnan(to.probability)) return;
  draw_rise(canvas, column, axis.row_of(from.probability), axis.row_of(to.probability), glyphs);
}

void write_in_the_middle(Canvas& canvas, std::string_view note) {
  std::vector<std::string_view>& row = canvas[canvas.size() / 2];
  const std::size_t begin = (row.size() - note.size()) / 2;
  for (std::size_t i = 0; i < note.size(); ++i) row[begin + i] = note.substr(i, 1);
}

Canvas draw_canvas(const CdfPlot& plot, const VerticalAxis& axis, int columns,
                   const Glyphs& glyphs) {
  Canvas canvas(static_cast<std::size_t>(axis.rows),
                std::vector<std::string_view>(static_cast<std::size_t>(columns), " "));
  CurvePoint from = curve_start(plot);
  const std::vector<CurvePoint> edges = curve_at_right_edges(plot, columns);
  for (std::size_t column = 0; column < edges.size(); ++column) {
    draw_column(canvas, axis, column, from, edges[column], glyphs);
    from = edges[column];
  }
  if (!has_curve(plot)) write_in_the_middle(canvas, " no rows ");
  return canvas;
}

void check_side(std::string_view side, std::int64_t size, int smallest, int largest,
                std::string_view unit) {
  if (smallest <= size && size <= largest) return;
  throw ParameterError("the " + std::string(side) + " of a text plot must be " +
                           std::to_string(smallest) + " to " + std::to_string(largest) + " " +
                           std::string(unit) + ", got " + std::to_string(size),
                       "78 columns and 22 lines suit most terminals.");
}

}  // namespace

void check_text_size(std::int64_t width, std::int64_t height) {
  check_side("width", width, kMinWidth, kMaxWidth, "columns");
  check_side("height", height, kMinHeight, kMaxHeight, "lines");
}

std::vector<std::string> draw_text(const CdfPlot& plot, int width, int height, bool utf8) {
  check_text_size(width, height);
  const Glyphs& glyphs = utf8 ? kUtf8 : kAscii;
  std::vector<std::string> lines = draw_legend(plot, width, glyphs);
  constexpr int kAxisLines = 2;
  const VerticalAxis vertical =
      fit_vertical_axis(height - kAxisLines - static_cast<int>(lines.size()));
  const int margin = static_cast<int>(vertical.label_width()) + 2;
  const HorizontalAxis horizontal = fit_horizontal_axis(plot, margin, width);
  const Canvas canvas = draw_canvas(plot, vertical, horizontal.columns, glyphs);
  for (int row = 0; row < vertical.rows; ++row) {
    std::string line = left_of_row(vertical, row, glyphs);
    for (const std::string_view cell : canvas[static_cast<std::size_t>(row)]) line += cell;
    trim_right(line);
    lines.push_back(line);
  }
  lines.push_back(draw_horizontal_axis(plot, horizontal, glyphs));
  lines.push_back(draw_tick_labels(plot, horizontal));
  return lines;
}

}  // namespace dpquantile
