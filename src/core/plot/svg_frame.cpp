#include "core/plot/svg_frame.hpp"

#include <algorithm>
#include <cmath>

#include "core/plot/plot_legend.hpp"
#include "core/plot/text_width.hpp"

namespace dpquantile {

namespace {

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
.dpquantile .bar{fill:#0b57c2;fill-opacity:.62}
.dpquantile .curve{stroke:#0b57c2;fill:none;stroke-linejoin:round;stroke-linecap:butt}
@media (prefers-color-scheme:dark){
.dpquantile .background{fill:#0d1117}
.dpquantile .title{fill:#f0f6fc}
.dpquantile .text{fill:#b3bcc7}
.dpquantile .grid{stroke:#262c36}
.dpquantile .axis{stroke:#6e7681}
.dpquantile .band{fill:#58a6ff;fill-opacity:.3}
.dpquantile .bar{fill:#79c0ff}
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

std::string line(double x1, double y1, double x2, double y2) {
  return path_data({path_point(x1, y1), path_point(x2, y2)});
}

double regular_ems(std::string_view text) {
  return kRegular * estimated_ems(text);
}

// --- Layout --------------------------------------------------------------------------------------

double font_for(int width, int height) {
  return std::clamp(std::min(width / 62.0, height / 34.0), 10.0, 40.0);
}

constexpr double kMarkEms = 1.8;
constexpr double kMarkGapEms = 0.5;
constexpr double kItemGapEms = 1.6;

double item_ems(const SvgLegendItem& item) {
  const bool marked = item.mark != SvgLegendItem::Mark::kNone;
  return regular_ems(item.text) + (marked ? kMarkEms + kMarkGapEms : 0);
}

double first_legend_line(const SvgFrame& frame, const SvgLayout& layout) {
  return layout.padding() + (frame.title.empty() ? 0 : 2.1 * layout.font) + layout.font;
}

std::vector<std::size_t> legend_starts(const SvgFrame& frame, const SvgLayout& layout) {
  std::vector<double> widths;
  for (const SvgLegendItem& item : frame.legend) widths.push_back(item_ems(item) * layout.font);
  return legend_lines(widths, kItemGapEms * layout.font, layout.width - 2 * layout.padding());
}

double label_width(const SvgLayout& layout, const PlacedTick& tick) {
  return regular_ems(tick.label) * layout.font;
}

// Half of the widest label, which may be centred on the end of the axis.
double overhang(const SvgFrame& frame, const SvgLayout& layout) {
  double widest = 0;
  for (const PlacedTick& tick : frame.horizontal_ticks(frame.most_horizontal_ticks / 2)) {
    widest = std::max(widest, label_width(layout, tick));
  }
  return widest / 2;
}

std::vector<VerticalTick> vertical_ticks(const SvgFrame& frame, const SvgLayout& layout) {
  return frame.vertical_ticks((layout.bottom - layout.top) / layout.font);
}

// Room for the title of the axis, and for its labels.
double left_margin(const SvgFrame& frame, const SvgLayout& layout) {
  constexpr double kBesideLabels = 2.85;
  double ems = 5.2;
  for (const VerticalTick& tick : vertical_ticks(frame, layout)) {
    ems = std::max(ems, kBesideLabels + regular_ems(tick.label));
  }
  return ems * layout.font;
}

// --- Axes ----------------------------------------------------------------------------------------

double label_middle(const SvgLayout& layout, const PlacedTick& tick) {
  const double half = label_width(layout, tick) / 2;
  const double margin = 0.3 * layout.font;
  const double middle = layout.x_of(tick.across);
  return std::clamp(middle, half + margin, layout.width - half - margin);
}

std::vector<PlacedTick> value_ticks(const SvgFrame& frame, const SvgLayout& layout) {
  return ticks_that_fit(frame.horizontal_ticks, frame.most_horizontal_ticks, 1.5 * layout.font,
                        [&](const PlacedTick& tick) {
                          const double middle = label_middle(layout, tick);
                          const double half = label_width(layout, tick) / 2;
                          return LabelSpan{middle - half, middle + half};
                        });
}

std::string draw_grid(const SvgFrame& frame, const SvgLayout& layout,
                      const std::vector<PlacedTick>& ticks) {
  std::string data;
  for (const VerticalTick& tick : vertical_ticks(frame, layout)) {
    data += line(layout.left, layout.y_of(tick.up), layout.right, layout.y_of(tick.up));
  }
  for (const PlacedTick& tick : ticks) {
    const double x = layout.x_of(tick.across);
    data += line(x, layout.top, x, layout.bottom);
  }
  return svg_plot_path("grid", data, 0.08 * layout.font);
}

std::string draw_axes(const SvgFrame& frame, const SvgLayout& layout,
                      const std::vector<PlacedTick>& ticks) {
  const double tick_length = 0.4 * layout.font;
  std::string data =
      path_data({path_point(layout.left, layout.top), path_point(layout.left, layout.bottom),
                 path_point(layout.right, layout.bottom)});
  for (const VerticalTick& tick : vertical_ticks(frame, layout)) {
    const double y = layout.y_of(tick.up);
    data += line(layout.left - tick_length, y, layout.left, y);
  }
  for (const PlacedTick& tick : ticks) {
    const double x = layout.x_of(tick.across);
    data += line(x, layout.bottom, x, layout.bottom + tick_length);
  }
  return svg_plot_path("axis", data, 0.08 * layout.font);
}

std::string draw_tick_labels(const SvgFrame& frame, const SvgLayout& layout,
                             const std::vector<PlacedTick>& ticks) {
  std::string labels;
  for (const VerticalTick& tick : vertical_ticks(frame, layout)) {
    labels += text_element(tick.label, layout.left - 0.7 * layout.font,
                           layout.y_of(tick.up) + 0.35 * layout.font, {"text", "end", layout.font});
  }
  for (const PlacedTick& tick : ticks) {
    labels += text_element(tick.label, label_middle(layout, tick),
                           layout.bottom + 1.5 * layout.font, {"text", "middle", layout.font});
  }
  return labels;
}

std::string_view vertical_title(const SvgFrame& frame, const SvgLayout& layout) {
  const double room = (layout.bottom - layout.top) / layout.font;
  for (const std::string_view title : frame.vertical_titles) {
    if (regular_ems(title) <= room) return title;
  }
  return "";
}

std::string draw_axis_titles(const SvgFrame& frame, const SvgLayout& layout) {
  const Lettering lettering{"text", "middle", layout.font};
  const double x = layout.padding() + 0.4 * layout.font;
  const double y = (layout.top + layout.bottom) / 2;
  return text_element(frame.horizontal_title, (layout.left + layout.right) / 2,
                      layout.height - layout.padding(), lettering) +
         text_element(vertical_title(frame, layout), x, y, lettering, svg_turned_upwards(x, y));
}

// --- Title and legend ----------------------------------------------------------------------------

std::string draw_title(const SvgFrame& frame, const SvgLayout& layout) {
  if (frame.title.empty()) return "";
  const double room = layout.width - 2 * layout.padding();
  const double wanted = room / estimated_ems(frame.title);
  const double size = std::clamp(wanted, layout.font, layout.title_size());
  return text_element(shortened(frame.title, room / size), layout.padding(),
                      layout.padding() + layout.title_size(), {"title", "start", size});
}

std::string draw_mark(SvgLegendItem::Mark mark, double x, double baseline, double font) {
  const double middle = baseline - 0.35 * font;
  const double end = x + kMarkEms * font;
  if (mark == SvgLegendItem::Mark::kCurve) {
    return svg_plot_path("curve", line(x, middle, end, middle), 0.16 * font);
  }
  const std::string box =
      path_data({path_point(x, middle - 0.45 * font), path_point(end, middle - 0.45 * font),
                 path_point(end, middle + 0.45 * font), path_point(x, middle + 0.45 * font)});
  return svg_plot_path(mark == SvgLegendItem::Mark::kBar ? "bar" : "band", box + "Z", 0);
}

std::string draw_legend(const SvgFrame& frame, const SvgLayout& layout) {
  const std::vector<std::size_t> starts = legend_starts(frame, layout);
  std::string legend;
  double x = layout.padding();
  double baseline = first_legend_line(frame, layout) - layout.line_height();
  for (std::size_t i = 0; i < frame.legend.size(); ++i) {
    const SvgLegendItem& item = frame.legend[i];
    if (std::ranges::binary_search(starts, i)) {
      x = layout.padding();
      baseline += layout.line_height();
    }
    const bool marked = item.mark != SvgLegendItem::Mark::kNone;
    const double text_x = x + (marked ? kMarkEms + kMarkGapEms : 0) * layout.font;
    if (marked) legend += draw_mark(item.mark, x, baseline, layout.font);
    legend += text_element(item.text, text_x, baseline, {"text", "start", layout.font});
    x += (item_ems(item) + kItemGapEms) * layout.font;
  }
  return legend;
}

std::string opening(const SvgFrame& frame) {
  return svg_opening(css_class("dpquantile"), frame.width, frame.height,
                     frame.title.empty() ? frame.default_title : frame.title) +
         "<desc>" + xml_text(frame.description) + "</desc>\n" + std::string(kStyle) + "<rect" +
         css_class("background") + " width=\"100%\" height=\"100%\"/>\n";
}

std::string readable_label(AxisScale scale, const std::string& label) {
  if (scale == AxisScale::kNumber) return readable_number(label);
  if (label == "infinity") return "∞";
  return label == "-infinity" ? "−∞" : label;
}

}  // namespace

std::string svg_plot_path(std::string_view css, const std::string& data, double stroke) {
  return svg_path(data, stroke, css_class(css));
}

std::string readable_number(std::string_view number) {
  if (number == "Infinity") return "∞";
  if (number == "-Infinity") return "−∞";
  std::string text;
  const std::size_t whole = std::min(number.find_first_of(".e"), number.size());
  for (std::size_t i = 0; i < number.size(); ++i) {
    const bool thousands = i > 0 && i < whole && (whole - i) % 3 == 0 && number[i - 1] != '-';
    if (thousands) text += ',';
    text += number[i] == '-' ? "−" : std::string(1, number[i]);
  }
  return text;
}

TickMaker readable_ticks(AxisScale scale, const TickMaker& make) {
  return [=](int most) {
    std::vector<PlacedTick> ticks = make(most);
    for (PlacedTick& tick : ticks) tick.label = readable_label(scale, tick.label);
    return ticks;
  };
}

SvgLayout lay_out(const SvgFrame& frame) {
  SvgLayout layout{};
  layout.width = frame.width;
  layout.height = frame.height;
  layout.font = font_for(frame.width, frame.height);
  layout.room = frame.inset ? 0.5 * layout.font : 0;
  layout.legend_rows = legend_starts(frame, layout).size();
  const double legend_height = static_cast<double>(layout.legend_rows) * layout.line_height();
  layout.top = first_legend_line(frame, layout) - layout.font + legend_height + 0.8 * layout.font;
  layout.bottom = frame.height - 4 * layout.font;
  layout.left = left_margin(frame, layout);
  layout.right = frame.width - std::clamp(overhang(frame, layout) - layout.room, 1.5 * layout.font,
                                          frame.width / 4.0);
  return layout;
}

std::string svg_note(const SvgLayout& layout, std::string_view note) {
  return text_element(note, (layout.left + layout.right) / 2, layout.y_of(0.5) + 0.35 * layout.font,
                      {"title", "middle", layout.title_size()});
}

std::string draw_framed(const SvgFrame& frame, const SvgLayout& layout, const std::string& under,
                        const std::string& over) {
  const std::vector<PlacedTick> ticks = value_ticks(frame, layout);
  return opening(frame) + draw_title(frame, layout) + draw_legend(frame, layout) +
         draw_grid(frame, layout, ticks) + under + draw_axes(frame, layout, ticks) + over +
         draw_tick_labels(frame, layout, ticks) + draw_axis_titles(frame, layout) + "</svg>\n";
}

}  // namespace dpquantile
