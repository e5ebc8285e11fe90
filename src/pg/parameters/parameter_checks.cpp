#include "pg/parameters/parameter_checks.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/cdf/cdf_domain.hpp"
#include "core/cdf/cdf_plan.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/moments/pair_moments.hpp"
#include "core/noisy_histogram/bin_bounds.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/selection/group_selection.hpp"
#include "core/user_level/user_variance.hpp"
#include "pg/parameters/default_step.hpp"

namespace dpquantile {

namespace {

constexpr const char* kBoundsHint =
    "Write for example dp_options(method => 'quantiles', lower => 0, upper => 100), with 0 for "
    "delta.";

// Whole numbers, days and microseconds lie on a grid of whole numbers.
void check_whole_granularity(const GivenParameters& given) {
  const std::optional<double>& granularity = given.options.granularity;
  if (!granularity || !is_whole(given.value_type)) return;
  check_granularity(*granularity);
  if (*granularity == std::floor(*granularity)) return;
  throw ParameterError(
      "the granularity of integers, dates and times must be a whole number, got " +
          shortest_decimal(*granularity),
      "Cast integers to numeric or float8 for answers with a fraction. Dates are counted in days.");
}

ValueGrid value_grid(const GivenParameters& given) {
  check_whole_granularity(given);
  check_bounds(given.lower, given.upper);
  // Between fractions the grid of integers would have fractions.
  const bool whole = is_whole(given.value_type);
  const double lower = whole ? std::floor(given.lower) : given.lower;
  const double upper = whole ? std::ceil(given.upper) : given.upper;
  const std::optional<double> granularity = given.options.granularity
                                                ? given.options.granularity
                                                : default_step(given.value_type, lower, upper);
  return ValueGrid::create(lower, upper, granularity);
}

// Refuses an option that only method quantiles has.
void refuse_option_with_test(const char* name, bool is_given) {
  if (!is_given) return;
  throw ParameterError(
      std::string("option \"") + name + "\" does not go with method propose-test-release",
      std::string("It goes with method quantiles. ") + kBoundsHint);
}

void require_option(const char* name, bool is_given) {
  if (is_given) return;
  throw ParameterError(std::string("method quantiles needs the option \"") + name + "\"",
                       kBoundsHint);
}

void check_iqr_by_test(const GivenParameters& given) {
  refuse_option_with_test("lower", given.options.lower.has_value());
  refuse_option_with_test("upper", given.options.upper.has_value());
  refuse_option_with_test("granularity", given.options.granularity.has_value());
  check_iqr_delta(given.delta);
}

void check_iqr_by_quantiles(const GivenParameters& given, AggregateParameters* checked) {
  if (given.delta != 0) {
    throw ParameterError(
        Argument::kDelta,
        "delta must be 0 with method quantiles, got " + shortest_decimal(given.delta),
        "Write 0 for delta: this method is purely epsilon-differentially private and spends none.");
  }
  checked->grid = value_grid(given);
}

UserQuery user_query(const GivenParameters& given) {
  const std::optional<ContributionLimit>& limit = given.options.max_contributions;
  const auto method = static_cast<UserMethod>(given.options.method);
  if (limit && method == UserMethod::kBaseline) {
    throw ParameterError("option \"max_contributions\" does not go with method baseline",
                         "Method baseline keeps all rows. Use method array to limit them.");
  }
  UserQuery query{method, ContributionRule::kOptimal, 0, given.privacy};
  if (limit) {
    query.rule = limit->rule;
    query.max_contributions = limit->number;
  }
  return query;
}

void keep_contributions(const UserQuery& query, AggregateParameters* checked) {
  checked->contribution_rule = query.rule;
  checked->max_contributions = static_cast<uint32>(query.max_contributions);
}

// One bin a day suits dates, as long as that makes no more bins than the default.
std::optional<double> cdf_granularity(const GivenParameters& given) {
  const bool few_days =
      given.value_type == ValueType::kDate && given.upper - given.lower < CdfDomain::kDefaultBins;
  if (few_days && !given.options.bins && !given.options.granularity) return 1;
  return given.options.granularity;
}

}  // namespace

void check_quantiles_parameters(const GivenParameters& given, AggregateParameters* checked) {
  constexpr std::uint64_t kNotChecked = 0;
  check_quantiles_query({static_cast<QuantilesMethod>(given.options.method), given.privacy,
                         kNotChecked, given.quantiles});
  checked->grid = value_grid(given);
}

void check_cdf_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_privacy_parameter(given.privacy);
  check_cdf_method(static_cast<CdfMethod>(given.options.method), given.privacy.measure);
  check_whole_granularity(given);
  const CdfDomain domain =
      CdfDomain::create(given.lower, given.upper, given.options.bins, cdf_granularity(given));
  checked->granularity = domain.granularity;
  checked->bins = domain.bins;
  checked->grid = domain.grid();
}

