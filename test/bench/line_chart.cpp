#include "line_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

#include "core/svg_path.hpp"
#include "core/text.hpp"
#include "core/text_fit.hpp"
#include "core/xml_text.hpp"

namespace dpquantile::bench {

namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 560;
constexpr double kFont = 14;
constexpr double kPadding = 16;
constexpr double kLabelStep = 1.35 * kFont;
constexpr double kLeader = 26;  // from a line's end to its label
constexpr double kMarkRadius = 3.2;

constexpr std::string_view kColours[] = {"#6e7781", "#0b57c2", "#54aeff", "#1a7f37", "#bc4c00",
                                         "#bf3989", "#8250df", "#9a6700", "#24292f", "#cf222e"};

std::string attribute(std::string_view name, const std::string& value) {
  return " " + std::string(name) + "=\"" + value + "\"";
}

std::string attribute(std::string_view name, double pixels) {
  return attribute(name, svg_number(pixels));
}

struct Lettering {
  std::string_view anchor = "start";
  double size = kFont;
  std::string_view colour = "#4b535d";
  std::string_view weight = "400";
};

std::string text_element(std::string_view text, double x, double y, const Lettering& lettering,
                         const std::string& more = "") {
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", lettering.size) +
         attribute("text-anchor", std::string(lettering.anchor)) +
         attribute("fill", std::string(lettering.colour)) +
         attribute("font-weight", std::string(lettering.weight)) + more + ">" + xml_text(text) +
         "</text>\n";
}

std::string path_element(std::string_view colour, const std::string& data, double stroke,
                         const std::string& more = "") {
  return "<path fill=\"none\"" + attribute("stroke", std::string(colour)) +
         attribute("stroke-width", stroke) + attribute("d", data) + more + "/>\n";
}

// A logarithmic axis between two marks of the series ..., 0.5, 1, 2, 5, 10, ...
class LogAxis {
 public:
  // Pixels of the lower and the upper end.
  LogAxis(double least, double largest, double from, double to) : from_(from), to_(to) {
    const int decade = static_cast<int>(std::floor(std::log10(least)));
    for (int power = decade; ticks_.empty() || ticks_.back() < largest * kAlmost; ++power) {
      for (const double step : {1, 2, 5}) {
        const double tick = step * std::pow(10, power);
        const bool enough = !ticks_.empty() && ticks_.back() >= largest * kAlmost;
        if (enough) break;
        if (tick <= least / kAlmost) ticks_.clear();
        ticks_.push_back(tick);
      }
    }
  }

  const std::vector<double>& ticks() const { return ticks_; }
  double pixel(double value) const {
    const double lower = std::log(ticks_.front());
    return from_ + (to_ - from_) * (std::log(value) - lower) / (std::log(ticks_.back()) - lower);
  }

 private:
  static constexpr double kAlmost = 0.999;
  double from_;
  double to_;
  std::vector<double> ticks_;
};

double label_width(const ChartSeries& series) {
  return 0.85 * kFont * estimated_ems(series.label);
}

class ChartDrawing {
 public:
  ChartDrawing(const LineChart& chart, int width, int height)
      : chart_(chart),
        width_(width),
        height_(height),
        left_(kPadding + 5 * kFont),
        right_(width - kPadding - kLeader - widest_label()),
        top_(kPadding + (chart.subtitle.empty() ? 3 : 4.6) * kFont),
        bottom_(height - kPadding - 3.2 * kFont),
        x_axis_(extreme(&ChartPoint::x, -1), extreme(&ChartPoint::x, 1), left_, right_),
        y_axis_(extreme(&ChartPoint::y, -1), extreme(&ChartPoint::y, 1), bottom_, top_) {}

  std::string document() const {
    return opening() + titles() + axes() + lines() + labels() + "</svg>\n";
  }

 private:
  double widest_label() const {
    double widest = 0;
    for (const ChartSeries& series : chart_.series) widest = std::max(widest, label_width(series));
    return widest;
  }

  // The least (sign -1) or largest (1) coordinate.
  double extreme(double ChartPoint::*coordinate, int sign) const {
    double found = chart_.series.front().points.front().*coordinate;
    for (const ChartSeries& series : chart_.series) {
      for (const ChartPoint& point : series.points) {
        if (sign * (point.*coordinate - found) > 0) found = point.*coordinate;
      }
    }
    return found;
  }

