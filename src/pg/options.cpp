#include "pg/options.hpp"

#include "core/grid.hpp"
#include "pg/boundary.hpp"
#include "pg/decimal.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/numeric.h"

PG_FUNCTION_INFO_V1(dpq_options);
DPQ_EXPORT Datum dpq_options(PG_FUNCTION_ARGS);
}

namespace dpquantile {

namespace {

constexpr const char* kMethodOption = "method";
constexpr const char* kGranularityOption = "granularity";
constexpr const char* kApproximateName = "approximate";
constexpr const char* kValidMethods = "Valid methods: approximate.";

bool key_is(const JsonbValue& key, const char* name) {
  return key.val.string.len == static_cast<int>(strlen(name)) &&
         memcmp(key.val.string.val, name, strlen(name)) == 0;
}

QuantileMethod parse_method(const JsonbValue& value) {
  if (value.type != jbvString) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("option \"method\" must be a string"), errhint("%s", kValidMethods)));
  }
  if (key_is(value, kApproximateName)) return QuantileMethod::kApproximate;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("unknown method \"%s\"", pnstrdup(value.val.string.val, value.val.string.len)),
           errhint("%s", kValidMethods)));
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

void parse_option(const JsonbValue& key, const JsonbValue& value, QuantilesOptions* parsed) {
  if (key_is(key, kMethodOption)) {
    parsed->method = parse_method(value);
  } else if (key_is(key, kGranularityOption)) {
    parsed->granularity = parse_number(kGranularityOption, value);
    parsed->has_granularity = true;
  } else {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("unknown option \"%s\"", pnstrdup(key.val.string.val, key.val.string.len)),
             errhint("Valid options: method, granularity.")));
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

}  // namespace

const char* method_name(QuantileMethod method) {
  switch (method) {
    case QuantileMethod::kApproximate:
      return kApproximateName;
  }
  return nullptr;
}

QuantilesOptions default_options() {
  return QuantilesOptions{QuantileMethod::kApproximate, false, 0};
}

QuantilesOptions parse_options(Jsonb* options) {
  if (!JB_ROOT_IS_OBJECT(options)) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("options must be a JSON object"),
             errhint("Build the options with dp_options(), for example "
                     "dp_options(granularity => 1).")));
  }
  QuantilesOptions parsed = default_options();
  JsonbIterator* iterator = JsonbIteratorInit(&options->root);
  JsonbValue key;
  JsonbValue value;
  JsonbIteratorToken token;
  while ((token = JsonbIteratorNext(&iterator, &key, true)) != WJB_DONE) {
    if (token != WJB_KEY) continue;
    JsonbIteratorNext(&iterator, &value, true);
    parse_option(key, value, &parsed);
  }
  return parsed;
}

}  // namespace dpquantile

using namespace dpquantile;

// dp_options(method text, granularity float8) returns jsonb
Datum dpq_options(PG_FUNCTION_ARGS) {
  JsonbParseState* state = nullptr;
  pushJsonbValue(&state, WJB_BEGIN_OBJECT, nullptr);
  if (!PG_ARGISNULL(0)) {
    JsonbValue method;
    method.type = jbvString;
    method.val.string.val = text_to_cstring(PG_GETARG_TEXT_PP(0));
    method.val.string.len = static_cast<int>(strlen(method.val.string.val));
    push_option(&state, kMethodOption, &method);
  }
  if (!PG_ARGISNULL(1)) {
    const double step = PG_GETARG_FLOAT8(1);
    report(guarded([&] { check_granularity(step); }));
    JsonbValue granularity;
    granularity.type = jbvNumeric;
    granularity.val.numeric = DatumGetNumeric(decimal_numeric(step));
    push_option(&state, kGranularityOption, &granularity);
  }
  Jsonb* options = JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, nullptr));
  parse_options(options);
  PG_RETURN_JSONB_P(options);
}
