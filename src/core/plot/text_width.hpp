#pragma once

#include <string>
#include <string_view>

// Fits text into a width where the font is not known: an SVG is laid out by whoever shows it.
namespace dpquantile {

// About how many times the font size the UTF-8 text is wide; rather too much than too little.
double estimated_ems(std::string_view text);

// The text, or as much of its beginning as fits into this width with an ellipsis.
std::string shortened(std::string_view text, double ems);

}  // namespace dpquantile
