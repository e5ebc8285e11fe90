#pragma once

#include <string>
#include <vector>

#include "chart_series.hpp"

// Several small line charts with the same axes and one legend, as an SVG document.
namespace dpquantile::bench {

struct Panel {
  std::string title;
  std::vector<ChartSeries> series;
};

// Both axes are logarithmic. Points below the floor, which must be positive, are drawn on it.
struct PanelChart {
  std::string title;
  std::string subtitle;
  std::string x_title;
  std::string y_title;
  double floor;
  std::vector<Panel> panels;        // at least one
  std::vector<ChartSeries> legend;  // labels, colours and strokes; their points are not used
};

std::string draw_panel_chart(const PanelChart& chart);

}  // namespace dpquantile::bench
