// dp_options and dp_option: options of a call as a jsonb object.
#include <cmath>

#include "core/histogram/value_grid.hpp"
#include "pg/parameters/options.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/value_type.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

JsonbValue text_value(const char* text) {
  JsonbValue value;
  value.type = jbvString;
  value.val.string.val = pstrdup(text);
  value.val.string.len = static_cast<int>(strlen(text));
  return value;
}

JsonbValue boolean_value(bool boolean) {
  JsonbValue value;
  value.type = jbvBool;
  value.val.boolean = boolean;
  return value;
}

JsonbValue number_value(const OptionRow& row, double number) {
  if (row.checked != nullptr) report(guarded([&] { number = row.checked(number); }));
  JsonbValue value;
  value.type = jbvNumeric;
  value.val.numeric = DatumGetNumeric(decimal_numeric(number));
  return value;
}

// Drivers send numbers and booleans as text. check_options() refuses a text that is neither, as it
// does in hand-written JSON.
JsonbValue value_of_text(const OptionRow& row, const char* text) {
  if (row.number != nullptr) {
    char* end;
    const double number = strtod(text, &end);
    if (end != text && *end == '\0') return number_value(row, number);
  }
  if (row.option == kMaxContributionsOption &&
      is_whole_number(text, static_cast<int>(strlen(text)))) {
    return number_value(row, strtod(text, nullptr));
  }
  bool boolean;
  if (row.option == kSuppressOption && parse_bool(text, &boolean)) return boolean_value(boolean);
  return text_value(text);
}

JsonbValue value_of(const OptionRow& row, Oid type, Datum given) {
  switch (type) {
    case UNKNOWNOID:
      return value_of_text(row, DatumGetCString(given));
    case TEXTOID:
    case VARCHAROID:
      return value_of_text(row, TextDatumGetCString(given));
    case BOOLOID:
      return boolean_value(DatumGetBool(given));
    case INTERVALOID:
      return text_value(iso_text_of_interval(given));
    case FLOAT4OID:
      return number_value(row, DatumGetFloat4(given));
    case FLOAT8OID:
    case NUMERICOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
      return number_value(row, number_of_value(*find_value_type(type), given));
  }
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("option \"%s\" cannot be of type %s", row.name, format_type_be(type)),
                  errhint("Options are numbers, texts, booleans and intervals.")));
}

// Adds the option whose value is an argument of the function, unless it is NULL.
void push_argument(DPQ_JSONB_WRITER* writer, const OptionRow& row, FunctionCallInfo fcinfo,
                   int number) {
  if (PG_ARGISNULL(number)) return;
  JsonbValue name = text_value(row.name);
  JsonbValue value =
      value_of(row, get_fn_expr_argtype(fcinfo->flinfo, number), PG_GETARG_DATUM(number));
  pushJsonbValue(writer, WJB_KEY, &name);
  pushJsonbValue(writer, WJB_VALUE, &value);
}

Datum checked_object(DPQ_JSONB_WRITER* writer) {
  Jsonb* options = JsonbValueToJsonb(DPQ_END_JSONB(writer, WJB_END_OBJECT));
  check_options(options);
  PG_RETURN_JSONB_P(options);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// dp_options(method text, granularity, bins bigint, lower, upper float8, max_contributions "any",
//            suppress boolean, rho float8) returns jsonb: the first options of option_table()
DPQ_FUNCTION(dpq_options) {
  enum { kGranularity = 1, kBins, kLower, kUpper };
  if (!PG_ARGISNULL(kGranularity) && !PG_ARGISNULL(kBins)) {
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("expected bins or granularity, got both"),
         errhint("Give granularity for values on a grid, such as whole numbers, else bins.")));
  }
  if (!PG_ARGISNULL(kLower) && !PG_ARGISNULL(kUpper)) {
    report(guarded([&] { check_bounds(PG_GETARG_FLOAT8(kLower), PG_GETARG_FLOAT8(kUpper)); }));
  }
  DPQ_JSONB_WRITER writer{};
  pushJsonbValue(&writer, WJB_BEGIN_OBJECT, nullptr);
  for (int i = 0; i < PG_NARGS(); ++i) push_argument(&writer, option_table()[i], fcinfo, i);
  return checked_object(&writer);
}

// dp_option(name text, value text or "any") returns jsonb
DPQ_FUNCTION(dpq_option) {
  if (PG_ARGISNULL(0)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name must not be NULL"),
                    errhint("Name an option, for example dp_option('granularity', 1).")));
  }
  const OptionRow& row = find_option(text_to_cstring(PG_GETARG_TEXT_PP(0)));
  DPQ_JSONB_WRITER writer{};
  pushJsonbValue(&writer, WJB_BEGIN_OBJECT, nullptr);
  push_argument(&writer, row, fcinfo, 1);
  return checked_object(&writer);
}
