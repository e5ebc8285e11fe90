#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/plot/axis_scale.hpp"
#include "core/plot/cdf_plot.hpp"
#include "core/plot/plot_legend.hpp"
#include "core/plot/plot_plane.hpp"
#include "core/plot/text_frame.hpp"

namespace dpquantile {

namespace {

constexpr int kMinWidth = 40;
constexpr int kMaxWidth = 400;
constexpr int kMinHeight = 10;
constexpr int kMaxHeight = 200;

struct Glyphs {
  std::string_view level;
  std::string_view rise;
  std::string_view rise_begins;
  std::string_view rise_ends;
  std::string_view band;
};

constexpr Glyphs kUtf8{"━", "┃", "┛", "┏", "░"};
constexpr Glyphs kAscii{"#", "#", "#", "#", "."};

std::vector<TextLegendItem> legend_items(const CdfPlot& plot, const Glyphs& glyphs) {
  std::vector<TextLegendItem> items = {{"", "rows " + std::to_string(plot.rows)},
                                       {"", std::string(parameter_name(plot.privacy.measure)) +
                                                " " + shortest_decimal(plot.privacy.value)},
                                       {glyphs.level, "CDF"},
                                       {glyphs.band, percentage(plot.confidence) + " band"}};
  if (plot.scale == AxisScale::kUtcTimestamp) items.push_back({"", "times in UTC"});
  return items;
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

// --- Curve and band ------------------------------------------------------------------------------

double interpolate(double from, double to, double part) {
  return from + part * (to - from);
}

CurvePoint interpolate(const CurvePoint& left, const CurvePoint& right, double place) {
  const double part = (place - left.across) / (right.across - left.across);
  return {place, interpolate(left.probability, right.probability, part),
          interpolate(left.low, right.low, part), interpolate(left.high, right.high, part)};
}

int column_of(const CdfPlot& plot, int columns, double x) {
  return static_cast<int>(std::lround(across(plot.lower, plot.upper, x) * (columns - 1)));
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

void draw_rise(TextCanvas& canvas, std::size_t column, int from, int to, const Glyphs& glyphs) {
  const auto cell = [&](int row) -> std::string_view& {
    return canvas[static_cast<std::size_t>(row)][column];
  };
  for (int row = to; row <= from; ++row) cell(row) = glyphs.rise;
  cell(from) = glyphs.rise_begins;
  cell(to) = from == to ? glyphs.level : glyphs.rise_ends;
}

void draw_column(TextCanvas& canvas, const VerticalAxis& axis, std::size_t column,
                 const CurvePoint& from, const CurvePoint& to, const Glyphs& glyphs) {
  for (int row = axis.row_of(to.high); row <= axis.row_of(from.low); ++row) {
    canvas[static_cast<std::size_t>(row)][column] = glyphs.band;
  }
  if (std::isnan(to.probability)) return;
  draw_rise(canvas, column, axis.row_of(from.probability), axis.row_of(to.probability), glyphs);
}

void write_in_the_middle(TextCanvas& canvas, std::string_view note) {
  std::vector<std::string_view>& row = canvas[canvas.size() / 2];
  const std::size_t begin = (row.size() - note.size()) / 2;
  for (std::size_t i = 0; i < note.size(); ++i) row[begin + i] = note.substr(i, 1);
}

TextCanvas draw_canvas(const CdfPlot& plot, const VerticalAxis& axis, int columns,
                       const Glyphs& glyphs) {
  TextCanvas canvas(static_cast<std::size_t>(axis.rows),
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
  const TextAxisGlyphs& axes = utf8 ? kUtf8Axes : kAsciiAxes;
  std::vector<std::string> lines = draw_text_legend(legend_items(plot, glyphs), width);
  constexpr int kAxisLines = 2;
  const VerticalAxis vertical =
      fit_vertical_axis(height - kAxisLines - static_cast<int>(lines.size()));
  const int margin = static_cast<int>(vertical.label_width()) + 2;
  const TextAxis horizontal = fit_text_axis(ticks_between(plot.scale, plot.lower, plot.upper),
                                            TickDensity::kRoundNumbers, margin, width);
  const TextCanvas canvas = draw_canvas(plot, vertical, horizontal.columns, glyphs);
  for (int row = 0; row < vertical.rows; ++row) {
    lines.push_back(draw_text_row(probability_label(vertical, row), vertical.label_width(),
                                  canvas[static_cast<std::size_t>(row)], axes));
  }
  lines.push_back(draw_text_axis(horizontal, axes));
  lines.push_back(draw_text_axis_labels(horizontal));
  return lines;
}

}  // namespace dpquantile
