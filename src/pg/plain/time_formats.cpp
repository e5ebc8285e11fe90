#include "pg/plain/time_formats.hpp"

#include <algorithm>
#include <optional>

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/node_functions.hpp"

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
  Cycle cycle;
};

// A pattern comes before those with which it begins. A week begins in any month, so it is of days.
constexpr Pattern kPatterns[] = {
    {"FM", kYear, Cycle::kDay},        {"HH24", kHour, Cycle::kDay},
    {"HH12", kHour, Cycle::kDay},      {"HH", kHour, Cycle::kDay},
    {"MI", kMinute, Cycle::kDay},      {"A.M.", kHour, Cycle::kDay},
    {"P.M.", kHour, Cycle::kDay},      {"AM", kHour, Cycle::kDay},
    {"PM", kHour, Cycle::kDay},        {"Y,YYY", kYear, Cycle::kEndless},
    {"YYYY", kYear, Cycle::kEndless},  {"YYY", kYear, Cycle::kEndless},
    {"YY", kYear, Cycle::kEndless},    {"Y", kYear, Cycle::kEndless},
    {"IYYY", kDay, Cycle::kEndless},   {"IYY", kDay, Cycle::kEndless},
    {"IY", kDay, Cycle::kEndless},     {"IW", kDay, Cycle::kYears},
    {"IDDD", kDay, Cycle::kYears},     {"ID", kDay, Cycle::kWeek},
    {"I", kDay, Cycle::kEndless},      {"CC", kYear, Cycle::kEndless},
    {"Q", kQuarter, Cycle::kLeapYear}, {"MONTH", kMonth, Cycle::kLeapYear},
    {"MON", kMonth, Cycle::kLeapYear}, {"MM", kMonth, Cycle::kLeapYear},
    {"RM", kMonth, Cycle::kLeapYear},  {"WW", kDay, Cycle::kYears},
    {"W", kDay, Cycle::kLeapYear},     {"DAY", kDay, Cycle::kWeek},
    {"DY", kDay, Cycle::kWeek},        {"DDD", kDay, Cycle::kYears},
    {"DD", kDay, Cycle::kLeapYear},    {"D", kDay, Cycle::kWeek},
    {"J", kDay, Cycle::kEndless},      {"TH", kYear, Cycle::kDay},
};

// Patterns are written in upper or lower case, names also as they are shown. To PostgreSQL "Mi" is
// an M and the pattern i.
bool begins_with(const char* format, const char* name) {
  const size_t length = strlen(name);
  if (strncmp(format, name, length) == 0) return true;
  const bool is_capitalized = is_one_of(name, "MONTH MON DAY DY") && *format == *name;
  for (size_t i = is_capitalized ? 1 : 0; i < length; ++i) {
    if (format[i] != pg_ascii_tolower(static_cast<unsigned char>(name[i]))) return false;
  }
  return true;
}

const Pattern* pattern_at(const char* format) {
  for (const Pattern& pattern : kPatterns) {
    if (begins_with(format, pattern.name)) return &pattern;
  }
  return nullptr;
}

bool is_sign(char c) {
  return c > 0 && !isalpha(static_cast<unsigned char>(c)) && c != '"' && c != '\\';
}

// What follows a text in quotes, in which a backslash stands before a quote; null if it has no end.
const char* after_quotes(const char* format) {
  for (++format; *format != '"'; ++format) {
    if (*format == '\\' && format[1] != '\0') ++format;
    if (*format == '\0') return nullptr;
  }
  return format + 1;
}

struct Format {
  Unit unit;
  Cycle cycle;
};

std::optional<Format> read_format(const char* text) {
  Format format{kYear, Cycle::kDay};
  while (*text != '\0') {
    if (const Pattern* pattern = pattern_at(text)) {
      format.unit = Min(format.unit, pattern->unit);
      format.cycle = common_cycle(format.cycle, pattern->cycle);
      text += strlen(pattern->name);
    } else if (*text == '"') {
      text = after_quotes(text);
      if (text == nullptr) return std::nullopt;
    } else if (is_sign(*text)) {
      ++text;
    } else {
      return std::nullopt;
    }
  }
  return format;
}

std::optional<Format> format_of(const FuncExpr* call) {
  const bool is_format_of_moment =
      call->funcid == F_TO_CHAR_TIMESTAMP_TEXT || call->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT;
  if (!is_format_of_moment) return std::nullopt;
  const auto* format = static_cast<const Const*>(lsecond(call->args));
  if (!IsA(format, Const) || format->constisnull) return std::nullopt;
  return read_format(TextDatumGetCString(format->constvalue));
}

}  // namespace

const char* unit_of_formatted_moment(const Node* expression) {
  if (!IsA(expression, FuncExpr)) return nullptr;
  const auto format = format_of(as<FuncExpr>(expression));
  return format ? kUnits[format->unit] : nullptr;
}

Cycle common_cycle(Cycle one, Cycle other) {
  const Cycle longer = std::max(one, other);
  const bool has_week = one == Cycle::kWeek || other == Cycle::kWeek;
  return has_week && longer == Cycle::kLeapYear ? Cycle::kYears : longer;
}

Cycle cycle_of_formatted_moment(const FuncExpr* call) {
  const auto format = format_of(call);
  return format ? format->cycle : Cycle::kEndless;
}

}  // namespace dpquantile
