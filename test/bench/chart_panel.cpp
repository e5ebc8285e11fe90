#include "chart_panel.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/decimal_format.hpp"
#include "core/plot/svg_writer.hpp"
#include "svg_elements.hpp"

namespace dpquantile::bench {

namespace {

constexpr double kMarkRadius = 3.2;
constexpr double kAlmost = 0.999;

constexpr std::string_view kColours[] = {"#6e7781", "#0b57c2", "#54aeff", "#1a7f37", "#bc4c00",
                                         "#bf3989", "#8250df", "#9a6700", "#24292f", "#cf222e"};

// The marks from the last one at or below least to the first one at or above largest.
std::vector<double> ticks_between(double least, double largest, const std::vector<double>& steps) {
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(least)));; ++power) {
    for (const double step : steps) {
      const double tick = step * std::pow(10, power);
      if (tick <= least / kAlmost) ticks.clear();
      ticks.push_back(tick);
      if (ticks.size() > 1 && tick >= largest * kAlmost) return ticks;
    }
  }
}

}  // namespace

std::string series_colour(const std::vector<ChartSeries>& series, std::size_t place) {
  const std::string& given = series[place].colour;
  return given.empty() ? std::string(kColours[place]) : given;
}

PanelRange range_of(const std::vector<ChartSeries>& series, double floor) {
  const ChartPoint& first = series.front().points.front();
  PanelRange range{first.x, first.x, std::max(first.y, floor), std::max(first.y, floor)};
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      const double y = std::max(point.y, floor);
      range.least_x = std::min(range.least_x, point.x);
      range.largest_x = std::max(range.largest_x, point.x);
      range.least_y = std::min(range.least_y, y);
      range.largest_y = std::max(range.largest_y, y);
    }
  }
  return range;
}

LogAxis::LogAxis(double least, double largest, double from, double to, double least_step)
    : from_(from), to_(to), ticks_(ticks_between(least, largest, {1, 2, 5})) {
  lower_ = std::log(ticks_.front());
  upper_ = std::log(ticks_.back());
  const double step = std::abs(pixel(2) - pixel(1));
  if (step >= least_step) return;
  std::vector<double> powers;
  for (const double tick : ticks_) {
    const double power = std::log10(tick);
    if (std::abs(power - std::round(power)) < 1e-9) powers.push_back(tick);
  }
  if (powers.size() > 1) ticks_ = std::move(powers);
}

double LogAxis::pixel(double value) const {
  return from_ + (to_ - from_) * (std::log(value) - lower_) / (upper_ - lower_);
}

ChartPanel::ChartPanel(const PanelFrame& frame, const PanelRange& range, double floor)
    : frame_(frame),
      floor_(floor),
      x_axis_(range.least_x, range.largest_x, frame.left, frame.right, 2 * frame.font),
      y_axis_(range.least_y, range.largest_y, frame.bottom, frame.top, 1.4 * frame.font) {}

double ChartPanel::y_pixel(const ChartPoint& point) const {
  return y_axis_.pixel(std::max(point.y, floor_));
}

std::string ChartPanel::axes() const {
  const double font = frame_.font;
  std::string grid;
  std::string labels;
  for (const double tick : x_axis_.ticks()) {
    const double x = x_axis_.pixel(tick);
    grid += path_data({path_point(x, frame_.top), path_point(x, frame_.bottom)});
    labels += text_element(shortest_decimal(tick), x, frame_.bottom + 1.5 * font, {"middle", font});
  }
  for (const double tick : y_axis_.ticks()) {
    const double y = y_axis_.pixel(tick);
    grid += path_data({path_point(frame_.left, y), path_point(frame_.right, y)});
    const bool is_floor = floor_ > 0 && tick <= floor_ / kAlmost;
    labels += text_element((is_floor ? "\u2264 " : "") + shortest_decimal(tick),
                           frame_.left - 0.6 * font, y + 0.35 * font, {"end", font});
  }
  const std::string border =
      path_data({path_point(frame_.left, frame_.top), path_point(frame_.left, frame_.bottom),
                 path_point(frame_.right, frame_.bottom)});
  return path_element("#e3e7eb", grid, 1) + path_element("#818b98", border, 1) + labels;
}

std::string ChartPanel::lines(const std::vector<ChartSeries>& series) const {
  std::string drawn;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string colour = series_colour(series, i);
    const double radius =
        std::max(series[i].dashed ? 0.6 * kMarkRadius : kMarkRadius, 0.6 * series[i].stroke);
    std::vector<PathPoint> points;
    std::string marks;
    for (const ChartPoint& point : series[i].points) {
      points.push_back(path_point(x_pixel(point), y_pixel(point)));
      marks += circle_element(colour, x_pixel(point), y_pixel(point), radius);
    }
    const std::string dashes = series[i].dashed ? svg_attribute("stroke-dasharray", "6 4") : "";
    drawn += path_element(colour, path_data(points), series[i].stroke,
                          svg_attribute("stroke-linejoin", "round") + dashes) +
             marks;
  }
  return drawn;
}

}  // namespace dpquantile::bench
