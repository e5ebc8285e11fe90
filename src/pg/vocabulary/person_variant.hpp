#pragma once

#include <new>

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "datatype/timestamp.h"
}

// A variant answers for the rows of one person what an aggregate of PostgreSQL answers, and NULL
// where that raises an error, whatever the order of the rows is (person_aggregates.hpp). SQL calls
// it by dpquantile.of_person(answer, original, value, ...) (person_call.cpp). It has no combine
// function: all rows of a person go through one process.
namespace dpquantile {

// A call of dpquantile.of_person().
struct PersonCallInfo {
  Oid type;              // of the values: one of PostgreSQL's, no domain, or an enum
  SipKey key;            // for hashes of values; of this execution
  MemoryContext memory;  // of what is kept of the person's values
};

// The arguments of the transition function before the value: the state, answer, original.
inline constexpr int kBeforeValue = 3;

// A person has few values, and there are many persons: what is kept is small at first.
struct PersonVariant {
  // Adds a value, which is not NULL, to what is kept, and gives what is kept then. Nothing is kept
  // at first: null.
  void* (*add)(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept);
  // kept is not null. NULL: null_answer(fcinfo)
  Datum (*answer)(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept);
  // Whether values of the type are taken.
  bool (*takes)(Oid type);
};

// A copy that lasts as long as the memory.
template <class Kept>
Kept* new_in(MemoryContext memory, const Kept& kept) {
  return new (MemoryContextAlloc(memory, sizeof(Kept))) Kept(kept);
}

// What is kept, or an empty one in its place.
template <class Kept>
Kept* kept_or_empty(const PersonCallInfo* call, void* kept) {
  return kept != nullptr ? static_cast<Kept*>(kept) : new_in(call->memory, Kept{});
}

// Values in the order in which they come, after what else is kept, in one block: the values of a
// person are hardly ever in the processor's cache when one is added.
template <class Value, class Head>
struct GrowingArray : Head {
  int64 count = 0;
  int64 room = 0;

  Value* begin() { return reinterpret_cast<Value*>(this + 1); }
  Value* end() { return begin() + count; }
  void add(Value value) { begin()[count++] = value; }
};

// The same values with more room, in a block of twice the size. Null: none. There is no limit but
// that of the server's memory: an error at some number of rows would tell of it.
template <class Value, class Head>
GrowingArray<Value, Head>* grown(MemoryContext memory, GrowingArray<Value, Head>* values) {
  using Array = GrowingArray<Value, Head>;
  constexpr Size kFirstBytes = 64;
  if (values == nullptr) {
    values = new (MemoryContextAlloc(memory, kFirstBytes)) Array{};
    values->room = (kFirstBytes - sizeof(Array)) / sizeof(Value);
    return values;
  }
  const Size bytes = 2 * (sizeof(Array) + static_cast<Size>(values->room) * sizeof(Value));
  values = static_cast<Array*>(repalloc_huge(values, bytes));
  values->room = static_cast<int64>((bytes - sizeof(Array)) / sizeof(Value));
  return values;
}

// The one NaN, and 0 for -0.
float8 plain_float(float8 value);

// The order of intervals, in which no two different ones are equal: those of equal length are
// ordered by their fields.
int compare_intervals(const Interval* left, const Interval* right);

// A value of a type of whole numbers, dates, times without a zone, or an enum. Their order is that
// of the numbers, except for enums.
int64 whole_number_of(Oid type, Datum value);

namespace persons {

// sum, avg, variances and deviations of real and double precision, exact and rounded at the end
extern const PersonVariant kRealSum;
extern const PersonVariant kDoubleSum;
extern const PersonVariant kMean;
extern const PersonVariant kSampleVariance;
extern const PersonVariant kPopulationVariance;
extern const PersonVariant kSampleDeviation;
extern const PersonVariant kPopulationDeviation;

// The least and the largest of real and double precision, or of intervals
extern const PersonVariant kLeastFloat;
extern const PersonVariant kLargestFloat;
extern const PersonVariant kLeastInterval;
extern const PersonVariant kLargestInterval;

extern const PersonVariant kIntervalSum;
extern const PersonVariant kIntervalMean;

// (value, fraction, whether the order is descending)
extern const PersonVariant kDiscretePercentile;
extern const PersonVariant kContinuousPercentile;

// How many different values there are
extern const PersonVariant kDistinct;

}  // namespace persons

}  // namespace dpquantile
