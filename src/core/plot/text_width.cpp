#include "core/plot/text_width.hpp"

#include <cstddef>

#include "core/plot/utf8.hpp"

namespace dpquantile {

namespace {

constexpr std::string_view kEllipsis = "…";

// Widths of the bold letters of a wide sans-serif font.
double ems_of_ascii(char letter) {
  if (std::string_view("mwMW@%").find(letter) != std::string_view::npos) return 1.1;
  if (std::string_view("ijl.,:;'|! ").find(letter) != std::string_view::npos) return 0.4;
  return letter >= 'A' && letter <= 'Z' ? 0.84 : 0.72;
}

double ems_of_sequence(std::string_view sequence) {
  if (sequence.size() == 1) return ems_of_ascii(sequence.front());
  if (sequence.size() == 2) return 0.9;
  return sequence.size() == 3 ? 1.1 : 1.4;
}

// The number of bytes at the beginning of the text that fit.
std::size_t fitting_bytes(std::string_view text, double ems) {
  std::size_t end = 0;
  double width = 0;
  while (end < text.size()) {
    const std::string_view sequence = text.substr(end, first_character(text.substr(end)).size);
    width += ems_of_sequence(sequence);
    if (width > ems) break;
    end += sequence.size();
  }
  return end;
}

}  // namespace

double estimated_ems(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const std::string_view sequence = text.substr(0, first_character(text).size);
    width += ems_of_sequence(sequence);
    text.remove_prefix(sequence.size());
  }
  return width;
}

std::string shortened(std::string_view text, double ems) {
  if (fitting_bytes(text, ems) == text.size()) return std::string(text);
  const std::size_t end = fitting_bytes(text, ems - estimated_ems(kEllipsis));
  const std::size_t last = text.substr(0, end).find_last_not_of(' ');
  return std::string(text.substr(0, last + 1)) + std::string(kEllipsis);
}

}  // namespace dpquantile
