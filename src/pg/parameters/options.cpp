#include "pg/parameters/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cdf/cdf_domain.hpp"
#include "core/cdf/cdf_tree.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

constexpr const char* kMethodOption = "method";
constexpr const char* kGranularityOption = "granularity";
constexpr const char* kBinsOption = "bins";
constexpr const char* kLowerOption = "lower";
constexpr const char* kUpperOption = "upper";
constexpr const char* kMaxContributionsOption = "max_contributions";
constexpr const char* kSuppressOption = "suppress";
constexpr const char* kRhoOption = "rho";

// A set of families.
constexpr unsigned set_of(Family family) {
  return 1u << static_cast<unsigned>(family);
}
constexpr unsigned kAnyFamily = ~0u;
constexpr unsigned kUserMeans = set_of(Family::kUserMean) | set_of(Family::kUserVariance);
constexpr unsigned kUserLevel = kUserMeans | set_of(Family::kUserGrids);
constexpr unsigned kRowLevel = kAnyFamily & ~kUserLevel;
constexpr unsigned kQuantileDraws = set_of(Family::kQuantiles) | set_of(Family::kSynthesis);
constexpr unsigned kWithRho = kQuantileDraws | set_of(Family::kCdf);

struct MethodName {
  unsigned families;
  const char* name;
  Method method;
};

// The first method of a family is its default.
constexpr MethodName kMethods[] = {
    {set_of(Family::kSynthesis), "auto", static_cast<Method>(QuantilesMethod::kAuto)},
    {kQuantileDraws, "approximate", static_cast<Method>(QuantilesMethod::kApproximate)},
    {kQuantileDraws, "joint", static_cast<Method>(QuantilesMethod::kJoint)},
    {kQuantileDraws, "independent", static_cast<Method>(QuantilesMethod::kIndependent)},
    {kQuantileDraws, "tree", static_cast<Method>(QuantilesMethod::kTree)},
    {set_of(Family::kQuantiles), "auto", static_cast<Method>(QuantilesMethod::kAuto)},
    {set_of(Family::kCdf), "tree", static_cast<Method>(CdfMethod::kTree)},
    {set_of(Family::kCdf), "binary", static_cast<Method>(CdfMethod::kBinary)},
    {set_of(Family::kCdf), "histogram", static_cast<Method>(CdfMethod::kHistogram)},
    {set_of(Family::kIqr), "propose-test-release",
     static_cast<Method>(IqrMethod::kProposeTestRelease)},
    {set_of(Family::kIqr), "quantiles", static_cast<Method>(IqrMethod::kQuantiles)},
    {kUserMeans, "array", static_cast<Method>(UserMethod::kArray)},
    {kUserMeans, "baseline", static_cast<Method>(UserMethod::kBaseline)},
    // All rows of the users that suppression leaves.
    {set_of(Family::kUserGrids), "grids", static_cast<Method>(UserMethod::kBaseline)},
    {set_of(Family::kUserMean), "levy", static_cast<Method>(UserMethod::kLevy)},
    {set_of(Family::kUserMean), "quantile", static_cast<Method>(UserMethod::kQuantile)},
    {set_of(Family::kUserMean), "quantile-adaptive",
     static_cast<Method>(UserMethod::kQuantileAdaptive)},
    {kUserMeans, "bounded", static_cast<Method>(UserMethod::kBounded)},
};

struct OptionName {
  unsigned families;
  const char* name;
  std::optional<double> AggregateOptions::*number;  // null: something else than a number
};

constexpr OptionName kOptions[] = {
    {kAnyFamily, kMethodOption, nullptr},
    {kRowLevel, kGranularityOption, &AggregateOptions::granularity},
    {set_of(Family::kCdf), kBinsOption, &AggregateOptions::bins},
    {set_of(Family::kIqr), kLowerOption, &AggregateOptions::lower},
    {set_of(Family::kIqr), kUpperOption, &AggregateOptions::upper},
    {kUserMeans, kMaxContributionsOption, nullptr},
    {set_of(Family::kUserGrids), kSuppressOption, nullptr},
    {kWithRho, kRhoOption, &AggregateOptions::rho},
};

