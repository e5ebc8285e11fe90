#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Pieces of SVG documents: text, paths and elements. `look` is a list of attributes.
namespace dpquantile {

// A number of pixels with at most two decimals: "12", "0.5", "-3.25".
std::string svg_number(double pixels);

// A point of a path in hundredths of a pixel, the precision of the document.
struct PathPoint {
  std::int64_t x;
  std::int64_t y;
  bool operator==(const PathPoint&) const = default;
};

PathPoint path_point(double x, double y);

// A line through all the points as the data of an SVG path, without the points that add nothing:
// repetitions and those in the middle of a horizontal or vertical stroke. At least one point.
std::string path_data(const std::vector<PathPoint>& points);

// UTF-8 text as the content of an XML element or of an attribute: markup is escaped, line breaks
// and tabs become blanks, and characters that XML 1.0 forbids become U+FFFD.
std::string xml_text(std::string_view text);

// An XML document in UTF-8 as one in ASCII: other characters become character references.
std::string xml_in_ascii(std::string_view document);

// " name="value"", and the same for a number of pixels.
std::string svg_attribute(std::string_view name, const std::string& value);
std::string svg_attribute(std::string_view name, double pixels);

// Turns an element about a point, so that its text is read upwards.
std::string svg_turned_upwards(double x, double y);

// The beginning of a document with a title; "</svg>" ends it.
std::string svg_opening(const std::string& look, int width, int height, std::string_view title);

struct SvgTextPlace {
  double x;
  double y;
  double size;
  std::string_view anchor;  // start, middle or end
};
std::string svg_text(std::string_view text, const SvgTextPlace& place, const std::string& look);

// The data are those of path_data().
std::string svg_path(const std::string& data, double stroke, const std::string& look);

}  // namespace dpquantile
