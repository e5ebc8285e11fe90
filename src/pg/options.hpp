#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "utils/jsonb.h"
}

// The options of an aggregate call: a jsonb object, best built by dp_options().
namespace dpquantile {

enum class QuantileMethod : uint8 { kApproximate = 1 };

// The name by which a method is chosen and entered in the ledger.
const char* method_name(QuantileMethod method);

// The options of a call, or what stands in for them.
struct QuantilesOptions {
  QuantileMethod method;
  bool has_granularity;
  double granularity;  // validated when the grid is made
};

// What a call without options uses.
QuantilesOptions default_options();

// Reads the options. ereports for anything that is not an object, for an unknown option (listing
// the valid ones), an unknown method and a value of the wrong type.
QuantilesOptions parse_options(Jsonb* options);

}  // namespace dpquantile