// Whether a string of a JSON object, a key or a value, is this one.
bool key_is(const JsonbValue& key, const char* name) {
  return key.val.string.len == static_cast<int>(strlen(name)) &&
         memcmp(key.val.string.val, name, strlen(name)) == 0;
}

// "Valid <what>: a, b, c." from the names of these families, each once.
template <class Named, std::size_t count>
const char* list_names(const char* what, const Named (&named)[count], unsigned families) {
  StringInfoData list;
  initStringInfo(&list);
  for (const Named& entry : named) {
    const auto comes_before = [&](const Named& other) {
      return &other < &entry && (other.families & families) != 0 &&
             strcmp(other.name, entry.name) == 0;
    };
    if ((entry.families & families) == 0 || std::any_of(named, named + count, comes_before)) {
      continue;
    }
    appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ", entry.name);
  }
  return psprintf("Valid %s: %s.", what, list.data);
}

Method parse_method(const JsonbValue& value, unsigned families) {
  if (value.type != jbvString) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("option \"method\" must be a string"),
             errhint("%s", list_names("methods", kMethods, families))));
  }
  bool known = false;
  for (const MethodName& entry : kMethods) {
    if (!key_is(value, entry.name)) continue;
    if ((entry.families & families) != 0) return entry.method;
    known = true;
  }
  const char* name = pnstrdup(value.val.string.val, value.val.string.len);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  known ? errmsg("method \"%s\" does not go with this aggregate", name)
                        : errmsg("unknown method \"%s\"", name),
                  errhint("%s", list_names("methods", kMethods, families))));
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

// Decimal digits only, few enough for a double to hold them exactly.
bool is_whole_number(const char* text, int length) {
  constexpr int kMostDigits = 15;
  if (length < 1 || length > kMostDigits) return false;
  for (int i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return true;
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
  if (key_is(value, "optimal")) return {ContributionRule::kOptimal, 0};
  if (key_is(value, "median")) return {ContributionRule::kMedian, 0};
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

const OptionName* find_option(unsigned families, const JsonbValue& key) {
  for (const OptionName& entry : kOptions) {
    if ((entry.families & families) != 0 && key_is(key, entry.name)) return &entry;
  }
  return nullptr;
}

void parse_option(const JsonbValue& key, const JsonbValue& value, unsigned families,
                  AggregateOptions* parsed) {
  const OptionName* option = find_option(families, key);
  if (option == nullptr) {
    const char* name = pnstrdup(key.val.string.val, key.val.string.len);
    const bool known = find_option(kAnyFamily, key) != nullptr;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    known ? errmsg("option \"%s\" does not go with this aggregate", name)
                          : errmsg("unknown option \"%s\"", name),
                    errhint("%s", list_names("options", kOptions, families))));
  }
  if (option->number != nullptr) {
    parsed->*(option->number) = parse_number(option->name, value);
  } else if (option->name == kMaxContributionsOption) {
    parsed->max_contributions = parse_contributions(value);
  } else if (option->name == kSuppressOption) {
    parsed->suppress = parse_suppress(value);
  } else {
    parsed->method = parse_method(value, families);
  }
}

// Reads whatever one of the families takes.
void parse(Jsonb* options, unsigned families, AggregateOptions* parsed) {
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

void push_option(JsonbParseState** state, const char* name, JsonbValue* value) {
  JsonbValue key;
  key.type = jbvString;
  key.val.string.val = pstrdup(name);
  key.val.string.len = static_cast<int>(strlen(name));
  pushJsonbValue(state, WJB_KEY, &key);
  pushJsonbValue(state, WJB_VALUE, value);
}

void push_number(JsonbParseState** state, const char* name, double number) {
  JsonbValue value;
  value.type = jbvNumeric;
  value.val.numeric = DatumGetNumeric(decimal_numeric(number));
  push_option(state, name, &value);
}

void push_text(JsonbParseState** state, const char* name, const text* given) {
  JsonbValue value;
  value.type = jbvString;
  value.val.string.val = text_to_cstring(given);
  value.val.string.len = static_cast<int>(strlen(value.val.string.val));
  push_option(state, name, &value);
}

// A number where one is written, else a name, to be checked like what is written by hand.
void push_contributions(JsonbParseState** state, const text* given) {
  const char* written = text_to_cstring(given);
  if (is_whole_number(written, static_cast<int>(strlen(written)))) {
    push_number(state, kMaxContributionsOption, strtod(written, nullptr));
  } else {
    push_text(state, kMaxContributionsOption, given);
  }
}

void push_suppress(JsonbParseState** state, bool suppress) {
  JsonbValue value;
  value.type = jbvBool;
  value.val.boolean = suppress;
  push_option(state, kSuppressOption, &value);
}

void push_bound(JsonbParseState** state, const char* name, double bound) {
  if (!std::isfinite(bound)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be a finite number, got %g", name, bound),
                    errhint("Choose bounds from what is publicly known about the values.")));
  }
  push_number(state, name, bound);
}

}  // namespace

