#include <algorithm>
#include <cmath>

#include "pg/vocabulary/person_variant.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
}

// Variants of percentile_disc and percentile_cont at one fraction. They keep a person's values, and
// sort them at the end. PostgreSQL's functions that they call compute with nothing but their
// arguments, so call_or_null() is safe for them.
namespace dpquantile {

namespace {

constexpr int kFraction = kBeforeValue + 1;
constexpr int kDescending = kBeforeValue + 2;

struct Order {
  float8 fraction;  // NaN: the answer is NULL
  bool is_descending;
};

using OrderedValues = GrowingArray<Datum, Order>;

bool is_ordered(Oid type) {
  switch (type) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
      return true;
    default:
      return false;
  }
}

bool has_values_between(Oid type) {
  return type == FLOAT8OID || type == INTERVALOID;
}

// The value as it is shown whichever of several equal ones it is. Processors of 32 bits have a
// reference to a number of 64 bits.
Datum plain_copy(Oid type, Datum value) {
  switch (type) {
    case FLOAT4OID:
      return Float4GetDatum(static_cast<float4>(plain_float(DatumGetFloat4(value))));
    case FLOAT8OID:
      return Float8GetDatum(plain_float(DatumGetFloat8(value)));
    case NUMERICOID:
      return datumCopy(value, false, -1);
    case INTERVALOID:
      return datumCopy(value, false, sizeof(Interval));
    case INT8OID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return Int64GetDatum(DatumGetInt64(value));
    default:
      return value;
  }
}

void set_order(Order* ordered, FunctionCallInfo fcinfo) {
  const NullableDatum fraction = fcinfo->args[kFraction];
  const float8 value = fraction.isnull ? -1 : DatumGetFloat8(fraction.value);
  ordered->fraction = value >= 0 && value <= 1 ? value : std::nan("");
  ordered->is_descending = DatumGetBool(fcinfo->args[kDescending].value);
}

void* add_value(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* ordered = static_cast<OrderedValues*>(kept);
  if (ordered == nullptr || ordered->count == ordered->room) ordered = grown(call->memory, ordered);
  if (kept == nullptr) set_order(ordered, fcinfo);
  Datum value = fcinfo->args[kBeforeValue].value;
  // The trimmed number lasts for this row only; what is kept is a copy.
  if (call->type == NUMERICOID) value = DirectFunctionCall1(numeric_trim_scale, value);
  const MemoryContext of_row = MemoryContextSwitchTo(call->memory);
  ordered->add(plain_copy(call->type, value));
  MemoryContextSwitchTo(of_row);
  return ordered;
}

float8 float_of(Oid type, Datum value) {
  return type == FLOAT4OID ? static_cast<float8>(DatumGetFloat4(value)) : DatumGetFloat8(value);
}

bool is_float_below(float8 left, float8 right) {
  if (std::isnan(right)) return !std::isnan(left);
  return left < right;
}

bool is_numeric_below(Datum left, Datum right) {
  return DatumGetInt32(DirectFunctionCall2(numeric_cmp, left, right)) < 0;
}

bool is_interval_below(Datum left, Datum right) {
  return compare_intervals(DatumGetIntervalP(left), DatumGetIntervalP(right)) < 0;
}

// Nothing that compares here ereports.
void sort_values(Oid type, OrderedValues& values) {
  switch (type) {
    case FLOAT4OID:
    case FLOAT8OID:
      std::ranges::sort(values, is_float_below,
                        [type](Datum value) { return float_of(type, value); });
      break;
    case NUMERICOID:
      std::ranges::sort(values, is_numeric_below);
      break;
    case INTERVALOID:
      std::ranges::sort(values, is_interval_below);
      break;
    default:
      std::ranges::sort(values, {}, [type](Datum value) { return whole_number_of(type, value); });
  }
}

// The value with this rank, from 0, in the order of the call.
Datum value_at(OrderedValues* ordered, float8 rank) {
  const auto number = static_cast<int64>(rank);
  const int64 last = ordered->count - 1;
  return ordered->begin()[ordered->is_descending ? last - number : number];
}

Datum copy_of_answer(Oid type, Datum value) {
  if (type == NUMERICOID) return datumCopy(value, false, -1);
  if (type == INTERVALOID) return datumCopy(value, false, sizeof(Interval));
  return value;
}

Datum discrete(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* ordered = static_cast<OrderedValues*>(kept);
  if (std::isnan(ordered->fraction)) return null_answer(fcinfo);
  sort_values(call->type, *ordered);
  const float8 rows = std::ceil(ordered->fraction * static_cast<float8>(ordered->count));
  return copy_of_answer(call->type, value_at(ordered, std::fmax(rows, 1) - 1));
}

// low + fraction * (high - low)
Datum interval_between(FunctionCallInfo fcinfo, Datum low, Datum high, float8 fraction) {
  const Datum difference = call_or_null(interval_mi, fcinfo, high, low);
  if (fcinfo->isnull) return difference;
  const Datum part = call_or_null(interval_mul, fcinfo, difference, Float8GetDatum(fraction));
  if (fcinfo->isnull) return part;
  return call_or_null(interval_pl, fcinfo, part, low);
}

Datum value_between(FunctionCallInfo fcinfo, Oid type, Datum low, Datum high, float8 fraction) {
  if (type == INTERVALOID) return interval_between(fcinfo, low, high, fraction);
  const float8 start = DatumGetFloat8(low);
  return Float8GetDatum(plain_float(start + fraction * (DatumGetFloat8(high) - start)));
}

Datum continuous(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* ordered = static_cast<OrderedValues*>(kept);
  if (std::isnan(ordered->fraction)) return null_answer(fcinfo);
  sort_values(call->type, *ordered);
  const float8 rank = ordered->fraction * static_cast<float8>(ordered->count - 1);
  const float8 below = std::floor(rank);
  const Datum low = value_at(ordered, below);
  if (rank == below) return copy_of_answer(call->type, low);
  return value_between(fcinfo, call->type, low, value_at(ordered, std::ceil(rank)), rank - below);
}

}  // namespace

namespace persons {

const PersonVariant kDiscretePercentile = {add_value, discrete, is_ordered};
const PersonVariant kContinuousPercentile = {add_value, continuous, has_values_between};

}  // namespace persons

}  // namespace dpquantile
