#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cdf/cdf_curve.hpp"
#include "core/privacy/privacy_parameter.hpp"

// Pictures of a released CDF. Post-processing: they cost no privacy.
namespace dpquantile {

// What a picture shows. The points are ascending in x and at least one.
struct CdfPlot {
  std::span<const CdfPoint> points;
  bool discrete;      // steps at the points (values on a grid), else straight lines between them
  double lower;       // the public bounds of the values: the horizontal axis
  double upper;       // lower < upper
  std::int64_t rows;  // the released number of rows
  PrivacyParameter privacy;  // of the release
  double confidence;         // of the band, for example 0.95
};

// Throws ParameterError unless the size is acceptable: text 40 .. 400 columns and 10 .. 200 lines,
// SVG 200 .. 4000 pixels both ways.
void check_text_size(std::int64_t width, std::int64_t height);
void check_svg_size(std::int64_t width, std::int64_t height);

// The picture as lines of text of at most `width` columns each (UTF-8 or plain ASCII), axes and
// legend included in the `height` lines. ParameterError as check_text_size.
std::vector<std::string> draw_text(const CdfPlot& picture, int width, int height, bool utf8);

// The picture as an SVG document of its own (UTF-8 in and out); the title may be any text and is
// escaped. ParameterError as check_svg_size.
std::string draw_svg(const CdfPlot& picture, int width, int height, std::string_view title);

}  // namespace dpquantile
