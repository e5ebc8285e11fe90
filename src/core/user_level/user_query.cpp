#include "core/user_level/user_query.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/user_level/budget_split.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kMostContributions = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool clips_array_means(UserMethod method) {
  return method == UserMethod::kLevy || method == UserMethod::kQuantile ||
         method == UserMethod::kQuantileAdaptive;
}

void check_user_query(const UserQuery& query) {
  check_privacy_parameter(query.privacy);
  const bool fixed = query.rule == ContributionRule::kFixed;
  if (query.method == UserMethod::kBounded && !fixed) {
    throw ParameterError(
        "method bounded needs a number as max_contributions, got none",
        "Choose how many rows of one person count at most, for example 10, without "
        "looking at the data.");
  }
  if (fixed && (query.max_contributions < 1 || query.max_contributions > kMostContributions)) {
    throw ParameterError("max_contributions must be between 1 and 4294967295, got " +
                             std::to_string(query.max_contributions),
                         "It is the most rows of one person that count.");
  }
}

std::uint64_t mean_contribution_bound(const UserQuery& query, const RowsPerUser& counts) {
  if (query.method == UserMethod::kBounded) return query.max_contributions;
  if (query.method == UserMethod::kBaseline) return counts.most();
  switch (query.rule) {
    case ContributionRule::kFixed:
      return std::min(query.max_contributions, counts.most());
    case ContributionRule::kMedian:
      return median_bound(counts);
    default:
      return clips_array_means(query.method)
                 ? array_concentration_bound(counts)
                 : least_mean_error_bound(counts, laplace_epsilon(query.privacy));
  }
}

}  // namespace dpquantile
