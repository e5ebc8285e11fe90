#include <algorithm>
#include <array>

#include "core/cdf/cdf_tree.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "core/user_level/user_query.hpp"
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
constexpr MethodRow kKeepGroupMethods[] = {summary_method("selection", RecordKind::kSums)};
constexpr MethodRow kKeepUserGroupMethods[] = {[] {
  MethodRow method = summary_method("selection", RecordKind::kHashes);
  method.neighbours = kOneUser;
  method.neighbours_in_groups = kOneUser;
  return method;
}()};
constexpr MethodRow kHistogramMethods[] = {summary_method("counts", RecordKind::kRuns)};

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
constexpr std::string_view kKeepGroupFinals[] = {"dpq_keep_group_final"};
constexpr std::string_view kKeepUserGroupFinals[] = {"dpq_keep_user_group_final"};
constexpr std::string_view kHistogramFinals[] = {"dpq_histogram_final"};

constexpr unsigned kQuantilesOptions = kMethodOption | kGranularityOption | kRhoOption;
constexpr unsigned kCdfOptions = kQuantilesOptions | kBinsOption;
constexpr unsigned kIqrOptions = kMethodOption | kGranularityOption | kLowerOption | kUpperOption;
constexpr unsigned kUserOptions = kMethodOption | kMaxContributionsOption | kRhoOption;
constexpr unsigned kUserGridsOptions = kMethodOption | kSuppressOption | kRhoOption;
constexpr unsigned kMomentsOptions = kGranularityOption | kRhoOption;

// A family of rows, without a method to choose and charged once for all groups.
constexpr FamilyRow summary_family(Family family, RowArguments rows, ArgumentsAfterEpsilon after,
                                   unsigned options, std::span<const MethodRow> methods,
                                   std::span<const std::string_view> finals,
                                   void (*check)(const GivenParameters&, AggregateParameters*),
                                   const Mechanism* (*prepare)(const AggregateParameters&,
                                                               ContextMemory&)) {
  return {.family = family,
          .row_arguments = rows,
          .leading = LeadingArgument::kNone,
          .after_epsilon = after,
          .charged = ChargeRule::kOncePerExecution,
          .options = options,
          .methods = methods,
          .final_functions = finals,
          .check = check,
          .prepare = prepare};
}

constexpr FamilyRow kFamilies[] = {
    {.family = Family::kQuantiles,
     .row_arguments = RowArguments::kValue,
     .leading = LeadingArgument::kQuantiles,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerExecution,
     .options = kQuantilesOptions,
     .methods = kQuantilesMethods,
     .final_functions = kQuantilesFinals,
     .check = check_quantiles_parameters,
     .prepare = prepare_quantiles},
    {.family = Family::kSynthesis,
     .row_arguments = RowArguments::kValue,
     .leading = LeadingArgument::kSize,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerExecution,
     .options = kQuantilesOptions,
     .methods = kSynthesisMethods,
     .final_functions = kSynthesisFinals,
     .check = check_quantiles_parameters,
     .prepare = prepare_quantiles},
    {.family = Family::kCdf,
     .row_arguments = RowArguments::kValue,
     .leading = LeadingArgument::kNone,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerExecution,
     .options = kCdfOptions,
     .methods = kCdfMethods,
     .default_with_rho = static_cast<Method>(CdfMethod::kFactorization),
     .final_functions = kCdfFinals,
     .check = check_cdf_parameters,
     .prepare = prepare_cdf},
    {.family = Family::kIqr,
     .row_arguments = RowArguments::kValue,
     .leading = LeadingArgument::kNone,
     .after_epsilon = ArgumentsAfterEpsilon::kDelta,
     .charged = ChargeRule::kOncePerExecution,
     .options = kIqrOptions,
     .methods = kIqrMethods,
     .final_functions = kIqrFinals,
     .check = check_iqr_parameters,
     .prepare = prepare_iqr},
    {.family = Family::kUserMean,
     .row_arguments = RowArguments::kUserAndValue,
     .leading = LeadingArgument::kNone,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerGroup,
     .options = kUserOptions,
     .methods = kUserMeanMethods,
     .final_functions = kUserMeanFinals,
     .check = check_user_mean_parameters,
     .prepare = prepare_users},
    {.family = Family::kUserVariance,
     .row_arguments = RowArguments::kUserAndValue,
     .leading = LeadingArgument::kNone,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerGroup,
     .options = kUserOptions,
     .methods = kUserVarianceMethods,
     .final_functions = kUserVarianceFinals,
     .check = check_user_variance_parameters,
     .prepare = prepare_users},
    {.family = Family::kUserGrids,
     .row_arguments = RowArguments::kUserGridAndValue,
     .leading = LeadingArgument::kNone,
     .after_epsilon = ArgumentsAfterEpsilon::kBounds,
     .charged = ChargeRule::kOncePerGroup,
     .options = kUserGridsOptions,
     .methods = kUserGridsMethods,
     .final_functions = kUserGridsFinals,
     .check = check_user_grids_parameters,
     .prepare = prepare_users},
    summary_family(Family::kCount, RowArguments::kNone, ArgumentsAfterEpsilon::kNone, kRhoOption,
                   kCountMethods, kCountFinals, check_count_parameters, prepare_number),
    summary_family(Family::kValueCount, RowArguments::kValue, ArgumentsAfterEpsilon::kNone,
                   kRhoOption, kCountMethods, kValueCountFinals, check_count_parameters,
                   prepare_number),
    summary_family(Family::kDistinct, RowArguments::kValue, ArgumentsAfterEpsilon::kNone,
                   kRhoOption, kDistinctMethods, kDistinctFinals, check_count_parameters,
                   prepare_number),
    summary_family(Family::kSum, RowArguments::kValue, ArgumentsAfterEpsilon::kBounds,
                   kMomentsOptions, kSumMethods, kSumFinals, check_sum_parameters, prepare_sum),
    summary_family(Family::kMean, RowArguments::kValue, ArgumentsAfterEpsilon::kBounds,
                   kMomentsOptions, kMomentsMethods, kMeanFinals, check_mean_parameters,
                   prepare_vector),
    summary_family(Family::kMoments, RowArguments::kValue, ArgumentsAfterEpsilon::kBounds,
                   kMomentsOptions, kMomentsMethods, kMomentsFinals, check_moments_parameters,
                   prepare_vector),
    summary_family(Family::kKeepGroup, RowArguments::kNone, ArgumentsAfterEpsilon::kDelta, 0,
                   kKeepGroupMethods, kKeepGroupFinals, check_keep_group_parameters,
                   prepare_keep_group),
    summary_family(Family::kKeepUserGroup, RowArguments::kValue,
                   ArgumentsAfterEpsilon::kDeltaAndMaxGroups, 0, kKeepUserGroupMethods,
                   kKeepUserGroupFinals, check_keep_user_group_parameters, prepare_keep_user_group),
    summary_family(Family::kHistogram, RowArguments::kValue, ArgumentsAfterEpsilon::kBinBounds,
                   kRhoOption, kHistogramMethods, kHistogramFinals, check_histogram_parameters,
                   prepare_vector),
};

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
