#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plot/time_ticks.hpp"

// Plots of a released histogram: a bar for each bin, and around its top the stretch that holds the
// exact count with the confidence of the error, if an error is given. All bars are equally wide,
// however wide the bins are, and each bound stands between the bars that it divides.
//
// Privacy: post-processing, which costs no privacy.
namespace dpquantile {

// What a plot shows.
struct HistogramPlot {
  std::span<const std::int64_t> counts;  // one or more, at least 0
  std::span<const double> bounds;        // ascending, counts.size() + 1; the ends may be infinite
  AxisScale scale;                       // of the bounds
  std::optional<std::uint64_t> error;    // of each count
};

// The plot as lines of text, UTF-8 or plain ASCII. There are at most `height` lines, axes and
// legend included, of at most `width` columns each. Where several bins share a column, it shows the
// largest. Bounds are left out where they do not fit, but never the first and the last. Throws
// ParameterError as check_text_size() (cdf_plot.hpp) does.
std::vector<std::string> draw_histogram_text(const HistogramPlot& plot, int width, int height,
                                             bool utf8);

// The plot as a complete SVG document. The title may be any text; it is escaped. Title and document
// are UTF-8. Where several bins share half a pixel, it shows the largest. Throws ParameterError as
// check_svg_size() does.
std::string draw_histogram_svg(const HistogramPlot& plot, int width, int height,
                               std::string_view title);

}  // namespace dpquantile