  std::string opening() const {
    const std::string w = std::to_string(width_);
    const std::string h = std::to_string(height_);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" + attribute("width", w) +
           attribute("height", h) + attribute("viewBox", "0 0 " + w + " " + h) +
           attribute("font-family", "system-ui,-apple-system,Roboto,Arial,sans-serif") +
           ">\n<title>" + xml_text(chart_.title) +
           "</title>\n<rect fill=\"#fff\" width=\"100%\" height=\"100%\"/>\n";
  }

  std::string titles() const {
    const double middle = (top_ + bottom_) / 2;
    const double x = kPadding + 0.5 * kFont;
    const std::string upwards =
        attribute("transform", "rotate(-90 " + svg_number(x) + " " + svg_number(middle) + ")");
    return text_element(chart_.title, kPadding, kPadding + 1.2 * kFont,
                        {"start", 1.3 * kFont, "#1f2328", "600"}) +
           text_element(chart_.subtitle, kPadding, kPadding + 2.8 * kFont, {}) +
           text_element(chart_.x_title, (left_ + right_) / 2, height_ - kPadding, {"middle"}) +
           text_element(chart_.y_title, x, middle, {"middle"}, upwards);
  }

  std::string axes() const {
    std::string grid;
    std::string labels;
    for (const double tick : x_axis_.ticks()) {
      const double x = x_axis_.pixel(tick);
      grid += path_data({path_point(x, top_), path_point(x, bottom_)});
      labels += text_element(shortest_decimal(tick), x, bottom_ + 1.5 * kFont, {"middle"});
    }
    for (const double tick : y_axis_.ticks()) {
      const double y = y_axis_.pixel(tick);
      grid += path_data({path_point(left_, y), path_point(right_, y)});
      labels +=
          text_element(shortest_decimal(tick), left_ - 0.6 * kFont, y + 0.35 * kFont, {"end"});
    }
    const std::string frame = path_data(
        {path_point(left_, top_), path_point(left_, bottom_), path_point(right_, bottom_)});
    return path_element("#e3e7eb", grid, 1) + path_element("#818b98", frame, 1) + labels;
  }

  std::string lines() const {
    std::string drawn;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const ChartSeries& series = chart_.series[i];
      std::vector<PathPoint> points;
      std::string marks;
      for (const ChartPoint& point : series.points) {
        const double x = x_axis_.pixel(point.x);
        const double y = y_axis_.pixel(point.y);
        points.push_back(path_point(x, y));
        marks += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", kMarkRadius) +
                 attribute("fill", std::string(kColours[i])) + "/>\n";
      }
      const std::string dashes = series.dashed ? attribute("stroke-dasharray", "6 4") : "";
      drawn += path_element(kColours[i], path_data(points), 2,
                            attribute("stroke-linejoin", "round") + dashes) +
               marks;
    }
    return drawn;
  }

  double end_of(std::size_t series) const {
    return y_axis_.pixel(chart_.series[series].points.back().y);
  }

  // Heights for the labels: in the order of the lines' ends and a step apart, near the ends.
  std::vector<double> label_heights() const {
    std::vector<std::size_t> order(chart_.series.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return end_of(a) < end_of(b); });
    std::vector<double> heights(order.size());
    double least = top_;
    for (const std::size_t i : order) {
      heights[i] = std::max(end_of(i), least);
      least = heights[i] + kLabelStep;
    }
    double most = bottom_;
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
      const double end = x_axis_.pixel(series.points.back().x);
      const double x = right_ + kLeader - 4;
      drawn += path_element(
          kColours[i], path_data({path_point(end, end_of(i)), path_point(x, heights[i])}), 0.7);
      drawn += text_element(series.label, x + 4, heights[i] + 0.35 * kFont,
                            {"start", kFont, kColours[i], "500"});
    }
    return drawn;
  }

  const LineChart& chart_;
  int width_;
  int height_;
  double left_;
  double right_;
  double top_;
  double bottom_;
  LogAxis x_axis_;
  LogAxis y_axis_;
};

}  // namespace

std::string draw_line_chart(const LineChart& chart, int width, int height) {
  return ChartDrawing(chart, width, height).document();
}

void write_line_chart(const LineChart& chart, const std::string& path) {
  std::ofstream file(path);
  file << xml_in_ascii(draw_line_chart(chart, kWidth, kHeight));
  file.close();
  std::printf(file ? "wrote %s\n" : "notice: cannot write %s\n", path.c_str());
}

}  // namespace dpquantile::bench
