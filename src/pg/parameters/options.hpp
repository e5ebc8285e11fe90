#pragma once

#include <optional>

#include "core/quantiles/quantiles.hpp"
#include "core/user_level/user_query.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/jsonb.h"
}

// The options of an aggregate call: a jsonb object, best built by dp_options().
namespace dpquantile {

// The aggregates that share parameters, options and methods. Stored inside aggregate states.
enum class Family : uint8 {
  kQuantiles = 1,     // dp_quantiles, dp_quantile, dp_median
  kCdf = 2,           // dp_cdf
  kIqr = 3,           // dp_iqr
  kUserMean = 4,      // dp_user_mean
  kUserVariance = 5,  // dp_user_variance
  kUserGrids = 6,     // dp_user_grid_stats
  kSynthesis = 7,     // dp_synthesize
};

// Whether a number from outside names a family.
bool is_family(int number);

// Whether a family protects all rows of a user together.
bool is_user_level(Family family);

// Whether calls of a family may state their guarantee in rho.
bool may_state_rho(Family family);

// A method of a family: its number is QuantilesMethod, CdfMethod, IqrMethod or UserMethod.
using Method = uint8;
inline constexpr Method kNoMethod = 0;
enum class IqrMethod : Method { kProposeTestRelease = 1, kQuantiles = 2 };

// The name by which a method is chosen and entered in the ledger; null for a number without method.
const char* method_name(Family family, Method method);

// The method that calls of a family use without this option.
Method default_method(Family family);

// The option max_contributions: how many rows of a user are kept at most.
struct ContributionLimit {
  ContributionRule rule;
  uint32 number;  // with ContributionRule::kFixed, else 0
};

// The options of a call, or what stands in for them. The numbers are validated with the other
// parameters.
struct AggregateOptions {
  Method method;
  std::optional<double> granularity;
  std::optional<double> bins;
  std::optional<double> lower;
  std::optional<double> upper;
  std::optional<ContributionLimit> max_contributions;
  std::optional<bool> suppress;
  std::optional<double> rho;
};

// What a call without options uses.
AggregateOptions default_options(Family family);

// Reads the options of a call. ereports for anything that is not an object, for an option that the
// family does not have (listing those it has), an unknown method and a value of the wrong type.
AggregateOptions parse_options(Jsonb* options, Family family);

}  // namespace dpquantile
