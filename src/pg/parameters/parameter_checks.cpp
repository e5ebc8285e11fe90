#include "pg/parameters/parameter_checks.hpp"

#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/cdf/cdf_domain.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/user_level/user_variance.hpp"

namespace dpquantile {

namespace {

constexpr const char* kBoundsHint =
    "Write for example dp_options(method => 'quantiles', lower => 0, upper => 100), with 0 for "
    "delta.";

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
        "delta must be 0 with method quantiles, got " + shortest_decimal(given.delta),
        "Write 0 for delta: this method is purely epsilon-differentially private and spends none.");
  }
  checked->grid = ValueGrid::create(given.lower, given.upper, given.options.granularity);
}

UserQuery user_query(const GivenParameters& given) {
  const std::optional<ContributionLimit>& limit = given.options.max_contributions;
  const auto method = static_cast<UserMethod>(given.options.method);
  if (limit && method == UserMethod::kBaseline) {
    throw ParameterError("option \"max_contributions\" does not go with method baseline",
                         "Method baseline keeps all rows. Use method array to limit them.");
  }
  UserQuery query{method, ContributionRule::kOptimal, 0, given.privacy.value};
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

}  // namespace

void check_quantiles_parameters(const GivenParameters& given, AggregateParameters* checked) {
  constexpr std::uint64_t kNotChecked = 0;
  check_quantiles_query({static_cast<QuantilesMethod>(given.options.method),
                         given.privacy,
                         kNotChecked,
                         {given.quantiles, given.quantile_count}});
  checked->grid = ValueGrid::create(given.lower, given.upper, given.options.granularity);
}

void check_cdf_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_privacy_parameter(given.privacy);
  const CdfDomain domain =
      CdfDomain::create(given.lower, given.upper, given.options.bins, given.options.granularity);
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
