#include "core/user_level/user_grid_stats.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/user_variance.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::pmr::vector<Occupancy> occupancies_of(const UserRows& rows, const Workspace& work) {
  std::pmr::vector<Occupancy> occupancies(work.memory);
  occupancies.reserve(rows.size());
  std::uint32_t user = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    work.cancel.tick();
    if (i > 0 && rows.user(i) != rows.user(i - 1)) ++user;
    occupancies.push_back({user, rows.grid(i), rows.count(i)});
  }
  return occupancies;
}

std::pmr::vector<RowMoments> kept_moments(const UserRows& rows, const Suppression& suppression,
                                          const Workspace& work) {
  std::pmr::vector<RowMoments> moments(suppression.grids.size(), work.memory);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (suppression.kept[i] != 0) moments[rows.grid(i)].add(rows.kept(i, kAll, work.cancel));
  }
  return moments;
}

// The samplers refuse the noise of a smaller share of the guarantee.
void check_shared_guarantee(const PrivacyParameter& privacy, std::uint32_t grids_per_user) {
  const double least = privacy.measure == PrivacyMeasure::kPure ? 0x1p-24 : 0x1p-50;
  const double parts = static_cast<double>(kStatisticsPerGrid) * grids_per_user;
  if (privacy.value / parts >= least) return;
  const std::string name = parameter_name(privacy.measure);
  throw ParameterError(name + " must be at least " + shortest_decimal(least * parts) +
                           " for persons in " + std::to_string(grids_per_user) + " grids, got " +
                           shortest_decimal(privacy.value),
                       "Ask for a larger " + name + ", or for fewer grids.");
}

// The epsilon with which chop_users() sees the noise of the guarantee if all grids of a user share
// it: it divides epsilon evenly among them.
double epsilon_for_suppression(const PrivacyParameter& privacy,
                               std::span<const Occupancy> occupancies) {
  if (privacy.measure == PrivacyMeasure::kPure) return privacy.value;
  const std::uint32_t most = std::max(1U, most_grids_of_a_user(occupancies));
  const double parts = static_cast<double>(kStatisticsPerGrid) * most;
  return parts * laplace_epsilon({privacy.measure, privacy.value / parts});
}

// Draws the statistics of a grid, each with one of 2 K parts of the guarantee.
class GridMechanism {
 public:
  GridMechanism(const PrivacyParameter& privacy, std::uint32_t grids_per_user, RandomStream& random)
      : privacy_(privacy),
        parts_(std::uint64_t{kStatisticsPerGrid} * grids_per_user),
        of_one_{privacy.measure, privacy.value / static_cast<double>(parts_)},
        random_(random) {}

  GridStatistics draw(std::uint32_t grid, const GridCounts& counts, const RowMoments& moments) {
    const IntegerQuery mean{moments.sum / moments.count,
                            mean_sensitivity(counts.kept, counts.most)};
    return {
        grid,
        noisy_statistic(FixedPoint::kOne, mean, privacy_, parts_, random_),
        noisy_statistic(FixedPoint::kLargestVariance, variance_query(moments, counts.most),
                        privacy_, parts_, random_),
        counts,
        mean_left_out_error(counts.all, counts.kept) +
            expected_magnitude(mean_sensitivity_fraction(counts.kept, counts.most), of_one_),
        variance_left_out_error(counts.all, counts.kept) +
            expected_magnitude(variance_sensitivity_fraction(counts.kept, counts.most), of_one_)};
  }

 private:
  PrivacyParameter privacy_;
  std::uint64_t parts_;
  PrivacyParameter of_one_;
  RandomStream& random_;
};

}  // namespace

GridRelease user_grid_stats(const UserRows& rows, std::uint32_t grids,
                            const PrivacyParameter& privacy, bool suppress,
                            const MechanismContext& context) {
  check_privacy_parameter(privacy);
  const std::pmr::vector<Occupancy> occupancies = occupancies_of(rows, context);
  const auto procedure = suppress ? chop_users : keep_all_users;
  const double epsilon = epsilon_for_suppression(privacy, occupancies);
  const Suppression suppression = procedure(occupancies, grids, epsilon, context);
  const std::uint32_t most = std::max(1U, suppression.grids_per_user);
  check_shared_guarantee(privacy, most);

  GridRelease result{std::pmr::vector<GridStatistics>(context.memory), most, suppression.threshold};
  result.grids.reserve(grids);
  const std::pmr::vector<RowMoments> moments = kept_moments(rows, suppression, context);
  GridMechanism mechanism(privacy, most, context.random);
  for (std::uint32_t grid = 0; grid < grids; ++grid) {
    context.cancel.tick();
    const GridCounts& counts = suppression.grids[grid];
    if (counts.kept == 0) continue;
    const GridStatistics& drawn =
        result.grids.emplace_back(mechanism.draw(grid, counts, moments[grid]));
    // Suppression does not know the least noise.
    result.error_bound = std::max(result.error_bound, drawn.mean_error + drawn.variance_error);
  }
  return result;
}

}  // namespace dpquantile
