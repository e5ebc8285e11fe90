#include "pg/reuse/answer_key.hpp"

#include "pg/reuse/catalog_version.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// What becomes of a date, a time or a number in a query depends on them. (How a literal is read is
// decided before: the query has its value.)
constexpr const char* kSettings[] = {
    "TimeZone",           "timezone_abbreviations", "DateStyle",   "IntervalStyle",
    "extra_float_digits", "bytea_output",           "lc_monetary", "lc_time",
    "lc_numeric"};

}  // namespace

Fields begin_key() {
  Fields fields = make_fields();
  add_text(&fields, "answers");
  add_text(&fields, kLibraryVersion);
  add_object(&fields, DATABASEOID, MyDatabaseId);
  add_object(&fields, AUTHOID, GetOuterUserId());
  add_object(&fields, AUTHOID, GetUserId());
  for (const char* name : kSettings) add_text(&fields, GetConfigOption(name, false, false));
  return fields;
}

}  // namespace dpquantile
