#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plot/axis_ticks.hpp"
#include "core/plot/svg_writer.hpp"
#include "core/plot/time_ticks.hpp"

// What the SVG plots have in common: title, legend, grid, axes with labels, and the style.
namespace dpquantile {

// A drawing in the style of the plots has the CSS class "curve" (a line), "band" or "bar" (areas).
std::string svg_plot_path(std::string_view css, const std::string& data, double stroke);

// "1234567.25" with a comma between the thousands and a true minus sign; "−∞" for "-Infinity".
std::string readable_number(std::string_view number);

// The same ticks with labels for a document: numbers as readable_number() writes them, "∞" for
// "infinity".
TickMaker readable_ticks(AxisScale scale, const TickMaker& make);

struct SvgLegendItem {
  enum class Mark { kNone, kCurve, kBand, kBar };
  Mark mark;
  std::string text;
};

// A mark on the vertical axis; `up` runs from 0 at the bottom to 1 at the top.
struct VerticalTick {
  double up;
  std::string label;
};

// What is around a drawing.
struct SvgFrame {
  int width;
  int height;
  bool inset;  // leaves room beside the ends of the axis, which makes jumps there visible
  std::string title;
  std::string_view default_title;
  std::string description;
  std::vector<SvgLegendItem> legend;
  std::string_view horizontal_title;
  TickMaker horizontal_ticks;
  int most_horizontal_ticks;
  // The first of them that fits is written.
  std::vector<std::string_view> vertical_titles;
  // The ticks of an axis whose height is this many font sizes.
  std::function<std::vector<VerticalTick>(double fonts)> vertical_ticks;
};

// Sizes in pixels. The font grows with the size of the SVG, and everything else with the font.
struct SvgLayout {
  double width;
  double height;
  double font;
  double left;
  double right;
  double top;
  double bottom;
  double room;  // beside the ends of the axis
  std::size_t legend_rows;

  double padding() const { return font; }
  double title_size() const { return 1.3 * font; }
  double line_height() const { return 1.55 * font; }
  // `across` runs from 0 at the left end of the axis to 1 at the right end.
  double x_of(double across) const { return left + room + across * (right - left - 2 * room); }
  double y_of(double up) const { return bottom - up * (bottom - top); }
};

SvgLayout lay_out(const SvgFrame& frame);

// A note in the middle of the plot.
std::string svg_note(const SvgLayout& layout, std::string_view note);

// The whole document. `under` is drawn over the grid and under the axes, `over` over both.
std::string draw_framed(const SvgFrame& frame, const SvgLayout& layout, const std::string& under,
                        const std::string& over);

}  // namespace dpquantile
