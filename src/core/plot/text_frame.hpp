#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plot/axis_ticks.hpp"

// What the text plots have in common: legend and horizontal axis.
namespace dpquantile {

// The characters of the axes, one column each.
struct TextAxisGlyphs {
  std::string_view left_axis;
  std::string_view left_tick;
  std::string_view corner;
  std::string_view bottom_axis;
  std::string_view bottom_tick;
};
inline constexpr TextAxisGlyphs kUtf8Axes{"│", "┤", "└", "─", "┬"};
inline constexpr TextAxisGlyphs kAsciiAxes{"|", "+", "+", "-", "+"};

// Cells of one column each, row by row from the top.
using TextCanvas = std::vector<std::vector<std::string_view>>;

// The mark is one column wide, or empty; the text is ASCII.
struct TextLegendItem {
  std::string_view mark;
  std::string text;
};

// The lines of a legend, of at most `width` columns unless an item alone is longer.
std::vector<std::string> draw_text_legend(const std::vector<TextLegendItem>& items, int width);

struct TextAxis {
  int margin;   // columns to the left of the plot area
  int columns;  // of the plot area
  int width;    // of the whole plot
  std::vector<PlacedTick> ticks;

  // The column of the plot area for a place: 0 for the left end, the last for the right end.
  int column_of(double across) const;
};

// The axis with as many ticks as suit round numbers, or as many as fit.
enum class TickDensity { kRoundNumbers, kFull };
TextAxis fit_text_axis(const TickMaker& make, TickDensity density, int margin, int width);

// The label of a line of the plot area, the axis beside it and the cells, without blanks at the
// end. `width` is that of the widest label.
std::string draw_text_row(const std::string& label, std::size_t width,
                          const std::vector<std::string_view>& cells, const TextAxisGlyphs& glyphs);

// The axis, and the line with its labels.
std::string draw_text_axis(const TextAxis& axis, const TextAxisGlyphs& glyphs);
std::string draw_text_axis_labels(const TextAxis& axis);

}  // namespace dpquantile
