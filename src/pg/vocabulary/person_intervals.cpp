#include <limits>

#include "pg/vocabulary/person_variant.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
}

// Variants of aggregates of intervals, which have three fields: months, days, microseconds. Each
// field is added by itself. PostgreSQL reports an error if a partial sum is out of range, and takes
// '1 day' and '24 hours' for equal. Its functions compute with nothing but their arguments, so
// call_or_null() is safe for them.
namespace dpquantile {

namespace {

// A sum of up to 2^63 integers, in two's complement of 128 bits.
struct WideSum {
  uint64 low = 0;
  int64 high = 0;

  void add(int64 number) {
    const auto added = static_cast<uint64>(number);
    low += added;
    high += (number < 0 ? -1 : 0) + (low < added ? 1 : 0);
  }

  template <class Field>
  bool fits() const {
    const auto value = static_cast<int64>(low);
    return high == (value < 0 ? -1 : 0) && value >= std::numeric_limits<Field>::min() &&
           value <= std::numeric_limits<Field>::max();
  }
};

struct IntervalValues {
  int64 rows = 0;
  WideSum months;
  WideSum days;
  WideSum microseconds;
  bool has_infinity = false;
  bool has_minus_infinity = false;
  Interval infinite = {};  // one of them
};

bool is_interval(Oid type) {
  return type == INTERVALOID;
}

const Interval* value_of(FunctionCallInfo fcinfo) {
  return DatumGetIntervalP(fcinfo->args[kBeforeValue].value);
}

void* add_interval(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* sums = kept_or_empty<IntervalValues>(call, kept);
  const Interval* value = value_of(fcinfo);
  ++sums->rows;
  sums->has_infinity |= DPQ_INTERVAL_IS_NOEND(value);
  sums->has_minus_infinity |= DPQ_INTERVAL_IS_NOBEGIN(value);
  if (DPQ_INTERVAL_IS_NOEND(value) || DPQ_INTERVAL_IS_NOBEGIN(value)) {
    sums->infinite = *value;
  } else {
    sums->months.add(value->month);
    sums->days.add(value->day);
    sums->microseconds.add(value->time);
  }
  return sums;
}

// False if it is out of range.
bool try_sum(const IntervalValues* sums, Interval* sum) {
  if (sums->has_infinity || sums->has_minus_infinity) {
    *sum = sums->infinite;
    return !(sums->has_infinity && sums->has_minus_infinity);
  }
  sum->month = static_cast<int32>(sums->months.low);
  sum->day = static_cast<int32>(sums->days.low);
  sum->time = static_cast<TimeOffset>(sums->microseconds.low);
  return sums->months.fits<int32>() && sums->days.fits<int32>() &&
         sums->microseconds.fits<int64>() && !DPQ_INTERVAL_IS_NOEND(sum) &&
         !DPQ_INTERVAL_IS_NOBEGIN(sum);
}

Datum interval_total(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  auto* sum = static_cast<Interval*>(palloc(sizeof(Interval)));
  return try_sum(static_cast<IntervalValues*>(kept), sum) ? IntervalPGetDatum(sum)
                                                          : null_answer(fcinfo);
}

Datum interval_mean(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  const auto* sums = static_cast<IntervalValues*>(kept);
  Interval sum;
  if (!try_sum(sums, &sum)) return null_answer(fcinfo);
  return call_or_null(interval_div, fcinfo, IntervalPGetDatum(&sum),
                      Float8GetDatum(static_cast<float8>(sums->rows)));
}

template <bool kLargest>
void* add_to_extreme(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  const Interval* value = value_of(fcinfo);
  auto* extreme = kept_or_empty<Interval>(call, kept);
  const bool is_first = kept == nullptr;
  const int order = is_first ? 0 : compare_intervals(value, extreme);
  if (is_first || (kLargest ? order > 0 : order < 0)) *extreme = *value;
  return extreme;
}

Datum extreme(FunctionCallInfo, const PersonCallInfo*, void* kept) {
  auto* copy = static_cast<Interval*>(palloc(sizeof(Interval)));
  *copy = *static_cast<Interval*>(kept);
  return IntervalPGetDatum(copy);
}

}  // namespace

namespace persons {

const PersonVariant kIntervalSum = {add_interval, interval_total, is_interval};
const PersonVariant kIntervalMean = {add_interval, interval_mean, is_interval};
const PersonVariant kLeastInterval = {add_to_extreme<false>, extreme, is_interval};
const PersonVariant kLargestInterval = {add_to_extreme<true>, extreme, is_interval};

}  // namespace persons

}  // namespace dpquantile
