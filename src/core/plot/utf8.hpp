#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dpquantile {

// The character at the beginning of valid UTF-8, and how many bytes it takes.
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
