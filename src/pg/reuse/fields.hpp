#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

// Fields as bytes: numbers, and strings of bytes after their length (core/base/field_reader.hpp
// reads them). Two lists of fields of the same kinds have the same bytes only if they are equal.
// Whoever writes lists of different lengths or kinds writes the length or kind before.
namespace dpquantile {

// Plain data.
struct Fields {
  StringInfoData bytes;
};

// Without fields, in the current memory context.
Fields make_fields();

void add_number(Fields* fields, uint64 number);

void add_bytes(Fields* fields, const void* bytes, Size length);

void add_text(Fields* fields, const char* text);

// A value of this type, or NULL, without what only says how it is stored.
void add_value(Fields* fields, Oid type, Datum value, bool is_null);

}  // namespace dpquantile
