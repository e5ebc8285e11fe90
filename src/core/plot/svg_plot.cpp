#include <algorithm>
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
#include "core/plot/svg_frame.hpp"
#include "core/plot/svg_writer.hpp"

namespace dpquantile {

namespace {

constexpr int kMinSide = 200;
constexpr int kMaxSide = 4000;

// --- Curve and band ------------------------------------------------------------------------------

// Keeps at most two points in each half of a pixel column, the first and the last. The lines never
// fall, so these points are their extremes.
std::vector<CurvePoint> visible_points(const CdfPlot& plot, const SvgLayout& layout) {
  const auto column_of = [&](const CurvePoint& point) {
    return std::floor(2 * layout.x_of(point.across));
  };
  std::vector<CurvePoint> visible;
  std::size_t in_column = 0;
  for (const CdfPoint& point : plot.points) {
    const CurvePoint next = curve_point(plot, point);
    const bool same = !visible.empty() && column_of(visible.back()) == column_of(next);
    in_column = same ? in_column + 1 : 1;
    if (in_column > 2) visible.pop_back();
    visible.push_back(next);
  }
  return visible;
}

using Height = double CurvePoint::*;

// One line of the plot, the curve or an edge of the band, from the left axis to the right end.
std::vector<PathPoint> line_through(const CdfPlot& plot, const SvgLayout& layout,
                                    const std::vector<CurvePoint>& points, Height height) {
  double y = layout.y_of(curve_start(plot).*height);
  std::vector<PathPoint> line_points{path_point(layout.left, y), path_point(layout.x_of(0), y)};
  for (const CurvePoint& point : points) {
    const double x = layout.x_of(point.across);
    if (plot.discrete) line_points.push_back(path_point(x, y));
    y = layout.y_of(point.*height);
    line_points.push_back(path_point(x, y));
  }
  line_points.push_back(path_point(layout.right, y));
  return line_points;
}

std::string draw_band(const CdfPlot& plot, const SvgLayout& layout,
                      const std::vector<CurvePoint>& points) {
  std::vector<PathPoint> outline = line_through(plot, layout, points, &CurvePoint::high);
  const std::vector<PathPoint> low = line_through(plot, layout, points, &CurvePoint::low);
  outline.insert(outline.end(), low.rbegin(), low.rend());
  return svg_plot_path("band", path_data(outline) + "Z", 0);
}

std::string draw_curve(const CdfPlot& plot, const SvgLayout& layout,
                       const std::vector<CurvePoint>& points) {
  return svg_plot_path("curve",
                       path_data(line_through(plot, layout, points, &CurvePoint::probability)),
                       0.16 * layout.font);
}

// --- Frame ---------------------------------------------------------------------------------------

std::vector<SvgLegendItem> legend_items(const CdfPlot& plot) {
  using enum SvgLegendItem::Mark;
  const bool pure = plot.privacy.measure == PrivacyMeasure::kPure;
  return {
      {kCurve, "CDF"},
      {kBand, percentage(plot.confidence) + " band"},
      {kNone, readable_number(std::to_string(plot.rows)) + (plot.rows == 1 ? " row" : " rows")},
      {kNone, (pure ? "ε = " : "ρ = ") + readable_number(shortest_decimal(plot.privacy.value))}};
}

std::vector<VerticalTick> probability_ticks(double fonts) {
  if (fonts < 9) return {{0, "0.0"}, {0.5, "0.5"}, {1, "1.0"}};
  if (fonts < 36) return {{0, "0.00"}, {0.25, "0.25"}, {0.5, "0.50"}, {0.75, "0.75"}, {1, "1.00"}};
  return {{0, "0.0"},   {0.1, "0.1"}, {0.2, "0.2"}, {0.3, "0.3"}, {0.4, "0.4"}, {0.5, "0.5"},
          {0.6, "0.6"}, {0.7, "0.7"}, {0.8, "0.8"}, {0.9, "0.9"}, {1, "1.0"}};
}

std::string describe(const CdfPlot& plot) {
  const bool pure = plot.privacy.measure == PrivacyMeasure::kPure;
  return "Cumulative distribution of " + std::to_string(plot.rows) + " rows from " +
         scale_label(plot.scale, plot.lower) + " to " + scale_label(plot.scale, plot.upper) +
         " with a " + percentage(plot.confidence) + " confidence band, released with " +
         (pure ? "differential privacy" : "zero-concentrated differential privacy") + " at " +
         parameter_name(plot.privacy.measure) + " " + shortest_decimal(plot.privacy.value) + ".";
}

SvgFrame frame_of(const CdfPlot& plot, int width, int height, std::string_view title) {
  const std::string_view longest =
      plot.discrete ? "fraction of rows ≤ value" : "fraction of rows below value";
  return {.width = width,
          .height = height,
          .inset = true,
          .title = std::string(title),
          .default_title = "Cumulative distribution",
          .description = describe(plot),
          .legend = legend_items(plot),
          .horizontal_title = scale_title(plot.scale),
          .horizontal_ticks =
              readable_ticks(plot.scale, ticks_between(plot.scale, plot.lower, plot.upper)),
          .most_horizontal_ticks = 12,
          .vertical_titles = {longest, "fraction of rows", "fraction"},
          .vertical_ticks = probability_ticks};
}

void check_side(std::string_view side, std::int64_t size) {
  if (kMinSide <= size && size <= kMaxSide) return;
  throw ParameterError("the " + std::string(side) + " of an SVG plot must be " +
                           std::to_string(kMinSide) + " to " + std::to_string(kMaxSide) +
                           " pixels, got " + std::to_string(size),
                       "720 by 440 pixels suit most pages.");
}

}  // namespace

void check_svg_size(std::int64_t width, std::int64_t height) {
  check_side("width", width);
  check_side("height", height);
}

std::string draw_svg(const CdfPlot& plot, int width, int height, std::string_view title) {
  check_svg_size(width, height);
  const SvgFrame frame = frame_of(plot, width, height, title);
  const SvgLayout layout = lay_out(frame);
  const std::vector<CurvePoint> points = visible_points(plot, layout);
  return draw_framed(
      frame, layout, draw_band(plot, layout, points),
      has_curve(plot) ? draw_curve(plot, layout, points) : svg_note(layout, "no rows"));
}

}  // namespace dpquantile
