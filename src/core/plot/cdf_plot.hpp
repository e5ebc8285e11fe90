#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cdf/cdf_curve.hpp"
#include "core/plot/time_ticks.hpp"
#include "core/privacy/privacy_parameter.hpp"

// Plots of a released CDF.
//
// Privacy: post-processing, which costs no privacy.
namespace dpquantile {

// What a plot shows. There is at least one point, and the points ascend in x.
struct CdfPlot {
  std::span<const CdfPoint> points;
  bool discrete;             // steps at the points (values on a value grid), else straight lines
  double lower;              // the public bounds of the values: the horizontal axis
  double upper;              // lower < upper
  std::int64_t rows;         // the released number of rows
  PrivacyParameter privacy;  // of the release
  double confidence;         // of the band, for example 0.95
  AxisScale scale = AxisScale::kNumber;
};

// Throw ParameterError unless the size is acceptable: text 40 .. 400 columns and 10 .. 200 lines,
// SVG 200 .. 4000 pixels in width and in height.
void check_text_size(std::int64_t width, std::int64_t height);
void check_svg_size(std::int64_t width, std::int64_t height);

// The plot as lines of text, UTF-8 or plain ASCII. There are at most `height` lines, axes and
// legend included, of at most `width` columns each. Throws ParameterError as check_text_size()
// does.
std::vector<std::string> draw_text(const CdfPlot& plot, int width, int height, bool utf8);

// The plot as a complete SVG document. The title may be any text; it is escaped. Title and document
// are UTF-8. Throws ParameterError as check_svg_size() does.
std::string draw_svg(const CdfPlot& plot, int width, int height, std::string_view title);

}  // namespace dpquantile
