#include "pg/parameters/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/cdf/cdf_domain.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

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
  for (const auto* listed : each<const char>(*names)) {
    if (name == listed) return;
  }
  *names = lappend(*names, pnstrdup(name.data(), name.size()));
}

// "a, b, c"
const char* joined(const List* names) {
  StringInfoData list;
  initStringInfo(&list);
  for (const auto* listed : each<const char>(names)) {
    appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ", listed);
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

const MethodRow* find_named_method(Families families, const JsonbValue& name) {
  for (const FamilyRow& row : families) {
    const MethodRow* method = row.takes(kMethodOption) ? find_method(row, text_of(name)) : nullptr;
    if (method != nullptr) return method;
  }
  return nullptr;
}

void read_method(const OptionRow&, const JsonbValue& value, Families families,
                 AggregateOptions* options) {
  if (value.type != jbvString) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("option \"method\" must be a string"),
             errhint("Valid methods: %s.", method_names(families))));
  }
  const MethodRow* method = find_named_method(families, value);
  if (method != nullptr) {
    options->method = method->number;
    return;
  }
  const bool known = find_named_method(family_table(), value) != nullptr;
  const char* name = pnstrdup(value.val.string.val, value.val.string.len);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  known ? errmsg("method \"%s\" does not go with this aggregate", name)
                        : errmsg("unknown method \"%s\"", name),
                  errhint("Valid methods: %s.", method_names(families))));
}

void read_number(const OptionRow& row, const JsonbValue& value, Families,
                 AggregateOptions* options) {
  if (value.type != jbvNumeric) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("option \"%s\" must be a number", row.name),
                    errhint("Build the options with dp_option('%s', 1).", row.name)));
  }
  options->*(row.number) = DatumGetFloat8(
      DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value.val.numeric)));
}

// A number, or an interval as text.
void read_granularity(const OptionRow& row, const JsonbValue& value, Families families,
                      AggregateOptions* options) {
  if (value.type == jbvString) {
    options->time_granularity = pnstrdup(value.val.string.val, value.val.string.len);
  } else {
    read_number(row, value, families, options);
  }
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

ContributionLimit contributions_of(const JsonbValue& value) {
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

void read_contributions(const OptionRow&, const JsonbValue& value, Families,
                        AggregateOptions* options) {
  options->max_contributions = contributions_of(value);
}

void read_suppress(const OptionRow&, const JsonbValue& value, Families, AggregateOptions* options) {
  if (value.type != jbvBool) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("option \"suppress\" must be true or false"),
                    errhint("Build the options with dp_options(suppress => false).")));
  }
  options->suppress = value.val.boolean;
}

// ParameterError unless the bound is finite.
double checked_bound(const char* name, double given) {
  if (std::isfinite(given)) return given;
  throw ParameterError(
      std::string(name) + " must be a finite number, got " + shortest_decimal(given),
      "Choose bounds from what is publicly known about the values.");
}

double checked_lower(double given) {
  return checked_bound("lower", given);
}

double checked_upper(double given) {
  return checked_bound("upper", given);
}

double checked_granularity(double given) {
  check_granularity(given);
  return given;
}

double checked_bins(double given) {
  return check_bins(given);
}

// The amount that is charged (threat 27).
double checked_rho(double given) {
  const double rho = stated_amount(given);
  check_rho(rho);
  return rho;
}

constexpr OptionRow kOptions[] = {
    {kMethodOption, "method", read_method, nullptr, nullptr},
    {kGranularityOption, "granularity", read_granularity, &AggregateOptions::granularity,
     checked_granularity},
    {kBinsOption, "bins", read_number, &AggregateOptions::bins, checked_bins},
    {kLowerOption, "lower", read_number, &AggregateOptions::lower, checked_lower},
    {kUpperOption, "upper", read_number, &AggregateOptions::upper, checked_upper},
    {kMaxContributionsOption, "max_contributions", read_contributions, nullptr, nullptr},
    {kSuppressOption, "suppress", read_suppress, nullptr, nullptr},
    {kRhoOption, "rho", read_number, &AggregateOptions::rho, checked_rho},
};

const char* option_names(Families families) {
  List* names = NIL;
  for (const OptionRow& row : kOptions) {
    if (any_takes(families, row.option)) add_name(&names, row.name);
  }
  return joined(names);
}

const OptionRow* find_option(Families families, std::string_view name) {
  for (const OptionRow& row : kOptions) {
    if (any_takes(families, row.option) && name == row.name) return &row;
  }
  return nullptr;
}

// The row of an option that one of the families takes.
const OptionRow& option_of(Families families, std::string_view name) {
  const OptionRow* found = find_option(families, name);
  if (found != nullptr) return *found;
  const bool known = find_option(family_table(), name) != nullptr;
  const char* given = pnstrdup(name.data(), name.size());
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  known ? errmsg("option \"%s\" does not go with this aggregate", given)
                        : errmsg("unknown option \"%s\"", given),
                  errhint("Valid options: %s.", option_names(families))));
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
    const OptionRow& row = option_of(families, text_of(key));
    row.read(row, value, families, parsed);
  }
}

}  // namespace

std::span<const OptionRow> option_table() {
  return kOptions;
}

const OptionRow& find_option(std::string_view name) {
  return option_of(family_table(), name);
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
