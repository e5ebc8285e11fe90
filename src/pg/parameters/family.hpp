#pragma once

#include <span>
#include <string_view>

#include "pg/server/postgres.hpp"

// The families of aggregates: functions that share arguments, options, methods and the way in which
// they are charged. Each is one row of a table (family_table.cpp), which everything else reads.
namespace dpquantile {

struct AggregateParameters;
struct GivenParameters;
class ContextMemory;
class Mechanism;

// Stored inside aggregate states: a number keeps its meaning.
enum class Family : uint8 {
  kQuantiles = 1,     // dp_quantiles, dp_quantile, dp_median
  kCdf = 2,           // dp_cdf
  kIqr = 3,           // dp_iqr
  kUserMean = 4,      // dp_user_mean
  kUserVariance = 5,  // dp_user_variance
  kUserGrids = 6,     // dp_user_grid_stats
  kSynthesis = 7,     // dp_synthesize
};

// A method of a family: the number of a QuantilesMethod, CdfMethod, IqrMethod or UserMethod. Stored
// inside aggregate states.
using Method = uint8;
enum class IqrMethod : Method { kProposeTestRelease = 1, kQuantiles = 2 };

// How a state holds records.
enum class RecordKind : uint8 {
  kRuns = 1,     // by their cells of the value grid, compressed (core/histogram/cell_runs.hpp)
  kValue = 2,    // each by its value, a float8 but not NaN
  kUserRow = 3,  // each by its user, grid and value, a UserRow
};

// The arguments of a call that come from its rows; the number is how many.
enum class RowArguments : uint8 { kValue = 1, kUserAndValue = 2, kUserGridAndValue = 3 };

// The argument before epsilon.
enum class LeadingArgument : uint8 {
  kNone,
  kQuantiles,  // quantiles float8[], or quantile float8; without it the median
  kSize,       // size int
};

// The arguments after epsilon.
enum class ArgumentsAfterEpsilon : uint8 { kBounds, kDelta };

enum class ChargeRule : uint8 {
  kOncePerExecution,  // the groups are disjoint sets of rows: parallel composition
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

struct MethodRow {
  Method number;
  std::string_view name;  // in the option "method" and in the ledger; ends with a zero
  RecordKind records;
  // The neighbour relations for the ledger. A row that is replaced across groups changes two of
  // them.
  const char* neighbours;
  const char* neighbours_in_groups;
  bool rows_per_user_public;
};

struct FamilyRow {
  Family family;
  RowArguments row_arguments;
  LeadingArgument leading;
  ArgumentsAfterEpsilon after_epsilon;
  ChargeRule charged;
  unsigned options;                    // a set of Option
  std::span<const MethodRow> methods;  // the first is the default
  // Throws ParameterError unless the family takes the parameters; fills in what they imply.
  void (*check)(const GivenParameters& given, AggregateParameters* checked);
  // Prepares the mechanism of checked parameters in this memory (prepared_mechanism.hpp).
  const Mechanism* (*prepare)(const AggregateParameters& parameters, ContextMemory& memory);

  bool takes(unsigned option) const { return (options & option) != 0; }
  int arguments_from_rows() const { return static_cast<int>(row_arguments); }
  bool protects_users() const { return row_arguments != RowArguments::kValue; }
  bool has_grids() const { return row_arguments == RowArguments::kUserGridAndValue; }
};

// All families.
std::span<const FamilyRow> family_table();

// The row of a family.
const FamilyRow& row_of(Family family);

// The row of a family that a number from outside names, or null.
const FamilyRow* find_family(int number);

// The row of a method that a number or a text from outside names, or null.
const MethodRow* find_method(const FamilyRow& family, Method number);
const MethodRow* find_method(const FamilyRow& family, std::string_view name);

}  // namespace dpquantile
