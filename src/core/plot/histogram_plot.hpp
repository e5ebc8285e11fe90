#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/privacy/privacy_parameter.hpp"

// Plots of a released histogram: a bar for each bin, and around its top the stretch that holds the
// exact count with the stated confidence.
//
// Privacy: post-processing, which costs no privacy.
namespace dpquantile {

// What a plot shows. There is at least one bin. The bins divide the horizontal axis evenly: for
// bins of single values, lower and upper are half a step beyond the first and the last value.
struct HistogramPlot {
  std::span<const std::int64_t> counts;  // at least 0
  double lower;
  double upper;  // lower < upper
  std::uint64_t error;
  PrivacyParameter privacy;  // of the release
  double confidence;         // of the error, for example 0.95
};

// The plot as lines of text, UTF-8 or plain ASCII. There are at most `height` lines, axes and
// legend included, of at most `width` columns each. Where several bins share a column, it shows the
// largest. Throws ParameterError as check_text_size() (cdf_plot.hpp) does.
std::vector<std::string> draw_histogram_text(const HistogramPlot& plot, int width, int height,
                                             bool utf8);

// The plot as a complete SVG document. The title may be any text; it is escaped. Title and document
// are UTF-8. Where several bins share half a pixel, it shows the largest. Throws ParameterError as
// check_svg_size() does.
std::string draw_histogram_svg(const HistogramPlot& plot, int width, int height,
                               std::string_view title);

}  // namespace dpquantile
