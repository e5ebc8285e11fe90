#include "pg/parameters/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" {
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

using Number = std::optional<double> AggregateOptions::*;

struct OptionName {
  Option option;
  const char* name;
  Number number;  // null unless the value is a number
};

constexpr OptionName kOptions[] = {
    {kMethodOption, "method", nullptr},
    {kGranularityOption, "granularity", &AggregateOptions::granularity},
    {kBinsOption, "bins", &AggregateOptions::bins},
    {kLowerOption, "lower", &AggregateOptions::lower},
    {kUpperOption, "upper", &AggregateOptions::upper},
    {kMaxContributionsOption, "max_contributions", nullptr},
    {kSuppressOption, "suppress", nullptr},
    {kRhoOption, "rho", &AggregateOptions::rho},
};

// The families whose options a JSON object may hold: the family of a call, or all.
using Families = std::span<const FamilyRow>;

bool any_takes(Families families, Option option) {
  return std::ranges::any_of(families, [&](const FamilyRow& row) { return row.takes(option); });
}

std::string_view text_of(const JsonbValue& string) {
  return {string.val.string.val, static_cast<std::size_t>(string.val.string.len)};
}

bool text_is(const JsonbValue& string, std::string_view text) {
  return text == text_of(string);
}

// Adds a name to a list without duplicates.
void add_name(List** names, std::string_view name) {
  ListCell* cell;
  foreach (cell, *names) {
    if (name == static_cast<const char*>(lfirst(cell))) return;
  }
  *names = lappend(*names, pnstrdup(name.data(), name.size()));
}

// "a, b, c"
const char* joined(const List* names) {
  StringInfoData list;
  initStringInfo(&list);
  ListCell* cell;
  foreach (cell, names) {
    appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ",
                     static_cast<const char*>(lfirst(cell)));
  }
  return list.data;
}

const char* method_names(Families families) {
  List* names = NIL;
  for (const FamilyRow& row : families) {
    if (!row.takes(kMethodOption)) continue;
    for (const MethodRow& method : row.methods) add_name(&names, method.name);
  }
  return joined(names);
}

const char* option_names(Families families) {
  List* names = NIL;
  for (const OptionName& entry : kOptions) {
    if (any_takes(families, entry.option)) add_name(&names, entry.name);
  }
  return joined(names);
}

const MethodRow* find_named_method(Families families, const JsonbValue& name) {
  for (const FamilyRow& row : families) {
    const MethodRow* method = row.takes(kMethodOption) ? find_method(row, text_of(name)) : nullptr;
    if (method != nullptr) return method;
  }
  return nullptr;
}

Method parse_method(const JsonbValue& value, Families families) {
  if (value.type != jbvString) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("option \"method\" must be a string"),
             errhint("Valid methods: %s.", method_names(families))));
  }
  const MethodRow* method = find_named_method(families, value);
  if (method != nullptr) return method->number;
  const bool known = find_named_method(family_table(), value) != nullptr;
  const char* name = pnstrdup(value.val.string.val, value.val.string.len);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  known ? errmsg("method \"%s\" does not go with this aggregate", name)
                        : errmsg("unknown method \"%s\"", name),
                  errhint("Valid methods: %s.", method_names(families))));
}

double parse_number(const char* option, const JsonbValue& value) {
  if (value.type != jbvNumeric) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("option \"%s\" must be a number", option),
                    errhint("Build the options with dp_options(%s => 1).", option)));
  }
  return DatumGetFloat8(
      DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value.val.numeric)));
}

[[noreturn]] void refuse_contributions(const char* given) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("option \"max_contributions\" must be a whole number from 1 to 4294967295, "
                  "'median' or 'optimal', got %s",
                  given),
           errhint("Build the options with dp_options(max_contributions => 8).")));
}

ContributionLimit fixed_contributions(double number, const char* given) {
  const double most = std::numeric_limits<uint32>::max();
  if (!(number >= 1 && number <= most && number == std::floor(number))) refuse_contributions(given);
  return {ContributionRule::kFixed, static_cast<uint32>(number)};
}

