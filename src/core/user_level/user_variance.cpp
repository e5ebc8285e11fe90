#include "core/user_level/user_variance.hpp"

#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/user_noise.hpp"

namespace dpquantile {

void check_user_variance_query(const UserQuery& query) {
  check_user_query(query);
  switch (query.method) {
    case UserMethod::kBaseline:
    case UserMethod::kArray:
    case UserMethod::kBounded:
      return;
    default:
      throw ParameterError(
          "the method of a variance must be array, baseline or bounded, got one that clips array "
          "means",
          "The variances of arrays leave out the differences between the arrays.");
  }
}

std::uint64_t variance_contribution_bound(const UserQuery& query, const RowsPerUser& counts) {
  const bool optimal =
      query.method == UserMethod::kArray && query.rule == ContributionRule::kOptimal;
  if (optimal) return least_variance_error_bound(counts, laplace_epsilon(query.privacy));
  return mean_contribution_bound(query, counts);
}

std::uint32_t user_variance(const UserRows& rows, const UserQuery& query,
                            const MechanismContext& context) {
  check_user_variance_query(query);
  if (query.method == UserMethod::kBounded) {
    return bounded_variance(rows, query.max_contributions, query.privacy, context);
  }
  const RowsPerUser counts(rows, context);
  const std::uint64_t bound = variance_contribution_bound(query, counts);
  const auto [moments, most] = rows.kept(bound, context.cancel);
  return noisy_statistic(FixedPoint::kLargestVariance, variance_query(moments, most), query.privacy,
                         1, context.random);
}

// (n * sum of squares - square of the sum) / n^2 is the variance in units of U^2 / kOne^2; dividing
// by kOne gives units of U^2 / kOne.
IntegerQuery variance_query(const RowMoments& kept, std::uint64_t most) {
  constexpr std::uint32_t kLargest = FixedPoint::kLargestVariance;
  if (kept.count == 0) return {kLargest / 2, kLargest};
  const uint128_t n = kept.count;
  const uint128_t spread = n * kept.squares - uint128_t{kept.sum} * kept.sum;
  const uint128_t variance = spread / (n * n * FixedPoint::kOne);
  return {static_cast<std::uint64_t>(variance), variance_sensitivity(kept.count, most)};
}

}  // namespace dpquantile
