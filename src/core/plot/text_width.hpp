#pragma once

#include <string>
#include <string_view>

// Fits text into a width without knowing the font: the viewer of an SVG chooses it.
namespace dpquantile {

// The estimated width of UTF-8 text in ems (font sizes), rather too large than too small.
double estimated_ems(std::string_view text);

// The text, or if it is wider than `ems`, as much of its beginning as fits with an ellipsis.
std::string shortened(std::string_view text, double ems);

}  // namespace dpquantile