void require_bounds_options(const AggregateOptions& options) {
  require_option("lower", options.lower.has_value());
  require_option("upper", options.upper.has_value());
}

void check_iqr_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_epsilon(given.privacy.value);
  switch (static_cast<IqrMethod>(given.options.method)) {
    case IqrMethod::kProposeTestRelease:
      return check_iqr_by_test(given);
    case IqrMethod::kQuantiles:
      return check_iqr_by_quantiles(given, checked);
  }
}

void check_count_parameters(const GivenParameters& given, AggregateParameters*) {
  check_privacy_parameter(given.privacy);
}

void check_sum_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_whole_granularity(given);
  check_mean_parameters(given, checked);
}

// The mean of integers has a fraction.
void check_mean_parameters(const GivenParameters& given, AggregateParameters*) {
  if (is_temporal(given.value_type)) check_whole_granularity(given);
  check_privacy_parameter(given.privacy);
  FixedPoint::create(given.lower, given.upper);
  if (given.options.granularity) check_granularity(*given.options.granularity);
}

void check_moments_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_mean_parameters(given, checked);
  FixedPoint::create(given.lower, given.upper).check_variance_representable();
}

// Messages about the bounds of x name them.
void check_pair_parameters(const GivenParameters& given, AggregateParameters*) {
  check_privacy_parameter(given.privacy);
  const FixedPoint value = FixedPoint::create(given.lower, given.upper);
  const auto [lower, upper] = given.x_bounds;
  if (!std::isfinite(lower) || !std::isfinite(upper) || !(lower < upper)) {
    throw ParameterError(Argument::kXLower,
                         "x_lower must be less than x_upper, both finite numbers, got " +
                             shortest_decimal(lower) + " and " + shortest_decimal(upper),
                         "Choose bounds from what is publicly known about the values of x.");
  }
  check_pair_bounds(value, FixedPoint::create(lower, upper));
}

void check_keep_group_parameters(const GivenParameters& given, AggregateParameters*) {
  GroupSelection(given.privacy.value, given.delta);
}

void check_keep_user_group_parameters(const GivenParameters& given, AggregateParameters* checked) {
  constexpr std::int64_t kMostGroups = std::numeric_limits<std::uint32_t>::max();
  if (given.max_groups < 1 || given.max_groups > kMostGroups) {
    throw ParameterError(
        Argument::kMaxGroups,
        "max_groups must be between 1 and 4294967295, got " + std::to_string(given.max_groups),
        "It is the most groups in which a person is counted.");
  }
  checked->max_groups = static_cast<uint32>(given.max_groups);
  GroupSelection(given.privacy.value, given.delta, checked->max_groups);
}

// The bin of a value is its cell of a value grid of whole numbers.
void check_histogram_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_privacy_parameter(given.privacy);
  check_bin_bounds(given.bin_bounds);
  checked->bins = static_cast<uint32>(given.bin_bounds.size() - 1);
  checked->grid = ValueGrid::of_cells(0, checked->bins - 1, 1, checked->bins);
}

void check_modal_bin_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_histogram_parameters(given, checked);
  if (checked->bins > 1) return;
  throw ParameterError("bounds must have at least 3 elements, got 2",
                       "One bin is the fullest whatever the rows are. ARRAY[0, 18, 65] makes two.");
}

// The same for the cells of the grid of the type.
void check_learned_bounds_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_privacy_parameter(given.privacy);
  const std::uint32_t cells = ordinal_grid_of(given.value_type).cells();
  checked->grid = ValueGrid::of_cells(0, cells - 1, 1, cells);
}

void check_user_mean_parameters(const GivenParameters& given, AggregateParameters* checked) {
  const UserQuery query = user_query(given);
  check_user_query(query);
  FixedPoint::create(given.lower, given.upper);
  keep_contributions(query, checked);
}

void check_user_variance_parameters(const GivenParameters& given, AggregateParameters* checked) {
  const UserQuery query = user_query(given);
  check_user_variance_query(query);
  FixedPoint::create(given.lower, given.upper).check_variance_representable();
  keep_contributions(query, checked);
}

void check_user_grids_parameters(const GivenParameters& given, AggregateParameters* checked) {
  const UserQuery query = user_query(given);
  check_user_query(query);
  FixedPoint::create(given.lower, given.upper).check_variance_representable();
  keep_contributions(query, checked);
  checked->suppress = given.options.suppress.value_or(true);
}

}  // namespace dpquantile
