#include "line_chart.hpp"

#include <algorithm>
#include <numeric>

#include "chart_panel.hpp"
#include "core/plot/svg_writer.hpp"
#include "core/plot/text_width.hpp"
#include "svg_elements.hpp"

namespace dpquantile::bench {

namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 560;
constexpr double kPadding = 16;
constexpr double kLabelStep = 1.35 * kFont;
constexpr double kLeader = 26;  // from a line's end to its label

double widest_label(const std::vector<ChartSeries>& series) {
  double widest = 0;
  for (const ChartSeries& one : series)
    widest = std::max(widest, 0.85 * kFont * estimated_ems(one.label));
  return widest;
}

class ChartDrawing {
 public:
  ChartDrawing(const LineChart& chart, int width, int height)
      : chart_(chart),
        width_(width),
        height_(height),
        frame_{kPadding + 5 * kFont, width - kPadding - kLeader - widest_label(chart.series),
               kPadding + (chart.subtitle.empty() ? 3 : 4.6) * kFont,
               height - kPadding - 3.2 * kFont, kFont},
        panel_(frame_, range_of(chart.series, 0), 0) {}

  std::string document() const {
    return chart_opening(chart_.title, width_, height_) + titles() + panel_.axes() +
           panel_.lines(chart_.series) + labels() + "</svg>\n";
  }

 private:
  std::string titles() const {
    return text_element(chart_.title, kPadding, kPadding + 1.2 * kFont,
                        {"start", 1.3 * kFont, "#1f2328", "600"}) +
           text_element(chart_.subtitle, kPadding, kPadding + 2.8 * kFont, {}) +
           text_element(chart_.x_title, (frame_.left + frame_.right) / 2, height_ - kPadding,
                        {"middle"}) +
           upward_text(chart_.y_title, kPadding + 0.5 * kFont, (frame_.top + frame_.bottom) / 2);
  }

  double end_of(std::size_t series) const {
    return panel_.y_pixel(chart_.series[series].points.back());
  }

  // The heights of the labels, near the lines' ends, in their order and at least a step apart.
  std::vector<double> label_heights() const {
    std::vector<std::size_t> order(chart_.series.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
    std::vector<double> heights(order.size());
    double least = frame_.top;
    for (const std::size_t i : order) {
      heights[i] = std::max(end_of(i), least);
      least = heights[i] + kLabelStep;
    }
    double most = frame_.bottom;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      heights[*i] = std::min(heights[*i], most);
      most = heights[*i] - kLabelStep;
    }
    return heights;
  }

  std::string labels() const {
    const std::vector<double> heights = label_heights();
    std::string drawn;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const ChartSeries& series = chart_.series[i];
      const std::string colour = series_colour(chart_.series, i);
      const double end = panel_.x_pixel(series.points.back());
      const double x = frame_.right + kLeader - 4;
      drawn += path_element(
          colour, path_data({path_point(end, end_of(i)), path_point(x, heights[i])}), 0.7);
      drawn += text_element(series.label, x + 4, heights[i] + 0.35 * kFont,
                            {"start", kFont, colour, "500"});
    }
    return drawn;
  }

  const LineChart& chart_;
  int width_;
  int height_;
  PanelFrame frame_;
  ChartPanel panel_;
};

}  // namespace

std::string draw_line_chart(const LineChart& chart, int width, int height) {
  return ChartDrawing(chart, width, height).document();
}

void write_line_chart(const LineChart& chart, const std::string& path) {
  write_svg(draw_line_chart(chart, kWidth, kHeight), path);
}

}  // namespace dpquantile::bench
