#include "svg_elements.hpp"

#include <cstdio>
#include <fstream>

#include "core/plot/svg_path.hpp"
#include "core/plot/xml_text.hpp"

namespace dpquantile::bench {

std::string attribute(std::string_view name, const std::string& value) {
  return " " + std::string(name) + "=\"" + value + "\"";
}

std::string attribute(std::string_view name, double pixels) {
  return attribute(name, svg_number(pixels));
}

std::string text_element(std::string_view text, double x, double y, const Lettering& lettering,
                         const std::string& more) {
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", lettering.size) +
         attribute("text-anchor", std::string(lettering.anchor)) +
         attribute("fill", std::string(lettering.colour)) +
         attribute("font-weight", std::string(lettering.weight)) + more + ">" + xml_text(text) +
         "</text>\n";
}

std::string upward_text(std::string_view text, double x, double y, double size) {
  return text_element(
      text, x, y, {"middle", size},
      attribute("transform", "rotate(-90 " + svg_number(x) + " " + svg_number(y) + ")"));
}

std::string path_element(std::string_view colour, const std::string& data, double stroke,
                         const std::string& more) {
  return "<path fill=\"none\"" + attribute("stroke", std::string(colour)) +
         attribute("stroke-width", stroke) + attribute("d", data) + more + "/>\n";
}

std::string circle_element(std::string_view colour, double x, double y, double radius) {
  return "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
         attribute("fill", std::string(colour)) + "/>\n";
}

std::string svg_opening(std::string_view title, int width, int height) {
  const std::string w = std::to_string(width);
  const std::string h = std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" + attribute("width", w) +
         attribute("height", h) + attribute("viewBox", "0 0 " + w + " " + h) +
         attribute("font-family", "system-ui,-apple-system,Roboto,Arial,sans-serif") +
         ">\n<title>" + xml_text(title) +
         "</title>\n<rect fill=\"#fff\" width=\"100%\" height=\"100%\"/>\n";
}

void write_svg(const std::string& document, const std::string& path) {
  std::ofstream file(path);
  file << xml_in_ascii(document);
  file.close();
  std::printf(file ? "wrote %s\n" : "notice: cannot write %s\n", path.c_str());
}

}  // namespace dpquantile::bench
