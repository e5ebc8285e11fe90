#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "core/base/argument.hpp"
#include "pg/server/postgres.hpp"

// A family of aggregates shares its arguments, options, methods and charge rule. Each family is one
// row of the table in family_table.cpp. All other code reads this table: a switch over one of the
// enums here has no default, so the compiler names each one that lacks a new number.
namespace dpquantile {

struct AggregateParameters;
struct GivenParameters;
struct ExpectedError;
struct ForecastCall;
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
  kCovariance = 17,     // dp_covar_pop, dp_covar_samp
  kRegression = 18,     // dp_corr, dp_regr_slope, dp_regr_intercept, dp_regr_r2
  kLearnedBounds = 19,  // dp_learn_bounds
  kModalBin = 20,       // dp_modal_bin
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
  kPairs = 6,    // as one PairSums: their number, and sums of products of their two values
};

// What a state keeps of a row, for the transition functions and for dpq_collect_transition.
enum class KeptOfRow : uint8 {
  kNumber,        // the number of its value: as a cell of the value grid, or by itself
  kBin,           // the number of the bin of its value
  kOrdinal,       // the number of the cell of its value on the grid of the type
  kNothing,       // the number of rows counts it
  kShiftedValue,  // in sums, the distance of its value from the lower bound
  kSquare,        // in sums, its value and the square of it
  kPair,          // in sums, products of its two values
  kHash,          // a hash of its first argument
  kUserRow,       // its user as a hash, its grid and its value
};

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
inline constexpr const char* kOneUser = "add or remove one person";

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

constexpr bool comes_from_rows(Argument argument) {
  return argument == Argument::kUser || argument == Argument::kGrid ||
         argument == Argument::kValue || argument == Argument::kX;
}

struct FamilyRow {
  Family family;
  // In the order of a call: those of the row, then the parameters. Options come last, if any. A
  // call of kQuantiles may leave out the argument of this name.
  std::span<const Argument> arguments;
  KeptOfRow kept;
  ChargeRule charged;
  bool selects_groups;                 // the answer says which groups may be shown
  bool answers_values;                 // the answers are of the type of the values
  unsigned options;                    // a set of Option
  std::span<const MethodRow> methods;  // the first is the default
  Method default_with_rho = 0;         // the default with option rho; 0 if it is the same
  // The C symbols of the final functions of the family's aggregates.
  std::span<const std::string_view> final_functions;
  // Throws ParameterError unless the family accepts the parameters. Fills in the fields of
  // `checked` that follow from them (parameter_checks.hpp).
  void (*check)(const GivenParameters& given, AggregateParameters* checked);
  // Prepares the mechanism of validated parameters in `memory` (prepared_mechanism.hpp).
  const Mechanism* (*prepare)(const AggregateParameters& parameters, ContextMemory& memory);
  // The error to expect of an answer (expected_error.hpp); null if it depends on more than the
  // number of rows.
  ExpectedError (*error)(const ForecastCall& call);

  // What follows from the list of arguments.
  int row_arguments = static_cast<int>(std::ranges::count_if(arguments, comes_from_rows));
  unsigned argument_set = set_of(arguments);

  static constexpr unsigned bit_of(Argument argument) {
    return 1U << static_cast<unsigned>(argument);
  }
  static constexpr unsigned set_of(std::span<const Argument> arguments) {
    unsigned set = 0;
    for (const Argument argument : arguments) set |= bit_of(argument);
    return set;
  }

  bool has(Argument argument) const { return (argument_set & bit_of(argument)) != 0; }
  bool takes(unsigned option) const { return (options & option) != 0; }
  // The method of a call that names none, with or without option rho.
  Method default_method(bool with_rho) const {
    return with_rho && default_with_rho != 0 ? default_with_rho : methods.front().number;
  }
  int arguments_from_rows() const { return row_arguments; }
  // How many of them, the last, are values.
  int values_from_rows() const { return has(Argument::kX) ? 2 : std::min(row_arguments, 1); }
  // The arguments that are the same for all rows.
  std::span<const Argument> parameters() const {
    return arguments.subspan(static_cast<std::size_t>(row_arguments));
  }
  // Whether whole numbers are values of their own kind: their answers are whole, or exact. Others
  // compute with them as with float8.
  bool takes_whole_numbers() const {
    return kept == KeptOfRow::kShiftedValue || kept == KeptOfRow::kSquare ||
           (kept == KeptOfRow::kNumber && answers_values);
  }
  // Whether it computes with the values. Others count them, or hash them.
  bool takes_numbers() const {
    return has(Argument::kValue) && kept != KeptOfRow::kNothing && kept != KeptOfRow::kHash;
  }
  // Whether a user is left in few groups, which takes the states of all groups.
  bool bounds_groups_of_users() const { return has(Argument::kMaxGroups); }
  bool keeps_user_rows() const { return kept == KeptOfRow::kUserRow; }
  // Whether the first argument is hashed with the key of user ids, and what it is.
  bool hashes_first_argument() const { return kept == KeptOfRow::kHash || keeps_user_rows(); }
  bool hashes_users() const { return has(Argument::kUser); }
  bool hashes_values() const { return kept == KeptOfRow::kHash && !hashes_users(); }
};

// All families.
std::span<const FamilyRow> family_table();

// The name of an argument in messages and in the SQL objects.
const char* name_of(Argument argument);

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
