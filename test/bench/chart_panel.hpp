#pragma once

#include <string>
#include <vector>

#include "chart_series.hpp"

// The plane of a chart: two logarithmic axes, and lines.
namespace dpquantile::bench {

// Pixels.
struct PanelFrame {
  double left;
  double right;
  double top;
  double bottom;
  double font;
};

struct PanelRange {
  double least_x;
  double largest_x;
  double least_y;
  double largest_y;
};

// The range of all points. A y below floor counts as floor. There must be at least one point.
PanelRange range_of(const std::vector<ChartSeries>& series, double floor);

// A logarithmic axis between two marks of the series ..., 0.5, 1, 2, 5, 10, ...
class LogAxis {
 public:
  // `from` and `to` are the pixels of the lower and the upper end, and `least_step` is the least
  // distance of marks. If 1, 2 and 5 come closer, the marks are powers of ten only.
  LogAxis(double least, double largest, double from, double to, double least_step);

  const std::vector<double>& ticks() const { return ticks_; }
  double pixel(double value) const;

 private:
  double from_;
  double to_;
  double lower_;
  double upper_;
  std::vector<double> ticks_;
};

class ChartPanel {
 public:
  // Draws a positive floor as the mark "<= floor". All points below the floor lie on it.
  ChartPanel(const PanelFrame& frame, const PanelRange& range, double floor);

  std::string axes() const;
  std::string lines(const std::vector<ChartSeries>& series) const;
  double x_pixel(const ChartPoint& point) const { return x_axis_.pixel(point.x); }
  double y_pixel(const ChartPoint& point) const;

 private:
  PanelFrame frame_;
  double floor_;
  LogAxis x_axis_;
  LogAxis y_axis_;
};

}  // namespace dpquantile::bench
