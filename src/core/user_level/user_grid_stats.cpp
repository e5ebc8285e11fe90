#include "core/user_level/user_grid_stats.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/privacy/laplace_mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"
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

// The samplers refuse the noise of a smaller share of epsilon.
void check_shared_epsilon(double epsilon, std::uint32_t grids_per_user) {
  constexpr double kLeast = 0x1p-24;
  const double parts = static_cast<double>(kStatisticsPerGrid) * grids_per_user;
  if (epsilon / parts >= kLeast) return;
  throw ParameterError("epsilon must be at least " + shortest_decimal(kLeast * parts) +
                           " for users in " + std::to_string(grids_per_user) + " grids, got " +
                           shortest_decimal(epsilon),
                       "Ask for a larger epsilon, or for fewer grids.");
}

// Draws the statistics of a grid, each with epsilon / (2 K).
class GridMechanism {
 public:
  GridMechanism(double epsilon, std::uint32_t grids_per_user, RandomStream& random)
      : epsilon_(rational_epsilon(epsilon)),
        parts_(std::uint64_t{kStatisticsPerGrid} * grids_per_user),
        epsilon_of_one_(epsilon / static_cast<double>(parts_)),
        random_(random) {}

  GridStatistics draw(std::uint32_t grid, const GridCounts& counts, const RowMoments& moments) {
    const IntegerQuery mean = with_least_sensitivity(
        {moments.sum / moments.count, mean_sensitivity(counts.kept, counts.most)});
    const IntegerQuery variance = with_least_sensitivity(variance_query(moments, counts.most));
    return {
        grid,
        laplace_mechanism_within(FixedPoint::kOne, mean, epsilon_, parts_, random_),
        laplace_mechanism_within(FixedPoint::kLargestVariance, variance, epsilon_, parts_, random_),
        counts,
        mean_left_out_error(counts.all, counts.kept) +
            mean_sensitivity_fraction(counts.kept, counts.most) / epsilon_of_one_,
        variance_left_out_error(counts.all, counts.kept) +
            variance_sensitivity_fraction(counts.kept, counts.most) / epsilon_of_one_};
  }

 private:
  Rational epsilon_;
  std::uint64_t parts_;
  double epsilon_of_one_;
  RandomStream& random_;
};

}  // namespace

GridRelease user_grid_stats(const UserRows& rows, std::uint32_t grids, double epsilon,
                            bool suppress, const MechanismContext& context) {
  check_epsilon(epsilon);
  const std::pmr::vector<Occupancy> occupancies = occupancies_of(rows, context);
  const auto procedure = suppress ? chop_users : keep_all_users;
  const Suppression suppression = procedure(occupancies, grids, epsilon, context);
  const std::uint32_t most = std::max(1U, suppression.grids_per_user);
  check_shared_epsilon(epsilon, most);

  GridRelease result{std::pmr::vector<GridStatistics>(context.memory), most, suppression.threshold};
  result.grids.reserve(grids);
  const std::pmr::vector<RowMoments> moments = kept_moments(rows, suppression, context);
  GridMechanism mechanism(epsilon, most, context.random);
  for (std::uint32_t grid = 0; grid < grids; ++grid) {
    context.cancel.tick();
    const GridCounts& counts = suppression.grids[grid];
    if (counts.kept > 0) result.grids.push_back(mechanism.draw(grid, counts, moments[grid]));
  }
  return result;
}

}  // namespace dpquantile
