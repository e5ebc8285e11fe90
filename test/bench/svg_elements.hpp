#pragma once

#include <string>
#include <string_view>

// The SVG elements of the benchmarks' charts.
namespace dpquantile::bench {

inline constexpr double kFont = 14;

struct Lettering {
  std::string_view anchor = "start";
  double size = kFont;
  std::string_view colour = "#4b535d";
  std::string_view weight = "400";
};

std::string text_element(std::string_view text, double x, double y, const Lettering& lettering);
// Text that is read upwards, with its middle at (x, y).
std::string upward_text(std::string_view text, double x, double y, double size = kFont);
std::string path_element(std::string_view colour, const std::string& data, double stroke,
                         const std::string& more = "");
std::string circle_element(std::string_view colour, double x, double y, double radius);

// The beginning of a document with a white background. The caller appends "</svg>".
std::string chart_opening(std::string_view title, int width, int height);

// Writes the document to the file. Prints a notice of success or failure.
void write_svg(const std::string& document, const std::string& path);

}  // namespace dpquantile::bench
