#pragma once

#include <string>
#include <string_view>

namespace dpquantile {

// UTF-8 text as the content of an XML element or of an attribute: markup is escaped, line breaks
// and tabs become blanks, and characters that XML 1.0 forbids become U+FFFD.
std::string xml_text(std::string_view text);

// An XML document in UTF-8 as one in ASCII: other characters become character references.
std::string xml_in_ascii(std::string_view document);

}  // namespace dpquantile
