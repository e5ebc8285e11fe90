#include "pg/reuse/fields.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

void append(Fields* fields, const void* bytes, Size length) {
  appendBinaryStringInfo(&fields->bytes, static_cast<const char*>(bytes), static_cast<int>(length));
}

}  // namespace

Fields make_fields() {
  Fields fields;
  initStringInfo(&fields.bytes);
  return fields;
}

void add_number(Fields* fields, uint64 number) {
  append(fields, &number, sizeof number);
}

void add_bytes(Fields* fields, const void* bytes, Size length) {
  add_number(fields, length);
  append(fields, bytes, length);
}

void add_text(Fields* fields, const char* text) {
  add_bytes(fields, text, strlen(text));
}

void add_value(Fields* fields, Oid type, Datum value, bool is_null) {
  add_number(fields, type);
  add_number(fields, is_null ? 1 : 0);
  if (is_null) return;
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  if (by_value) {
    add_number(fields, value);
  } else if (length == -1) {
    const auto* bytes = PG_DETOAST_DATUM(value);
    add_bytes(fields, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
  } else if (length == -2) {
    add_text(fields, DatumGetCString(value));
  } else {
    add_bytes(fields, DatumGetPointer(value), static_cast<Size>(length));
  }
}

}  // namespace dpquantile
