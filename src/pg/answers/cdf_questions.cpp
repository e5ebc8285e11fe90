#include "pg/answers/cdf_questions.hpp"

#include "pg/answers/cdf_type.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// The name of the function that SQL calls.
const char* own_name(FunctionCallInfo fcinfo) {
  return get_func_name(fcinfo->flinfo->fn_oid);
}

}  // namespace

void require_numbers(FunctionCallInfo fcinfo) {
  const ValueType type = value_type_of_cdf(fcinfo, 0);
  if (!is_temporal(type)) return;
  const char* name = own_name(fcinfo);
  const char* question = strncmp(name, "dp_cdf_", 7) == 0 ? name + 7 : name;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s needs a CDF of numbers, got one of type %s", name, temporal_type_name(type)),
           errhint("Use dp_cdf_time_%s.", question)));
}

ValueType require_times(FunctionCallInfo fcinfo) {
  const ValueType type = value_type_of_cdf(fcinfo, 0);
  if (is_temporal(type)) return type;
  const char* name = own_name(fcinfo);
  const char* question = strncmp(name, "dp_cdf_time_", 12) == 0 ? name + 12 : name;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s needs a CDF of dates or times, got one of numbers", name),
                  errhint("Use dp_cdf_%s.", question)));
}

double time_argument(FunctionCallInfo fcinfo, int number, ValueType type) {
  const Oid given = getBaseType(get_fn_expr_argtype(fcinfo->flinfo, number));
  if (given == TEXTOID) return number_of_text(type, text_to_cstring(PG_GETARG_TEXT_PP(number)));
  if (given == oid_of(type)) return number_of_value(type, PG_GETARG_DATUM(number));
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the CDF is of type %s, got a value of type %s", temporal_type_name(type),
                         format_type_be(given)),
                  errhint("Cast it: value::%s.", temporal_type_name(type))));
}

Datum time_answer(ValueType type, double number) {
  return CStringGetTextDatum(iso_text_of_number(type, number, TextZone::kSession));
}

}  // namespace dpquantile
