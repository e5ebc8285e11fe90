#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "utils/jsonb.h"
}

// The options of an aggregate call: a jsonb object, best built by dp_options().
namespace dpquantile {

// The aggregates that share parameters, options and methods. Stored inside aggregate states.
enum class Family : uint8 {
  kQuantiles = 1,  // dp_quantiles, dp_quantile, dp_median
  kCdf = 2,        // dp_cdf
};

// Whether a number from outside names a family.
bool is_family(int number);

// A method of a family: its number is 1 for quantiles, else a CdfMethod.
using Method = uint8;
inline constexpr Method kNoMethod = 0;

// The name by which a method is chosen and entered in the ledger; null for a number without method.
const char* method_name(Family family, Method method);

// The method that calls of a family use without this option.
Method default_method(Family family);

// The options of a call, or what stands in for them.
struct AggregateOptions {
  Method method;
  bool has_granularity;
  double granularity;  // validated with the bounds
  bool has_bins;
  double bins;  // validated with the bounds
};

// What a call without options uses.
AggregateOptions default_options(Family family);

// Reads the options of a call. ereports for anything that is not an object, for an option that the
// family does not have (listing those it has), an unknown method and a value of the wrong type.
AggregateOptions parse_options(Jsonb* options, Family family);

}  // namespace dpquantile
