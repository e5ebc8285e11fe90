#include <algorithm>
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
#include "core/plot/svg_writer.hpp"
#include "core/plot/text_width.hpp"

namespace dpquantile {

namespace {

constexpr int kMinSide = 200;
constexpr int kMaxSide = 4000;
constexpr int kMostTicks = 12;
constexpr std::string_view kDefaultTitle = "Cumulative distribution";
constexpr std::string_view kHorizontalTitle = "value";
constexpr std::string_view kDiscreteTitle = "fraction of rows ≤ value";
constexpr std::string_view kContinuousTitle = "fraction of rows below value";
// The estimate is for bold letters; others are narrower.
constexpr double kRegular = 0.9;

// The root's class keeps these rules from changing a page that contains the SVG.
constexpr std::string_view kStyle = R"(<style>
.dpquantile{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
.dpquantile .background{fill:#fff}
.dpquantile .title{fill:#1f2328;font-weight:600}
.dpquantile .text{fill:#4b535d}
.dpquantile .grid{stroke:#e3e7eb;fill:none}
.dpquantile .axis{stroke:#818b98;fill:none}
.dpquantile .band{fill:#1f6feb;fill-opacity:.22}
.dpquantile .curve{stroke:#0b57c2;fill:none;stroke-linejoin:round;stroke-linecap:butt}
@media (prefers-color-scheme:dark){
.dpquantile .background{fill:#0d1117}
.dpquantile .title{fill:#f0f6fc}
.dpquantile .text{fill:#b3bcc7}
.dpquantile .grid{stroke:#262c36}
.dpquantile .axis{stroke:#6e7681}
.dpquantile .band{fill:#58a6ff;fill-opacity:.3}
.dpquantile .curve{stroke:#79c0ff}
}
</style>
)";

// --- Elements ------------------------------------------------------------------------------------

std::string css_class(std::string_view name) {
  return svg_attribute("class", std::string(name));
}

struct Lettering {
  std::string_view css;     // CSS class
  std::string_view anchor;  // start, middle or end
  double size;
};

std::string text_element(std::string_view text, double x, double y, const Lettering& lettering,
                         const std::string& more = "") {
  return svg_text(text, {x, y, lettering.size, lettering.anchor}, css_class(lettering.css) + more);
}

std::string path_element(std::string_view css, const std::string& data, double stroke) {
  return svg_path(data, stroke, css_class(css));
}

std::string line(double x1, double y1, double x2, double y2) {
  return path_data({path_point(x1, y1), path_point(x2, y2)});
}

// "1234567.25" with a comma between the thousands and a true minus sign.
std::string readable_number(std::string_view number) {
  std::string text;
  const std::size_t whole = std::min(number.find_first_of(".e"), number.size());
  for (std::size_t i = 0; i < number.size(); ++i) {
    const bool thousands = i > 0 && i < whole && (whole - i) % 3 == 0 && number[i - 1] != '-';
    if (thousands) text += ',';
    text += number[i] == '-' ? "−" : std::string(1, number[i]);
  }
  return text;
}

// --- Layout --------------------------------------------------------------------------------------

struct LegendItem {
  enum class Mark { kNone, kCurve, kBand };
  Mark mark;
  std::string text;
};

std::vector<LegendItem> legend_items(const CdfPlot& plot) {
  using enum LegendItem::Mark;
  const bool pure = plot.privacy.measure == PrivacyMeasure::kPure;
  return {
      {kCurve, "CDF"},
      {kBand, percentage(plot.confidence) + " band"},
      {kNone, readable_number(std::to_string(plot.rows)) + (plot.rows == 1 ? " row" : " rows")},
      {kNone, (pure ? "ε = " : "ρ = ") + readable_number(shortest_decimal(plot.privacy.value))}};
}

// Sizes in pixels. The font grows with the size of the SVG, and everything else with the font.
struct Layout {
  double width;
  double height;
  double font;
  double left;
  double right;
  double top;
  double bottom;
  std::size_t legend_rows;
  std::string title;

  double padding() const { return font; }
  double title_size() const { return 1.3 * font; }
  double line_height() const { return 1.55 * font; }
  double first_legend_line() const { return padding() + (title.empty() ? 0 : 2.1 * font) + font; }
  // The room beside the bounds makes the curve's jumps there visible.
  double inset() const { return 0.5 * font; }
  double x_of(double across) const {
    return left + inset() + across * (right - left - 2 * inset());
  }
  double y_of(double up) const { return bottom - up * (bottom - top); }
};

double font_for(int width, int height) {
  return std::clamp(std::min(width / 62.0, height / 34.0), 10.0, 40.0);
}

constexpr double kMarkEms = 1.8;
constexpr double kMarkGapEms = 0.5;
constexpr double kItemGapEms = 1.6;

double item_ems(const LegendItem& item) {
  const bool marked = item.mark != LegendItem::Mark::kNone;
  return kRegular * estimated_ems(item.text) + (marked ? kMarkEms + kMarkGapEms : 0);
}

std::vector<std::size_t> legend_starts(const std::vector<LegendItem>& items, const Layout& layout) {
  std::vector<double> widths;
  for (const LegendItem& item : items) widths.push_back(item_ems(item) * layout.font);
  return legend_lines(widths, kItemGapEms * layout.font, layout.width - 2 * layout.padding());
}

double label_width(const Layout& layout, const AxisTick& tick) {
  return kRegular * estimated_ems(readable_number(tick.label)) * layout.font;
}

// Half of the widest label, which may be centred on the end of the axis.
double overhang(const CdfPlot& plot, const Layout& layout) {
  double widest = 0;
  for (const AxisTick& tick : axis_ticks(plot.lower, plot.upper, kMostTicks / 2)) {
    widest = std::max(widest, label_width(layout, tick));
  }
  return widest / 2;
}

Layout lay_out(const CdfPlot& plot, int width, int height, std::string_view title) {
  Layout layout{};
  layout.width = width;
  layout.height = height;
  layout.font = font_for(width, height);
  layout.title = title;
  const std::vector<LegendItem> items = legend_items(plot);
  layout.legend_rows = legend_starts(items, layout).size();
  const double legend_height = static_cast<double>(layout.legend_rows) * layout.line_height();
  layout.top = layout.first_legend_line() - layout.font + legend_height + 0.8 * layout.font;
  layout.bottom = height - 4 * layout.font;
  layout.left = 5.2 * layout.font;
  layout.right =
      width - std::clamp(overhang(plot, layout) - layout.inset(), 1.5 * layout.font, width / 4.0);
  return layout;
}

// --- Curve and band ------------------------------------------------------------------------------

// Keeps at most two points in each half of a pixel column, the first and the last. The lines never
// fall, so these points are their extremes.
std::vector<CurvePoint> visible_points(const CdfPlot& plot, const Layout& layout) {
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
std::vector<PathPoint> line_through(const CdfPlot& plot, const Layout& layout,
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

std::string draw_band(const CdfPlot& plot, const Layout& layout,
                      const std::vector<CurvePoint>& points) {
  std::vector<PathPoint> outline = line_through(plot, layout, points, &CurvePoint::high);
  const std::vector<PathPoint> low = line_through(plot, layout, points, &CurvePoint::low);
  outline.insert(outline.end(), low.rbegin(), low.rend());
  return path_element("band", path_data(outline) + "Z", 0);
}

std::string draw_curve(const CdfPlot& plot, const Layout& layout,
                       const std::vector<CurvePoint>& points) {
  return path_element("curve",
                      path_data(line_through(plot, layout, points, &CurvePoint::probability)),
                      0.16 * layout.font);
}

std::string draw_note(const Layout& layout) {
  return text_element("no rows", (layout.left + layout.right) / 2,
                      layout.y_of(0.5) + 0.35 * layout.font,
                      {"title", "middle", layout.title_size()});
}

// --- Axes ----------------------------------------------------------------------------------------

struct ProbabilityTick {
  double value;
  std::string_view label;
};

std::vector<ProbabilityTick> probability_ticks(const Layout& layout) {
  const double lines = (layout.bottom - layout.top) / layout.font;
  if (lines < 9) return {{0, "0.0"}, {0.5, "0.5"}, {1, "1.0"}};
  if (lines < 36) return {{0, "0.00"}, {0.25, "0.25"}, {0.5, "0.50"}, {0.75, "0.75"}, {1, "1.00"}};
  return {{0, "0.0"},   {0.1, "0.1"}, {0.2, "0.2"}, {0.3, "0.3"}, {0.4, "0.4"}, {0.5, "0.5"},
          {0.6, "0.6"}, {0.7, "0.7"}, {0.8, "0.8"}, {0.9, "0.9"}, {1, "1.0"}};
}

double label_middle(const CdfPlot& plot, const Layout& layout, const AxisTick& tick) {
  const double half = label_width(layout, tick) / 2;
  const double margin = 0.3 * layout.font;
  const double middle = layout.x_of(across(plot, tick.value));
  return std::clamp(middle, half + margin, layout.width - half - margin);
}

std::vector<AxisTick> value_ticks(const CdfPlot& plot, const Layout& layout) {
  return ticks_that_fit(plot.lower, plot.upper, kMostTicks, 1.5 * layout.font,
                        [&](const AxisTick& tick) {
                          const double middle = label_middle(plot, layout, tick);
                          const double half = label_width(layout, tick) / 2;
                          return LabelSpan{middle - half, middle + half};
                        });
}

std::string draw_grid(const CdfPlot& plot, const Layout& layout,
                      const std::vector<AxisTick>& ticks) {
  std::string data;
  for (const ProbabilityTick& tick : probability_ticks(layout)) {
    data += line(layout.left, layout.y_of(tick.value), layout.right, layout.y_of(tick.value));
  }
  for (const AxisTick& tick : ticks) {
    const double x = layout.x_of(across(plot, tick.value));
    data += line(x, layout.top, x, layout.bottom);
  }
  return path_element("grid", data, 0.08 * layout.font);
}

std::string draw_axes(const CdfPlot& plot, const Layout& layout,
                      const std::vector<AxisTick>& ticks) {
  const double tick_length = 0.4 * layout.font;
  std::string data =
      path_data({path_point(layout.left, layout.top), path_point(layout.left, layout.bottom),
                 path_point(layout.right, layout.bottom)});
  for (const ProbabilityTick& tick : probability_ticks(layout)) {
    const double y = layout.y_of(tick.value);
    data += line(layout.left - tick_length, y, layout.left, y);
  }
  for (const AxisTick& tick : ticks) {
    const double x = layout.x_of(across(plot, tick.value));
    data += line(x, layout.bottom, x, layout.bottom + tick_length);
  }
  return path_element("axis", data, 0.08 * layout.font);
}

std::string draw_tick_labels(const CdfPlot& plot, const Layout& layout,
                             const std::vector<AxisTick>& ticks) {
  std::string labels;
  for (const ProbabilityTick& tick : probability_ticks(layout)) {
    labels +=
        text_element(tick.label, layout.left - 0.7 * layout.font,
                     layout.y_of(tick.value) + 0.35 * layout.font, {"text", "end", layout.font});
  }
  for (const AxisTick& tick : ticks) {
    labels += text_element(readable_number(tick.label), label_middle(plot, layout, tick),
                           layout.bottom + 1.5 * layout.font, {"text", "middle", layout.font});
  }
  return labels;
}

// The longest title that fits.
std::string_view vertical_title(const CdfPlot& plot, const Layout& layout) {
  const double room = (layout.bottom - layout.top) / layout.font;
  const std::string_view full = plot.discrete ? kDiscreteTitle : kContinuousTitle;
  for (const std::string_view title :
       {full, std::string_view("fraction of rows"), std::string_view("fraction")}) {
    if (kRegular * estimated_ems(title) <= room) return title;
  }
  return "";
}

std::string draw_axis_titles(const CdfPlot& plot, const Layout& layout) {
  const Lettering lettering{"text", "middle", layout.font};
  const double x = layout.padding() + 0.4 * layout.font;
  const double y = (layout.top + layout.bottom) / 2;
  return text_element(kHorizontalTitle, (layout.left + layout.right) / 2,
                      layout.height - layout.padding(), lettering) +
         text_element(vertical_title(plot, layout), x, y, lettering, svg_turned_upwards(x, y));
}

// --- Title and legend ----------------------------------------------------------------------------

std::string draw_title(const Layout& layout) {
  if (layout.title.empty()) return "";
  const double room = layout.width - 2 * layout.padding();
  const double wanted = room / estimated_ems(layout.title);
  const double size = std::clamp(wanted, layout.font, layout.title_size());
  return text_element(shortened(layout.title, room / size), layout.padding(),
                      layout.padding() + layout.title_size(), {"title", "start", size});
}

std::string draw_mark(LegendItem::Mark mark, double x, double baseline, double font) {
  const double middle = baseline - 0.35 * font;
  const double end = x + kMarkEms * font;
  if (mark == LegendItem::Mark::kCurve) {
    return path_element("curve", line(x, middle, end, middle), 0.16 * font);
  }
  const std::string box =
      path_data({path_point(x, middle - 0.45 * font), path_point(end, middle - 0.45 * font),
                 path_point(end, middle + 0.45 * font), path_point(x, middle + 0.45 * font)});
  return path_element("band", box + "Z", 0);
}

std::string draw_legend(const CdfPlot& plot, const Layout& layout) {
  const std::vector<LegendItem> items = legend_items(plot);
  const std::vector<std::size_t> starts = legend_starts(items, layout);
  std::string legend;
  double x = layout.padding();
  double baseline = layout.first_legend_line() - layout.line_height();
  for (std::size_t item = 0; item < items.size(); ++item) {
    if (std::ranges::binary_search(starts, item)) {
      x = layout.padding();
      baseline += layout.line_height();
    }
    const bool marked = items[item].mark != LegendItem::Mark::kNone;
    const double text_x = x + (marked ? kMarkEms + kMarkGapEms : 0) * layout.font;
    if (marked) legend += draw_mark(items[item].mark, x, baseline, layout.font);
    legend += text_element(items[item].text, text_x, baseline, {"text", "start", layout.font});
    x += (item_ems(items[item]) + kItemGapEms) * layout.font;
  }
  return legend;
}

std::string describe(const CdfPlot& plot) {
  const bool pure = plot.privacy.measure == PrivacyMeasure::kPure;
  return "Cumulative distribution of " + std::to_string(plot.rows) + " rows from " +
         shortest_decimal(plot.lower) + " to " + shortest_decimal(plot.upper) + " with a " +
         percentage(plot.confidence) + " confidence band, released with " +
         (pure ? "differential privacy" : "zero-concentrated differential privacy") + " at " +
         parameter_name(plot.privacy.measure) + " " + shortest_decimal(plot.privacy.value) + ".";
}

std::string opening(const CdfPlot& plot, int width, int height, std::string_view title) {
  return svg_opening(css_class("dpquantile"), width, height,
                     title.empty() ? kDefaultTitle : title) +
         "<desc>" + xml_text(describe(plot)) + "</desc>\n" + std::string(kStyle) + "<rect" +
         css_class("background") + " width=\"100%\" height=\"100%\"/>\n";
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
  const Layout layout = lay_out(plot, width, height, title);
  const std::vector<AxisTick> ticks = value_ticks(plot, layout);
  const std::vector<CurvePoint> points = visible_points(plot, layout);
  return opening(plot, width, height, title) + draw_title(layout) + draw_legend(plot, layout) +
         draw_grid(plot, layout, ticks) + draw_band(plot, layout, points) +
         draw_axes(plot, layout, ticks) +
         (has_curve(plot) ? draw_curve(plot, layout, points) : draw_note(layout)) +
         draw_tick_labels(plot, layout, ticks) + draw_axis_titles(plot, layout) + "</svg>\n";
}

}  // namespace dpquantile
