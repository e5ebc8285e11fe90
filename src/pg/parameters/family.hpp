#pragma once

#include <span>
#include <string_view>

#include "pg/server/postgres.hpp"

// A family of aggregates shares its arguments, options, methods and charge rule. Each family is one
// row of the table in family_table.cpp. All other code reads this table.
namespace dpquantile {

struct AggregateParameters;
struct GivenParameters;
class ContextMemory;
class Mechanism;

// The numbers are stored inside aggregate states, so they never change.
enum class Family : uint8 {
  kQuantiles = 1,       // dp_quantiles, dp_quantile, dp_median
  kCdf = 2,             // dp_cdf
  kIqr = 3,             // dp_iqr
  kUserMean = 4,        // dp_user_mean
  kUserVariance = 5,    // dp_user_variance
  kUserGrids = 6,       // dp_user_grid_stats
  kSynthesis = 7,       // dp_synthesize
  kCount = 8,           // dp_count(epsilon): rows
  kValueCount = 9,      // dp_count(value, epsilon): rows with a value
  kDistinct = 10,       // dp_count_distinct
  kSum = 11,            // dp_sum
  kMean = 12,           // dp_avg
  kMoments = 13,        // dp_variance, dp_stddev and their like, dp_stats
  kKeepGroup = 14,      // dp_keep_group(epsilon, delta)
  kHistogram = 15,      // dp_histogram
  kKeepUserGroup = 16,  // dp_keep_group(user, epsilon, delta, max_groups)
};

// A method of a family: the number of a QuantilesMethod, CdfMethod, IqrMethod or UserMethod. The
// numbers are stored inside aggregate states.
using Method = uint8;

// How a state holds records.
enum class RecordKind : uint8 {
  kRuns = 1,     // as cells of the value grid, compressed (core/histogram/cell_runs.hpp)
  kValue = 2,    // as values, float8 without NaN
  kUserRow = 3,  // as UserRow: user, grid and value
  kSums = 4,     // as one ValueSums: their number, and sums of their values
  kHashes = 5,   // as the set of the hashes of their values (core/distinct/distinct_hashes.hpp)
};

// The arguments of a call that come from its rows. The number counts them.
enum class RowArguments : uint8 { kNone = 0, kValue = 1, kUserAndValue = 2, kUserGridAndValue = 3 };

// The argument before epsilon.
enum class LeadingArgument : uint8 {
  kNone,
  kQuantiles,  // quantiles float8[], or quantile float8; the median if the call has neither
  kSize,       // size bigint
};

// The arguments after epsilon.
enum class ArgumentsAfterEpsilon : uint8 { kNone, kBounds, kDelta, kBinBounds, kDeltaAndMaxGroups };

enum class ChargeRule : uint8 {
  kOncePerExecution,  // groups are disjoint sets of rows: parallel composition
  kOncePerGroup,      // a user may be in several groups
};

// The options of dp_options(), as bits.
enum Option : unsigned {
  kMethodOption = 1 << 0,
  kGranularityOption = 1 << 1,
  kBinsOption = 1 << 2,
  kLowerOption = 1 << 3,
  kUpperOption = 1 << 4,
  kMaxContributionsOption = 1 << 5,
  kSuppressOption = 1 << 6,
  kRhoOption = 1 << 7,
};

// The neighbour relation of what protects a user with all rows.
inline constexpr const char* kOneUser = "add or remove one user";

struct MethodRow {
  Method number;
  std::string_view name;  // in the option "method" and in the ledger; zero-terminated
  RecordKind records;
  // The neighbour relation for the ledger, for one group and for several. They differ where the
  // relation replaces a row: a replaced row may move to another group and so change two groups.
  const char* neighbours;
  const char* neighbours_in_groups;
  bool rows_per_user_public;  // whether neighbours have the same number of rows of every user
  bool bounds_from_options;   // of a family without arguments for bounds
};

struct FamilyRow {
  Family family;
  RowArguments row_arguments;
  LeadingArgument leading;
  ArgumentsAfterEpsilon after_epsilon;
  ChargeRule charged;
  unsigned options;                    // a set of Option
  std::span<const MethodRow> methods;  // the first is the default
  Method default_with_rho = 0;         // the default with option rho; 0 if it is the same
  // The C symbols of the final functions of the family's aggregates.
  std::span<const std::string_view> final_functions;
  // Throws ParameterError unless the family accepts the parameters. Fills in the fields of
  // `checked` that follow from them.
  void (*check)(const GivenParameters& given, AggregateParameters* checked);
  // Prepares the mechanism of validated parameters in `memory` (prepared_mechanism.hpp).
  const Mechanism* (*prepare)(const AggregateParameters& parameters, ContextMemory& memory);

  bool takes(unsigned option) const { return (options & option) != 0; }
  // The method of a call that names none, with or without option rho.
  Method default_method(bool with_rho) const {
    return with_rho && default_with_rho != 0 ? default_with_rho : methods.front().number;
  }
  int arguments_from_rows() const { return static_cast<int>(row_arguments); }
  int arguments_after_epsilon() const {
    switch (after_epsilon) {
      case ArgumentsAfterEpsilon::kNone:
        return 0;
      case ArgumentsAfterEpsilon::kBounds:
      case ArgumentsAfterEpsilon::kDeltaAndMaxGroups:
        return 2;
      case ArgumentsAfterEpsilon::kDelta:
      case ArgumentsAfterEpsilon::kBinBounds:
        break;
    }
    return 1;
  }
  // Whether whole numbers are values of their own kind. Other aggregates compute with them as with
  // float8.
  bool takes_whole_numbers() const {
    return family == Family::kQuantiles || family == Family::kSynthesis || family == Family::kSum ||
           family == Family::kMean || family == Family::kMoments;
  }
  // Whether it computes with the values. Others count them, or hash them.
  bool takes_numbers() const {
    return row_arguments != RowArguments::kNone && family != Family::kValueCount &&
           family != Family::kDistinct && family != Family::kKeepUserGroup;
  }
  bool protects_users() const { return row_arguments >= RowArguments::kUserAndValue; }
  // Whether the answer says which groups may be shown.
  bool selects_groups() const {
    return family == Family::kKeepGroup || family == Family::kKeepUserGroup;
  }
  // Whether a user is left in few groups, which takes the states of all groups.
  bool bounds_groups_of_users() const { return family == Family::kKeepUserGroup; }
  // Whether the first argument is hashed with the key of user ids, and whether it is one.
  bool hashes_users() const { return protects_users() || bounds_groups_of_users(); }
  bool hashes_first_argument() const { return hashes_users() || family == Family::kDistinct; }
  bool has_grids() const { return row_arguments == RowArguments::kUserGridAndValue; }
};

// All families.
std::span<const FamilyRow> family_table();

// The table row of a family.
const FamilyRow& row_of(Family family);

// The table row of the family with this number, or null. For numbers from outside.
const FamilyRow* find_family(int number);

// The table row of the family whose aggregates have the final function with this C symbol, or null.
const FamilyRow* find_family_by_final_function(std::string_view symbol);

// The table row of the family's method with this number or name, or null. For input from outside.
const MethodRow* find_method(const FamilyRow& family, Method number);
const MethodRow* find_method(const FamilyRow& family, std::string_view name);

}  // namespace dpquantile
