#include <cmath>
#include <compare>
#include <limits>
#include <tuple>

#include "pg/vocabulary/person_variant.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

float8 plain_float(float8 value) {
  return std::isnan(value) ? std::numeric_limits<float8>::quiet_NaN() : value + 0.0;
}

int compare_intervals(const Interval* left, const Interval* right) {
  const int order = DatumGetInt32(
      DirectFunctionCall2(interval_cmp, IntervalPGetDatum(left), IntervalPGetDatum(right)));
  if (order != 0) return order;
  const auto fields = [](const Interval* value) {
    return std::make_tuple(value->month, value->day, value->time);
  };
  const auto by_fields = fields(left) <=> fields(right);
  return by_fields < 0 ? -1 : by_fields > 0 ? 1 : 0;
}

int64 whole_number_of(Oid type, Datum value) {
  switch (type) {
    case BOOLOID:
      return DatumGetBool(value) ? 1 : 0;
    case CHAROID:
      return DatumGetChar(value);
    case INT2OID:
      return DatumGetInt16(value);
    case INT4OID:
      return DatumGetInt32(value);
    case DATEOID:
      return DatumGetDateADT(value);
    case INT8OID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return DatumGetInt64(value);
    default:
      return DatumGetObjectId(value);
  }
}

}  // namespace dpquantile
