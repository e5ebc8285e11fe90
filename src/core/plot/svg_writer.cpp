#include "core/plot/svg_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "core/plot/utf8.hpp"

namespace dpquantile {

namespace {

constexpr int kHundredths = 100;

std::string from_hundredths(std::int64_t hundredths) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<double>(hundredths) / kHundredths)
                       .ptr;
  return std::string(digits.data(), end);
}

std::int64_t to_hundredths(double pixels) {
  return std::llround(pixels * kHundredths);
}

bool goes_straight_on(std::int64_t from, std::int64_t middle, std::int64_t to) {
  return (from < middle && middle < to) || (from > middle && middle > to);
}

// Whether the middle point lies on a horizontal or vertical stroke.
bool is_redundant(const PathPoint& from, const PathPoint& middle, const PathPoint& to) {
  const bool horizontal = from.y == middle.y && middle.y == to.y;
  const bool vertical = from.x == middle.x && middle.x == to.x;
  return (horizontal && goes_straight_on(from.x, middle.x, to.x)) ||
         (vertical && goes_straight_on(from.y, middle.y, to.y));
}

std::vector<PathPoint> without_redundant_points(const std::vector<PathPoint>& points) {
  std::vector<PathPoint> kept;
  for (const PathPoint& point : points) {
    if (!kept.empty() && kept.back() == point) continue;
    if (kept.size() >= 2 && is_redundant(kept[kept.size() - 2], kept.back(), point)) {
      kept.pop_back();
    }
    kept.push_back(point);
  }
  return kept;
}

std::string line_to(const PathPoint& from, const PathPoint& to) {
  if (from.y == to.y) return "H" + from_hundredths(to.x);
  if (from.x == to.x) return "V" + from_hundredths(to.y);
  return "L" + from_hundredths(to.x) + " " + from_hundredths(to.y);
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kNoncharacterFFFE = "\xEF\xBF\xBE";
constexpr std::string_view kNoncharacterFFFF = "\xEF\xBF\xBF";

std::string_view escaped(const char& byte) {
  switch (byte) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\t':
    case '\n':
    case '\r':
      return " ";
    default:
      break;
  }
  const bool control = static_cast<unsigned char>(byte) < ' ';
  return control ? kReplacement : std::string_view(&byte, 1);
}

}  // namespace

std::string svg_number(double pixels) {
  return from_hundredths(to_hundredths(pixels));
}

PathPoint path_point(double x, double y) {
  return {to_hundredths(x), to_hundredths(y)};
}

std::string path_data(const std::vector<PathPoint>& points) {
  const std::vector<PathPoint> kept = without_redundant_points(points);
  std::string data = "M" + from_hundredths(kept.front().x) + " " + from_hundredths(kept.front().y);
  for (std::size_t i = 1; i < kept.size(); ++i) data += line_to(kept[i - 1], kept[i]);
  return data;
}

std::string xml_text(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    if (text.starts_with(kNoncharacterFFFE) || text.starts_with(kNoncharacterFFFF)) {
      xml += kReplacement;
      text.remove_prefix(kNoncharacterFFFE.size());
    } else {
      xml += escaped(text.front());
      text.remove_prefix(1);
    }
  }
  return xml;
}

std::string xml_in_ascii(std::string_view document) {
  std::string ascii;
  while (!document.empty()) {
    const Utf8Character character = first_character(document);
    if (character.size == 1) {
      ascii += document.front();
    } else {
      ascii += "&#" + std::to_string(character.code) + ";";
    }
    document.remove_prefix(std::min(character.size, document.size()));
  }
  return ascii;
}

std::string svg_attribute(std::string_view name, const std::string& value) {
  return " " + std::string(name) + "=\"" + value + "\"";
}

std::string svg_attribute(std::string_view name, double pixels) {
  return svg_attribute(name, svg_number(pixels));
}

std::string svg_turned_upwards(double x, double y) {
  return svg_attribute("transform", "rotate(-90 " + svg_number(x) + " " + svg_number(y) + ")");
}

std::string svg_opening(const std::string& attributes, int width, int height,
                        std::string_view title) {
  const std::string w = std::to_string(width);
  const std::string h = std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attributes + svg_attribute("role", "img") +
         svg_attribute("width", w) + svg_attribute("height", h) +
         svg_attribute("viewBox", "0 0 " + w + " " + h) + ">\n<title>" + xml_text(title) +
         "</title>\n";
}

std::string svg_text(std::string_view text, const SvgTextPlace& place,
                     const std::string& attributes) {
  return "<text" + attributes + svg_attribute("x", place.x) + svg_attribute("y", place.y) +
         svg_attribute("font-size", place.size) +
         svg_attribute("text-anchor", std::string(place.anchor)) + ">" + xml_text(text) +
         "</text>\n";
}

std::string svg_path(const std::string& data, double stroke, const std::string& attributes) {
  return "<path" + attributes + svg_attribute("stroke-width", stroke) + svg_attribute("d", data) +
         "/>\n";
}

}  // namespace dpquantile
