#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dpquantile {

// The first character of a text and the number of bytes it takes. The text must be valid UTF-8 and
// not empty.
struct Utf8Character {
  std::uint32_t code;
  std::size_t size;
};

inline Utf8Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const int ones = std::countl_one(lead);
  Utf8Character character{lead & (0xffu >> ones), ones < 2 ? 1 : static_cast<std::size_t>(ones)};
  for (const char next : text.substr(1, character.size - 1)) {
    character.code = character.code << 6 | (static_cast<unsigned char>(next) & 0x3fu);
  }
  return character;
}

}  // namespace dpquantile
