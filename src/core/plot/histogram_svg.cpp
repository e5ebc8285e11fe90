#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/plot/axis_scale.hpp"
#include "core/plot/cdf_plot.hpp"
#include "core/plot/histogram_bars.hpp"
#include "core/plot/histogram_plot.hpp"
#include "core/plot/svg_frame.hpp"
#include "core/plot/svg_writer.hpp"

namespace dpquantile {

namespace {

// --- Bars ----------------------------------------------------------------------------------------

struct Sides {
  double left;
  double right;
};

// Wide bars have a gap between them.
Sides sides_of(const HistogramBar& bar, const SvgLayout& layout) {
  constexpr double kNarrow = 4;
  const double left = layout.x_of(bar.begin);
  const double right = layout.x_of(bar.end);
  const double width = right - left;
  const double gap = width < kNarrow ? 0 : std::min(0.1 * width, 0.4 * layout.font);
  return {left + gap / 2, right - gap / 2};
}

std::string rectangle(const Sides& sides, double bottom, double top) {
  return path_data({path_point(sides.left, bottom), path_point(sides.left, top),
                    path_point(sides.right, top), path_point(sides.right, bottom)}) +
         "Z";
}

std::string draw_bars(const std::vector<HistogramBar>& bars, double top, const SvgLayout& layout) {
  std::string solid;
  std::string errors;
  for (const HistogramBar& bar : bars) {
    const Sides sides = sides_of(bar, layout);
    if (bar.count > 0) solid += rectangle(sides, layout.bottom, layout.y_of(bar.count / top));
    if (bar.high > bar.low) {
      errors += rectangle(sides, layout.y_of(bar.low / top), layout.y_of(bar.high / top));
    }
  }
  return (solid.empty() ? "" : svg_plot_path("bar", solid, 0)) +
         (errors.empty() ? "" : svg_plot_path("band", errors, 0));
}

// --- Frame ---------------------------------------------------------------------------------------

std::vector<SvgLegendItem> legend_items(const HistogramPlot& plot) {
  using enum SvgLegendItem::Mark;
  std::vector<SvgLegendItem> items = {{kBar, "rows"}};
  if (plot.error) {
    items.push_back(
        {kBand, "error of a bin (±" + readable_number(std::to_string(*plot.error)) + ")"});
  }
  items.push_back({kNone, readable_number(std::to_string(plot.counts.size())) +
                              (plot.counts.size() == 1 ? " bin" : " bins")});
  return items;
}

std::vector<VerticalTick> count_ticks(double top, double fonts) {
  constexpr double kFontsPerTick = 3.5;
  const int most = static_cast<int>(std::clamp(fonts / kFontsPerTick, 2.0, 12.0));
  std::vector<VerticalTick> ticks;
  for (const AxisTick& tick : axis_ticks(0, top, most)) {
    ticks.push_back({tick.value / top, readable_number(tick.label)});
  }
  return ticks;
}

std::string describe(const HistogramPlot& plot) {
  std::string text = "Histogram of rows in " + std::to_string(plot.counts.size()) +
                     (plot.counts.size() == 1 ? " bin from " : " bins from ") +
                     scale_label(plot.scale, plot.bounds.front()) + " to " +
                     scale_label(plot.scale, plot.bounds.back()) +
                     ", released with differential privacy.";
  if (plot.error) text += " The error of each count is " + std::to_string(*plot.error) + ".";
  return text;
}

SvgFrame frame_of(const HistogramPlot& plot, double top, int width, int height,
                  std::string_view title) {
  return {.width = width,
          .height = height,
          .inset = false,
          .title = std::string(title),
          .default_title = "Histogram",
          .description = describe(plot),
          .legend = legend_items(plot),
          .horizontal_title = scale_title(plot.scale),
          .horizontal_ticks = readable_ticks(plot.scale, bound_ticks(plot)),
          .most_horizontal_ticks = 40,
          .vertical_titles = {"rows in a bin", "rows"},
          .vertical_ticks = [top](double fonts) { return count_ticks(top, fonts); }};
}

}  // namespace

std::string draw_histogram_svg(const HistogramPlot& plot, int width, int height,
                               std::string_view title) {
  check_svg_size(width, height);
  const double top = histogram_top(histogram_bars(plot, plot.counts.size()));
  const SvgFrame frame = frame_of(plot, top, width, height, title);
  const SvgLayout layout = lay_out(frame);
  const auto half_pixels = static_cast<std::size_t>(2 * (layout.right - layout.left));
  return draw_framed(frame, layout, draw_bars(histogram_bars(plot, half_pixels), top, layout), "");
}

}  // namespace dpquantile
