#include "pg/reuse/answer_key.hpp"

#include "pg/server/version.hpp"

extern "C" {
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr uint64 kSeeds[] = {0x6b657074, 0x616e7377};

// What becomes of a date, a time or a number in a query depends on them.
constexpr const char* kSettings[] = {
    "TimeZone",     "DateStyle",   "IntervalStyle", "extra_float_digits",
    "bytea_output", "lc_monetary", "lc_time",       "lc_numeric"};

// With its end, so that no two lists of texts have the same bytes.
void add_text(KeyText* text, const char* added) {
  add_bytes(text, added, strlen(added) + 1);
}

}  // namespace

void add_bytes(KeyText* text, const void* bytes, Size length) {
  appendBinaryStringInfo(&text->bytes, static_cast<const char*>(bytes), static_cast<int>(length));
}

KeyText begin_key() {
  KeyText text;
  initStringInfo(&text.bytes);
  add_text(&text, kLibraryVersion);
  add_number(&text, MyDatabaseId);
  add_number(&text, GetOuterUserId());
  for (const char* name : kSettings) add_text(&text, GetConfigOption(name, false, false));
  return text;
}

void add_number(KeyText* text, uint64 number) {
  add_bytes(text, &number, sizeof number);
}

void add_value(KeyText* text, Oid type, Datum value, bool is_null) {
  add_number(text, type);
  add_number(text, is_null ? 1 : 0);
  if (is_null || !OidIsValid(type)) return;
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  if (by_value) {
    add_number(text, value);
  } else if (length == -1) {
    const auto* bytes = PG_DETOAST_DATUM(value);
    add_number(text, VARSIZE_ANY_EXHDR(bytes));
    add_bytes(text, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
  } else if (length == -2) {
    add_text(text, DatumGetCString(value));
  } else {
    add_bytes(text, DatumGetPointer(value), static_cast<Size>(length));
  }
}

AnswerKey end_key(KeyText* text) {
  AnswerKey key{};
  const auto* bytes = reinterpret_cast<const unsigned char*>(text->bytes.data);
  for (int i = 0; i < 2; ++i) {
    key.words[i] = hash_bytes_extended(bytes, text->bytes.len, kSeeds[i]);
  }
  pfree(text->bytes.data);
  return key;
}

}  // namespace dpquantile
