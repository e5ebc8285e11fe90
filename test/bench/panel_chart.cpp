#include "panel_chart.hpp"

#include <algorithm>

#include "chart_panel.hpp"
#include "core/plot/svg_writer.hpp"
#include "core/plot/text_width.hpp"
#include "svg_elements.hpp"

namespace dpquantile::bench {

namespace {

constexpr int kWidth = 1140;
constexpr int kPanelHeight = 310;
constexpr double kPadding = 16;
constexpr double kSmallFont = 12;
constexpr double kSample = 34;  // the length of a line in the legend
constexpr double kLegendStep = 1.6 * kFont;
constexpr std::size_t kColumns = 3;

class PanelDrawing {
 public:
  explicit PanelDrawing(const PanelChart& chart)
      : chart_(chart),
        columns_(std::min(kColumns, chart.panels.size())),
        rows_((chart.panels.size() + columns_ - 1) / columns_) {
    place_legend();
    for (const Panel& panel : chart.panels)
      all_.insert(all_.end(), panel.series.begin(), panel.series.end());
  }

  std::string document() const {
    const int height =
        static_cast<int>(panels_top_ + static_cast<double>(rows_) * kPanelHeight + 2.2 * kFont);
    std::string drawn = chart_opening(chart_.title, kWidth, height) + titles(height) + legend();
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) drawn += panel(i);
    return drawn + "</svg>\n";
  }

 private:
  struct Place {
    double x;
    double y;
  };

  // Places the labels in lines below the title, each filled as far as there is room.
  void place_legend() {
    Place next{kPadding, kPadding + 4.9 * kFont};
    for (const ChartSeries& series : chart_.legend) {
      const double width = kSample + 6 + 0.82 * kFont * estimated_ems(series.label) + 12;
      if (next.x > kPadding && next.x + width > kWidth - kPadding)
        next = {kPadding, next.y + kLegendStep};
      legend_places_.push_back(next);
      next.x += width;
    }
    panels_top_ = next.y + 0.8 * kFont;
  }

  std::string titles(int height) const {
    return text_element(chart_.title, kPadding, kPadding + 1.2 * kFont,
                        {"start", 1.3 * kFont, "#1f2328", "600"}) +
           text_element(chart_.subtitle, kPadding, kPadding + 2.8 * kFont, {}) +
           text_element(chart_.x_title, kWidth / 2.0, height - kPadding, {"middle"}) +
           upward_text(chart_.y_title, kPadding + 0.5 * kFont,
                       panels_top_ + static_cast<double>(rows_) * kPanelHeight / 2);
  }

  std::string legend() const {
    std::string drawn;
    for (std::size_t i = 0; i < chart_.legend.size(); ++i) {
      const ChartSeries& series = chart_.legend[i];
      const auto [x, y] = legend_places_[i];
      const std::string colour = series_colour(chart_.legend, i);
      const std::string dashes = series.dashed ? svg_attribute("stroke-dasharray", "6 4") : "";
      drawn += path_element(colour, path_data({path_point(x, y), path_point(x + kSample, y)}),
                            series.stroke, dashes) +
               text_element(series.label, x + kSample + 6, y + 0.35 * kFont,
                            {"start", kFont, "#1f2328"});
    }
    return drawn;
  }

  std::string panel(std::size_t place) const {
    const Panel& panel = chart_.panels[place];
    const double outer_left = kPadding + 1.4 * kFont;
    const double width = (kWidth - kPadding - outer_left) / static_cast<double>(columns_);
    const double left = outer_left + static_cast<double>(place % columns_) * width;
    const double top = panels_top_ + static_cast<double>(place / columns_) * kPanelHeight;
    const PanelFrame frame{left + 4.2 * kSmallFont, left + width - kSmallFont,
                           top + 2.4 * kSmallFont, top + kPanelHeight - 2.4 * kSmallFont,
                           kSmallFont};
    const ChartPanel plane(frame, range_of(all_, chart_.floor), chart_.floor);
    return text_element(panel.title, frame.left, frame.top - 0.7 * kSmallFont,
                        {"start", kFont, "#1f2328", "600"}) +
           plane.axes() + plane.lines(panel.series);
  }

  const PanelChart& chart_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<Place> legend_places_;
  double panels_top_ = 0;
  std::vector<ChartSeries> all_;
};

}  // namespace

std::string draw_panel_chart(const PanelChart& chart) {
  return PanelDrawing(chart).document();
}

}  // namespace dpquantile::bench
