#include <algorithm>
#include <array>

#include "core/cdf/cdf_tree.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "core/user_level/user_query.hpp"
#include "pg/parameters/expected_error.hpp"
#include "pg/parameters/family.hpp"
#include "pg/parameters/parameter_checks.hpp"
#include "pg/parameters/prepared_mechanism.hpp"

namespace dpquantile {

namespace {

constexpr const char* kOneRow = "add or remove one row";
constexpr const char* kAnyOneRow = "add, remove or replace one row";
constexpr const char* kAnyOneRowInGroup = "add or remove one row, or replace it within its group";
constexpr const char* kUserValues = "values of one person, rows per person public";
constexpr const char* kUserGridValues = "values of one person, rows per person and grid public";

// A method that counts rows on a value grid.
template <class Number>
constexpr MethodRow row_method(Number number, std::string_view name) {
  return {.number = static_cast<Method>(number),
          .name = name,
          .records = RecordKind::kRuns,
          .neighbours = kOneRow,
          .neighbours_in_groups = kOneRow,
          .rows_per_user_public = false,
          .bounds_from_options = false};
}

constexpr MethodRow user_method(UserMethod number, std::string_view name,
                                const char* neighbours = kUserValues) {
  return {.number = static_cast<Method>(number),
          .name = name,
          .records = RecordKind::kUserRow,
          .neighbours = neighbours,
          .neighbours_in_groups = neighbours,
          .rows_per_user_public = number != UserMethod::kBounded,
          .bounds_from_options = false};
}

// A method that needs no more of the rows than sums, or the set of their values.
constexpr MethodRow summary_method(std::string_view name, RecordKind records) {
  return {.number = 1,
          .name = name,
          .records = records,
          .neighbours = kOneRow,
          .neighbours_in_groups = kOneRow,
          .rows_per_user_public = false,
          .bounds_from_options = false};
}

constexpr MethodRow kProposeTestRelease{
    .number = static_cast<Method>(IqrMethod::kProposeTestRelease),
    .name = "propose-test-release",
    .records = RecordKind::kValue,
    .neighbours = kAnyOneRow,
    .neighbours_in_groups = kAnyOneRowInGroup,
    .rows_per_user_public = false,
    .bounds_from_options = false};

constexpr MethodRow kIqrByQuantiles = [] {
  MethodRow method = row_method(IqrMethod::kQuantiles, "quantiles");
  method.bounds_from_options = true;
  return method;
}();

constexpr MethodRow kQuantilesMethods[] = {
    row_method(QuantilesMethod::kDefault, "default"),
    row_method(QuantilesMethod::kBlocks, "blocks"),
    row_method(QuantilesMethod::kApproximate, "approximate"),
    row_method(QuantilesMethod::kJoint, "joint"),
    row_method(QuantilesMethod::kIndependent, "independent"),
    row_method(QuantilesMethod::kTree, "tree"),
    row_method(QuantilesMethod::kAuto, "auto"),
};
constexpr MethodRow kSynthesisMethods[] = {
    row_method(QuantilesMethod::kAuto, "auto"),
    row_method(QuantilesMethod::kApproximate, "approximate"),
    row_method(QuantilesMethod::kJoint, "joint"),
    row_method(QuantilesMethod::kIndependent, "independent"),
    row_method(QuantilesMethod::kTree, "tree"),
    row_method(QuantilesMethod::kBlocks, "blocks"),
};
constexpr MethodRow kCdfMethods[] = {
    row_method(CdfMethod::kTree, cdf_method_name(CdfMethod::kTree)),
    row_method(CdfMethod::kBinary, cdf_method_name(CdfMethod::kBinary)),
    row_method(CdfMethod::kHistogram, cdf_method_name(CdfMethod::kHistogram)),
    row_method(CdfMethod::kFactorization, cdf_method_name(CdfMethod::kFactorization)),
};
constexpr MethodRow kIqrMethods[] = {kProposeTestRelease, kIqrByQuantiles};
constexpr MethodRow kUserMeanMethods[] = {
    user_method(UserMethod::kAuto, "auto"),
    user_method(UserMethod::kArray, "array"),
    user_method(UserMethod::kBaseline, "baseline"),
    user_method(UserMethod::kLevy, "levy"),
    user_method(UserMethod::kQuantile, "quantile"),
    user_method(UserMethod::kQuantileAdaptive, "quantile-adaptive"),
    user_method(UserMethod::kBounded, "bounded", kOneUser),
};
constexpr MethodRow kUserVarianceMethods[] = {
    user_method(UserMethod::kArray, "array"),
    user_method(UserMethod::kBaseline, "baseline"),
    user_method(UserMethod::kBounded, "bounded", kOneUser),
};
// kBaseline: the statistics of a grid use all rows of the users that suppression keeps.
constexpr MethodRow kUserGridsMethods[] = {
    user_method(UserMethod::kBaseline, "grids", kUserGridValues),
};

constexpr MethodRow kCountMethods[] = {summary_method("count", RecordKind::kSums)};
constexpr MethodRow kDistinctMethods[] = {summary_method("count", RecordKind::kHashes)};
constexpr MethodRow kSumMethods[] = {summary_method("sum", RecordKind::kSums)};
constexpr MethodRow kMomentsMethods[] = {summary_method("bernstein", RecordKind::kSums)};
constexpr MethodRow kPairMethods[] = {summary_method("bernstein", RecordKind::kPairs)};
constexpr MethodRow kKeepGroupMethods[] = {summary_method("selection", RecordKind::kSums)};
constexpr MethodRow kKeepUserGroupMethods[] = {[] {
  MethodRow method = summary_method("selection", RecordKind::kHashes);
  method.neighbours = kOneUser;
  method.neighbours_in_groups = kOneUser;
  return method;
}()};
constexpr MethodRow kBoundsMethods[] = {summary_method("counts", RecordKind::kRuns)};
constexpr MethodRow kHistogramMethods[] = {summary_method("counts", RecordKind::kRuns)};
constexpr MethodRow kModalBinMethods[] = {summary_method("permute-and-flip", RecordKind::kRuns)};

constexpr std::string_view kQuantilesFinals[] = {"dpq_quantiles_final", "dpq_quantile_final"};
constexpr std::string_view kSynthesisFinals[] = {"dpq_synthesize_final"};
constexpr std::string_view kCdfFinals[] = {"dpq_cdf_final"};
constexpr std::string_view kIqrFinals[] = {"dpq_iqr_final"};
constexpr std::string_view kUserMeanFinals[] = {"dpq_user_mean_final"};
constexpr std::string_view kUserVarianceFinals[] = {"dpq_user_variance_final"};
constexpr std::string_view kUserGridsFinals[] = {"dpq_user_grids_final"};

constexpr std::string_view kCountFinals[] = {"dpq_count_final"};
constexpr std::string_view kValueCountFinals[] = {"dpq_value_count_final"};
constexpr std::string_view kDistinctFinals[] = {"dpq_distinct_final"};
constexpr std::string_view kSumFinals[] = {"dpq_sum_final"};
constexpr std::string_view kMeanFinals[] = {"dpq_mean_final"};
constexpr std::string_view kMomentsFinals[] = {"dpq_var_pop_final", "dpq_var_samp_final",
                                               "dpq_stddev_pop_final", "dpq_stddev_samp_final",
                                               "dpq_stats_final"};
constexpr std::string_view kCovarianceFinals[] = {"dpq_covar_pop_final", "dpq_covar_samp_final"};
constexpr std::string_view kRegressionFinals[] = {"dpq_corr_final", "dpq_regr_slope_final",
                                                  "dpq_regr_intercept_final", "dpq_regr_r2_final"};
constexpr std::string_view kKeepGroupFinals[] = {"dpq_keep_group_final"};
constexpr std::string_view kKeepUserGroupFinals[] = {"dpq_keep_user_group_final"};
constexpr std::string_view kHistogramFinals[] = {"dpq_histogram_final"};
constexpr std::string_view kModalBinFinals[] = {"dpq_modal_bin_final"};
constexpr std::string_view kBoundsFinals[] = {"dpq_learn_bounds_final"};

constexpr unsigned kQuantilesOptions = kMethodOption | kGranularityOption | kRhoOption;
constexpr unsigned kCdfOptions = kQuantilesOptions | kBinsOption;
constexpr unsigned kIqrOptions = kMethodOption | kGranularityOption | kLowerOption | kUpperOption;
constexpr unsigned kUserOptions = kMethodOption | kMaxContributionsOption | kRhoOption;
constexpr unsigned kUserGridsOptions = kMethodOption | kSuppressOption | kRhoOption;
constexpr unsigned kMomentsOptions = kGranularityOption | kRhoOption;

using enum Argument;

constexpr Argument kQuantilesArguments[] = {kValue, kQuantiles, kEpsilon, kLower, kUpper};
constexpr Argument kSynthesisArguments[] = {kValue, kSize, kEpsilon, kLower, kUpper};
constexpr Argument kBoundedArguments[] = {kValue, kEpsilon, kLower, kUpper};
constexpr Argument kIqrArguments[] = {kValue, kEpsilon, kDelta};
constexpr Argument kUserArguments[] = {kUser, kValue, kEpsilon, kLower, kUpper};
constexpr Argument kUserGridsArguments[] = {kUser, kGrid, kValue, kEpsilon, kLower, kUpper};
constexpr Argument kCountArguments[] = {kEpsilon};
constexpr Argument kValueCountArguments[] = {kValue, kEpsilon};
constexpr Argument kKeepGroupArguments[] = {kEpsilon, kDelta};
constexpr Argument kKeepUserGroupArguments[] = {kUser, kEpsilon, kDelta, kMaxGroups};
constexpr Argument kPairArguments[] = {kValue, kX, kEpsilon, kLower, kUpper, kXLower, kXUpper};
constexpr Argument kHistogramArguments[] = {kValue, kEpsilon, kBinBounds};

// A family over rows, charged once for all groups.
constexpr FamilyRow family_of_rows(Family family, std::span<const Argument> arguments,
                                   KeptOfRow kept, unsigned options,
                                   std::span<const MethodRow> methods,
                                   std::span<const std::string_view> finals,
                                   decltype(FamilyRow::check) check,
                                   decltype(FamilyRow::prepare) prepare,
                                   decltype(FamilyRow::error) error) {
  return {.family = family,
          .arguments = arguments,
          .kept = kept,
          .charged = ChargeRule::kOncePerExecution,
          .selects_groups = false,
          .answers_values = false,
          .options = options,
          .methods = methods,
          .final_functions = finals,
          .check = check,
          .prepare = prepare,
          .error = error};
}

// A family that protects all rows of a user, who may be in several groups.
constexpr FamilyRow family_of_users(Family family, std::span<const Argument> arguments,
                                    unsigned options, std::span<const MethodRow> methods,
                                    std::span<const std::string_view> finals,
                                    decltype(FamilyRow::check) check,
                                    decltype(FamilyRow::prepare) prepare) {
  FamilyRow row = family_of_rows(family, arguments, KeptOfRow::kUserRow, options, methods, finals,
                                 check, prepare, nullptr);
  row.charged = ChargeRule::kOncePerGroup;
  return row;
}

// A family whose answer says which groups may be shown.
constexpr FamilyRow selection_family(Family family, std::span<const Argument> arguments,
                                     KeptOfRow kept, std::span<const MethodRow> methods,
                                     std::span<const std::string_view> finals,
                                     decltype(FamilyRow::check) check,
                                     decltype(FamilyRow::prepare) prepare) {
  FamilyRow row = family_of_rows(family, arguments, kept, 0, methods, finals, check, prepare,
                                 error_of_selection);
  row.selects_groups = true;
  return row;
}

// A family of rows whose answers are of the type of the values.
constexpr FamilyRow value_family(Family family, std::span<const Argument> arguments,
                                 std::span<const MethodRow> methods,
                                 std::span<const std::string_view> finals,
                                 decltype(FamilyRow::error) error) {
  FamilyRow row = family_of_rows(family, arguments, KeptOfRow::kNumber, kQuantilesOptions, methods,
                                 finals, check_quantiles_parameters, prepare_quantiles, error);
  row.answers_values = true;
  return row;
}

constexpr FamilyRow kFamilies[] = {
    value_family(Family::kQuantiles, kQuantilesArguments, kQuantilesMethods, kQuantilesFinals,
                 error_of_quantiles),
    value_family(Family::kSynthesis, kSynthesisArguments, kSynthesisMethods, kSynthesisFinals,
                 nullptr),
    [] {
      FamilyRow row =
          family_of_rows(Family::kCdf, kBoundedArguments, KeptOfRow::kNumber, kCdfOptions,
                         kCdfMethods, kCdfFinals, check_cdf_parameters, prepare_cdf, error_of_cdf);
      row.default_with_rho = static_cast<Method>(CdfMethod::kFactorization);
      return row;
    }(),
    family_of_rows(Family::kIqr, kIqrArguments, KeptOfRow::kNumber, kIqrOptions, kIqrMethods,
                   kIqrFinals, check_iqr_parameters, prepare_iqr, nullptr),
    family_of_users(Family::kUserMean, kUserArguments, kUserOptions, kUserMeanMethods,
                    kUserMeanFinals, check_user_mean_parameters, prepare_user_mean),
    family_of_users(Family::kUserVariance, kUserArguments, kUserOptions, kUserVarianceMethods,
                    kUserVarianceFinals, check_user_variance_parameters, prepare_user_variance),
    family_of_users(Family::kUserGrids, kUserGridsArguments, kUserGridsOptions, kUserGridsMethods,
                    kUserGridsFinals, check_user_grids_parameters, prepare_user_grids),
    family_of_rows(Family::kCount, kCountArguments, KeptOfRow::kNothing, kRhoOption, kCountMethods,
                   kCountFinals, check_count_parameters, prepare_number, error_of_number),
    family_of_rows(Family::kValueCount, kValueCountArguments, KeptOfRow::kNothing, kRhoOption,
                   kCountMethods, kValueCountFinals, check_count_parameters, prepare_number,
                   error_of_number),
    family_of_rows(Family::kDistinct, kValueCountArguments, KeptOfRow::kHash, kRhoOption,
                   kDistinctMethods, kDistinctFinals, check_count_parameters, prepare_number,
                   error_of_number),
    family_of_rows(Family::kSum, kBoundedArguments, KeptOfRow::kShiftedValue, kMomentsOptions,
                   kSumMethods, kSumFinals, check_sum_parameters, prepare_sum, error_of_sum),
    family_of_rows(Family::kMean, kBoundedArguments, KeptOfRow::kSquare, kMomentsOptions,
                   kMomentsMethods, kMeanFinals, check_mean_parameters, prepare_vector,
                   error_of_mean),
    family_of_rows(Family::kMoments, kBoundedArguments, KeptOfRow::kSquare, kMomentsOptions,
                   kMomentsMethods, kMomentsFinals, check_moments_parameters, prepare_vector,
                   error_of_moments),
    selection_family(Family::kKeepGroup, kKeepGroupArguments, KeptOfRow::kNothing,
                     kKeepGroupMethods, kKeepGroupFinals, check_keep_group_parameters,
                     prepare_keep_group),
    selection_family(Family::kKeepUserGroup, kKeepUserGroupArguments, KeptOfRow::kHash,
                     kKeepUserGroupMethods, kKeepUserGroupFinals, check_keep_user_group_parameters,
                     prepare_keep_user_group),
    family_of_rows(Family::kHistogram, kHistogramArguments, KeptOfRow::kBin, kRhoOption,
                   kHistogramMethods, kHistogramFinals, check_histogram_parameters, prepare_vector,
                   error_of_number),
    family_of_rows(Family::kModalBin, kHistogramArguments, KeptOfRow::kBin, 0, kModalBinMethods,
                   kModalBinFinals, check_modal_bin_parameters, prepare_modal_bin,
                   error_of_modal_bin),
    family_of_rows(Family::kCovariance, kPairArguments, KeptOfRow::kPair, kRhoOption, kPairMethods,
                   kCovarianceFinals, check_pair_parameters, prepare_vector, error_of_covariance),
    family_of_rows(Family::kRegression, kPairArguments, KeptOfRow::kPair, kRhoOption, kPairMethods,
                   kRegressionFinals, check_pair_parameters, prepare_vector, nullptr),
    [] {
      FamilyRow row =
          family_of_rows(Family::kLearnedBounds, kValueCountArguments, KeptOfRow::kOrdinal,
                         kRhoOption, kBoundsMethods, kBoundsFinals, check_learned_bounds_parameters,
                         prepare_vector, error_of_bounds);
      row.answers_values = true;
      return row;
    }(),
};

// Whether the records of the family's methods can hold what it keeps of a row.
constexpr bool can_hold_rows(const FamilyRow& row) {
  return std::ranges::all_of(row.methods, [&](const MethodRow& method) {
    switch (row.kept) {
      case KeptOfRow::kNumber:
        return method.records == RecordKind::kRuns || method.records == RecordKind::kValue;
      case KeptOfRow::kBin:
      case KeptOfRow::kOrdinal:
        return method.records == RecordKind::kRuns;
      case KeptOfRow::kNothing:
      case KeptOfRow::kShiftedValue:
      case KeptOfRow::kSquare:
        return method.records == RecordKind::kSums;
      case KeptOfRow::kPair:
        return method.records == RecordKind::kPairs;
      case KeptOfRow::kHash:
        return method.records == RecordKind::kHashes;
      case KeptOfRow::kUserRow:
        return method.records == RecordKind::kUserRow;
    }
    return false;
  });
}
static_assert(std::ranges::all_of(kFamilies, can_hold_rows));

// Whether the arguments of the row come first.
constexpr bool begins_with_row(const FamilyRow& row) {
  return std::ranges::is_partitioned(row.arguments, comes_from_rows);
}
static_assert(std::ranges::all_of(kFamilies, begins_with_row));

// The index in kFamilies of each family, by the family's number.
constexpr auto kIndexes = [] {
  std::array<uint8, std::size(kFamilies) + 1> indexes{};
  for (uint8 i = 0; i < std::size(kFamilies); ++i) {
    indexes[static_cast<std::size_t>(kFamilies[i].family)] = i;
  }
  return indexes;
}();

}  // namespace

std::span<const FamilyRow> family_table() {
  return kFamilies;
}

const char* name_of(Argument argument) {
  switch (argument) {
    case kNone:
      break;
    case kUser:
      return "user_id";
    case kGrid:
      return "grid";
    case kValue:
      return "value";
    case kX:
      return "x";
    case kQuantiles:
      return "quantiles";
    case kSize:
      return "size";
    case kEpsilon:
      return "epsilon";
    case kLower:
      return "lower";
    case kUpper:
      return "upper";
    case kXLower:
      return "x_lower";
    case kXUpper:
      return "x_upper";
    case kBinBounds:
      return "bounds";
    case kDelta:
      return "delta";
    case kMaxGroups:
      return "max_groups";
  }
  return "";
}

const FamilyRow& row_of(Family family) {
  return kFamilies[kIndexes[static_cast<std::size_t>(family)]];
}

const FamilyRow* find_family(int number) {
  for (const FamilyRow& row : kFamilies) {
    if (static_cast<int>(row.family) == number) return &row;
  }
  return nullptr;
}

const FamilyRow* find_family_by_final_function(std::string_view symbol) {
  for (const FamilyRow& row : kFamilies) {
    if (std::ranges::find(row.final_functions, symbol) != row.final_functions.end()) return &row;
  }
  return nullptr;
}

const MethodRow* find_method(const FamilyRow& family, std::string_view name) {
  for (const MethodRow& method : family.methods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

const MethodRow* find_method(const FamilyRow& family, Method number) {
  for (const MethodRow& method : family.methods) {
    if (method.number == number) return &method;
  }
  return nullptr;
}

}  // namespace dpquantile