bool is_family(int number) {
  return number >= static_cast<int>(Family::kQuantiles) &&
         number <= static_cast<int>(Family::kSynthesis);
}

bool is_user_level(Family family) {
  return (set_of(family) & kUserLevel) != 0;
}

bool may_state_rho(Family family) {
  return (set_of(family) & kWithRho) != 0;
}

const char* method_name(Family family, Method method) {
  for (const MethodName& entry : kMethods) {
    if ((entry.families & set_of(family)) != 0 && entry.method == method) return entry.name;
  }
  return nullptr;
}

Method default_method(Family family) {
  for (const MethodName& entry : kMethods) {
    if ((entry.families & set_of(family)) != 0) return entry.method;
  }
  return kNoMethod;
}

AggregateOptions default_options(Family family) {
  AggregateOptions options{};
  options.method = default_method(family);
  return options;
}

AggregateOptions parse_options(Jsonb* options, Family family) {
  AggregateOptions parsed = default_options(family);
  parse(options, set_of(family), &parsed);
  return parsed;
}

}  // namespace dpquantile

using namespace dpquantile;

// dp_options(method text, granularity, bins int, lower, upper float8, max_contributions text,
//            suppress boolean, rho float8) returns jsonb
DPQ_FUNCTION(dpq_options) {
  JsonbParseState* state = nullptr;
  pushJsonbValue(&state, WJB_BEGIN_OBJECT, nullptr);
  if (!PG_ARGISNULL(0)) push_text(&state, kMethodOption, PG_GETARG_TEXT_PP(0));
  if (!PG_ARGISNULL(1)) {
    const double step = PG_GETARG_FLOAT8(1);
    report(guarded([&] { check_granularity(step); }));
    push_number(&state, kGranularityOption, step);
  }
  if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2)) {
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("expected bins or granularity, got both"),
         errhint("Give granularity for values on a grid, such as whole numbers, else bins.")));
  }
  if (!PG_ARGISNULL(2)) {
    const int32 bins = PG_GETARG_INT32(2);
    report(guarded([&] { check_bins(bins); }));
    push_number(&state, kBinsOption, bins);
  }
  if (!PG_ARGISNULL(3) && !PG_ARGISNULL(4)) {
    report(guarded([&] { check_bounds(PG_GETARG_FLOAT8(3), PG_GETARG_FLOAT8(4)); }));
  }
  if (!PG_ARGISNULL(3)) push_bound(&state, kLowerOption, PG_GETARG_FLOAT8(3));
  if (!PG_ARGISNULL(4)) push_bound(&state, kUpperOption, PG_GETARG_FLOAT8(4));
  if (!PG_ARGISNULL(5)) push_contributions(&state, PG_GETARG_TEXT_PP(5));
  if (!PG_ARGISNULL(6)) push_suppress(&state, PG_GETARG_BOOL(6));
  if (!PG_ARGISNULL(7)) {
    const double rho = PG_GETARG_FLOAT8(7);
    report(guarded([&] { check_rho(rho); }));
    push_number(&state, kRhoOption, rho);
  }
  Jsonb* options = JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, nullptr));
  AggregateOptions parsed{};
  parse(options, kAnyFamily, &parsed);
  PG_RETURN_JSONB_P(options);
}