ContributionLimit parse_contributions(const JsonbValue& value) {
  if (value.type == jbvNumeric) {
    const Datum number = NumericGetDatum(value.val.numeric);
    return fixed_contributions(
        DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, number)),
        DatumGetCString(DirectFunctionCall1(numeric_out, number)));
  }
  if (value.type != jbvString) refuse_contributions("neither a number nor a string");
  if (text_is(value, "optimal")) return {ContributionRule::kOptimal, 0};
  if (text_is(value, "median")) return {ContributionRule::kMedian, 0};
  const char* text = pnstrdup(value.val.string.val, value.val.string.len);
  const char* quoted = psprintf("\"%s\"", text);
  if (!is_whole_number(text, value.val.string.len)) refuse_contributions(quoted);
  return fixed_contributions(strtod(text, nullptr), quoted);
}

bool parse_suppress(const JsonbValue& value) {
  if (value.type != jbvBool) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("option \"suppress\" must be true or false"),
                    errhint("Build the options with dp_options(suppress => false).")));
  }
  return value.val.boolean;
}

const OptionName* find_option(Families families, const JsonbValue& key) {
  for (const OptionName& entry : kOptions) {
    if (any_takes(families, entry.option) && text_is(key, entry.name)) return &entry;
  }
  return nullptr;
}

void parse_option(const JsonbValue& key, const JsonbValue& value, Families families,
                  AggregateOptions* parsed) {
  const OptionName* found = find_option(families, key);
  if (found == nullptr) {
    const char* name = pnstrdup(key.val.string.val, key.val.string.len);
    const bool known = find_option(family_table(), key) != nullptr;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    known ? errmsg("option \"%s\" does not go with this aggregate", name)
                          : errmsg("unknown option \"%s\"", name),
                    errhint("Valid options: %s.", option_names(families))));
  }
  switch (found->option) {
    case kMethodOption:
      parsed->method = parse_method(value, families);
      break;
    case kMaxContributionsOption:
      parsed->max_contributions = parse_contributions(value);
      break;
    case kSuppressOption:
      parsed->suppress = parse_suppress(value);
      break;
    case kGranularityOption:
      if (value.type == jbvString) {
        parsed->time_granularity = pnstrdup(value.val.string.val, value.val.string.len);
        break;
      }
      [[fallthrough]];
    case kBinsOption:
    case kLowerOption:
    case kUpperOption:
    case kRhoOption:
      parsed->*(found->number) = parse_number(found->name, value);
  }
}

void parse(Jsonb* options, Families families, AggregateOptions* parsed) {
  if (!JB_ROOT_IS_OBJECT(options)) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options must be a JSON object"),
             errhint("Build the options with dp_options(), for example "
                     "dp_options(granularity => 1).")));
  }
  JsonbIterator* iterator = JsonbIteratorInit(&options->root);
  JsonbValue key;
  JsonbValue value;
  JsonbIteratorToken token;
  while ((token = JsonbIteratorNext(&iterator, &key, true)) != WJB_DONE) {
    if (token != WJB_KEY) continue;
    JsonbIteratorNext(&iterator, &value, true);
    parse_option(key, value, families, parsed);
  }
}

}  // namespace

const char* option_name(Option option) {
  for (const OptionName& entry : kOptions) {
    if (entry.option == option) return entry.name;
  }
  return nullptr;
}

AggregateOptions default_options(const FamilyRow& family) {
  AggregateOptions options{};
  options.method = family.default_method(false);
  return options;
}

AggregateOptions parse_options(Jsonb* options, const FamilyRow& family) {
  constexpr Method kNone = 0;
  AggregateOptions parsed{};
  parsed.method = kNone;
  parse(options, {&family, 1}, &parsed);
  if (parsed.method == kNone) parsed.method = family.default_method(parsed.rho.has_value());
  return parsed;
}

const char* method_names(const FamilyRow& family) {
  return method_names({&family, 1});
}

void check_options(Jsonb* options) {
  AggregateOptions parsed{};
  parse(options, family_table(), &parsed);
}

bool is_whole_number(const char* text, int length) {
  constexpr int kMostDigits = 15;
  if (length < 1 || length > kMostDigits) return false;
  for (int i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

}  // namespace dpquantile
