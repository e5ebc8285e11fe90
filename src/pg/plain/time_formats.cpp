#include "pg/plain/time_formats.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
}

namespace dpquantile {

namespace {

// In the order of their sizes.
constexpr const char* kUnits[] = {"minute", "hour", "day", "month", "quarter", "year"};
enum Unit { kMinute, kHour, kDay, kMonth, kQuarter, kYear };

struct Pattern {
  const char* name;
  Unit unit;  // with which it changes; kYear for what changes nothing
};

// A pattern comes before those with which it begins. A week begins in any month, so it is of days.
constexpr Pattern kPatterns[] = {
    {"FM", kYear},   {"HH24", kHour}, {"HH12", kHour}, {"HH", kHour},     {"MI", kMinute},
    {"A.M.", kHour}, {"P.M.", kHour}, {"AM", kHour},   {"PM", kHour},     {"Y,YYY", kYear},
    {"YYYY", kYear}, {"YYY", kYear},  {"YY", kYear},   {"Y", kYear},      {"IYYY", kDay},
    {"IYY", kDay},   {"IY", kDay},    {"IW", kDay},    {"IDDD", kDay},    {"ID", kDay},
    {"I", kDay},     {"CC", kYear},   {"Q", kQuarter}, {"MONTH", kMonth}, {"MON", kMonth},
    {"MM", kMonth},  {"RM", kMonth},  {"WW", kDay},    {"W", kDay},       {"DAY", kDay},
    {"DY", kDay},    {"DDD", kDay},   {"DD", kDay},    {"D", kDay},       {"J", kDay},
    {"TH", kYear},
};

const Pattern* pattern_at(const char* format) {
  for (const Pattern& pattern : kPatterns) {
    if (pg_strncasecmp(format, pattern.name, strlen(pattern.name)) == 0) return &pattern;
  }
  return nullptr;
}

bool is_sign(char c) {
  return c > 0 && !isalpha(static_cast<unsigned char>(c)) && c != '"' && c != '\\';
}

const char* unit_of_format(const char* format) {
  int smallest = kYear;
  while (*format != '\0') {
    if (const Pattern* pattern = pattern_at(format)) {
      smallest = Min(smallest, static_cast<int>(pattern->unit));
      format += strlen(pattern->name);
    } else if (*format == '"') {
      format = strchr(format + 1, '"');
      if (format == nullptr) return nullptr;
      ++format;
    } else if (is_sign(*format)) {
      ++format;
    } else {
      return nullptr;
    }
  }
  return kUnits[smallest];
}

}  // namespace

const char* unit_of_formatted_moment(const Node* expression) {
  if (!IsA(expression, FuncExpr)) return nullptr;
  const auto* call = as<FuncExpr>(expression);
  const bool is_format_of_moment =
      call->funcid == F_TO_CHAR_TIMESTAMP_TEXT || call->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT;
  if (!is_format_of_moment) return nullptr;
  const auto* format = static_cast<const Const*>(lsecond(call->args));
  if (!IsA(format, Const) || format->constisnull) return nullptr;
  return unit_of_format(TextDatumGetCString(format->constvalue));
}

}  // namespace dpquantile
