#include "svg_elements.hpp"

#include <cstdio>
#include <fstream>

#include "core/plot/svg_writer.hpp"

namespace dpquantile::bench {

namespace {

std::string look_of(const Lettering& lettering) {
  return svg_attribute("fill", std::string(lettering.colour)) +
         svg_attribute("font-weight", std::string(lettering.weight));
}

}  // namespace

std::string text_element(std::string_view text, double x, double y, const Lettering& lettering) {
  return svg_text(text, {x, y, lettering.size, lettering.anchor}, look_of(lettering));
}

std::string upward_text(std::string_view text, double x, double y, double size) {
  return svg_text(text, {x, y, size, "middle"},
                  look_of({"middle", size}) + svg_turned_upwards(x, y));
}

std::string path_element(std::string_view colour, const std::string& data, double stroke,
                         const std::string& more) {
  return svg_path(
      data, stroke,
      svg_attribute("fill", "none") + svg_attribute("stroke", std::string(colour)) + more);
}

std::string circle_element(std::string_view colour, double x, double y, double radius) {
  return "<circle" + svg_attribute("cx", x) + svg_attribute("cy", y) + svg_attribute("r", radius) +
         svg_attribute("fill", std::string(colour)) + "/>\n";
}

std::string chart_opening(std::string_view title, int width, int height) {
  return svg_opening(
             svg_attribute("font-family", "system-ui,-apple-system,Roboto,Arial,sans-serif"), width,
             height, title) +
         "<rect fill=\"#fff\" width=\"100%\" height=\"100%\"/>\n";
}

void write_svg(const std::string& document, const std::string& path) {
  std::ofstream file(path);
  file << xml_in_ascii(document);
  file.close();
  std::printf(file ? "wrote %s\n" : "notice: cannot write %s\n", path.c_str());
}

}  // namespace dpquantile::bench
