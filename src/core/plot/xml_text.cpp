#include "core/plot/xml_text.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace dpquantile {

namespace {

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

// The character at the beginning of valid UTF-8, and how many bytes it takes.
struct Character {
  std::uint32_t code;
  std::size_t size;
};

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const int ones = std::countl_one(lead);
  Character character{lead & (0xffu >> ones), ones < 2 ? 1 : static_cast<std::size_t>(ones)};
  for (const char next : text.substr(1, character.size - 1)) {
    character.code = character.code << 6 | (static_cast<unsigned char>(next) & 0x3fu);
  }
  return character;
}

}  // namespace

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
    const Character character = first_character(document);
    if (character.size == 1) {
      ascii += document.front();
    } else {
      ascii += "&#" + std::to_string(character.code) + ";";
    }
    document.remove_prefix(std::min(character.size, document.size()));
  }
  return ascii;
}

}  // namespace dpquantile
