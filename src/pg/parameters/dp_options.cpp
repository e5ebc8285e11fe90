// dp_options: the options of a call as a jsonb object.
#include <cmath>

#include "core/cdf/cdf_domain.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "pg/parameters/options.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/numeric.h"
}

namespace dpquantile {

namespace {

void push_option(JsonbParseState** state, Option option, JsonbValue* value) {
  JsonbValue key;
  key.type = jbvString;
  key.val.string.val = pstrdup(option_name(option));
  key.val.string.len = static_cast<int>(strlen(key.val.string.val));
  pushJsonbValue(state, WJB_KEY, &key);
  pushJsonbValue(state, WJB_VALUE, value);
}

void push_number(JsonbParseState** state, Option option, double number) {
  JsonbValue value;
  value.type = jbvNumeric;
  value.val.numeric = DatumGetNumeric(decimal_numeric(number));
  push_option(state, option, &value);
}

void push_text(JsonbParseState** state, Option option, const text* given) {
  JsonbValue value;
  value.type = jbvString;
  value.val.string.val = text_to_cstring(given);
  value.val.string.len = static_cast<int>(strlen(value.val.string.val));
  push_option(state, option, &value);
}

// Pushes a number if the text is one. check_options() checks other texts, as it does hand-written
// JSON.
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

void push_bound(JsonbParseState** state, Option option, double bound) {
  if (!std::isfinite(bound)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be a finite number, got %g", option_name(option), bound),
                    errhint("Choose bounds from what is publicly known about the values.")));
  }
  push_number(state, option, bound);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// dp_options(method text, granularity, bins bigint, lower, upper float8, max_contributions text,
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
    const auto bins = static_cast<double>(PG_GETARG_INT64(2));
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
    const double rho = stated_amount(PG_GETARG_FLOAT8(7));
    report(guarded([&] { check_rho(rho); }));
    push_number(&state, kRhoOption, rho);
  }
  Jsonb* options = JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, nullptr));
  check_options(options);
  PG_RETURN_JSONB_P(options);
}
