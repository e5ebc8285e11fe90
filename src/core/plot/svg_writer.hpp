#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Pieces of SVG documents: text, paths and elements. `attributes` is a list of attributes as
// svg_attribute() writes them.
namespace dpquantile {

// A number of pixels, rounded to two decimals: "12", "0.5", "-3.25".
std::string svg_number(double pixels);

// A point of a path, in hundredths of a pixel, which is the precision of the document.
struct PathPoint {
  std::int64_t x;
  std::int64_t y;
  bool operator==(const PathPoint&) const = default;
};

// The point (x, y), given in pixels, with each coordinate rounded to the nearest hundredth.
PathPoint path_point(double x, double y);

// The data of an SVG path: a line through all the points, of which there is at least one. Omits
// points that add nothing: repetitions, and points inside a horizontal or vertical stroke.
std::string path_data(const std::vector<PathPoint>& points);

// UTF-8 text as the content of an XML element or attribute. Markup is escaped, line breaks and tabs
// become blanks, and characters that XML 1.0 forbids become U+FFFD.
std::string xml_text(std::string_view text);

// The XML document, given in UTF-8, in ASCII: other characters become character references.
std::string xml_in_ascii(std::string_view document);

// The attribute ` name="value"` with a blank before it. The value is not escaped; a number of
// pixels is written by svg_number().
std::string svg_attribute(std::string_view name, const std::string& value);
std::string svg_attribute(std::string_view name, double pixels);

// The attribute that turns an element about the point (x, y), so that its text reads upwards.
std::string svg_turned_upwards(double x, double y);

// The beginning of a document, with its title. "</svg>" ends the document.
std::string svg_opening(const std::string& attributes, int width, int height,
                        std::string_view title);

struct SvgTextPlace {
  double x;
  double y;
  double size;
  std::string_view anchor;  // start, middle or end
};
std::string svg_text(std::string_view text, const SvgTextPlace& place,
                     const std::string& attributes);

// `data` is that of path_data().
std::string svg_path(const std::string& data, double stroke, const std::string& attributes);

}  // namespace dpquantile
