#include "core/quantiles/quantiles_error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/joint_utility.hpp"
#include "core/exponential/rank.hpp"
#include "core/histogram/histogram.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/recursion_plan.hpp"

namespace dpquantile {

namespace {

struct Domain {
  double cells;
  double records;
  double failure;  // probability for each draw
};

constexpr auto kPositions = static_cast<double>(kCellPositions);  // of a cell

// A stretch of ranks, and a number of positions that have ranks in it wherever it lies. From one
// position to the next the rank grows by at most records / 2^24.
struct Stretch {
  double ranks;
  double positions;
};

Stretch stretch_of(double ranks, double records) {
  const double step = records / kPositions;
  const double length = std::max(ranks, step);
  return {length, std::clamp(length / step - 1, 1.0, kPositions)};
}

double log_positions(const Domain& domain, const Stretch& stretch) {
  return std::log(domain.cells * (kPositions / stretch.positions));
}

// Bounds |R(p) - target| for a draw of one quantile.
double one_quantile_bound(double q, double epsilon, const Domain& domain) {
  const double lambda = rank_lambda(q, epsilon);
  const auto most = static_cast<double>(Histogram::kMaxRecords);
  const Stretch near = stretch_of(1 / lambda, std::min(domain.records, most));
  return near.ranks + (log_positions(domain, near) - std::log(domain.failure)) / lambda;
}

// Bounds F for a draw of several quantiles.
double joint_bound(std::span<const double> quantiles, double epsilon, const Domain& domain,
                   std::pmr::memory_resource* memory) {
  const double lambda = joint_lambda(epsilon);
  const JointUtility utility(quantiles, lambda, memory);
  const auto b = static_cast<double>(quantiles.size());
  const auto most = static_cast<double>(kMaxJointRecords);
  const Stretch near = stretch_of(1 / (2 * b * lambda), std::min(domain.records, most));
  const double volume = b * log_positions(domain, near);
  return 2 * b * near.ranks + (volume - std::log(domain.failure)) / lambda +
         utility.lattice_step() / 2;
}

// Adds up the bounds along the recursion. An error at one end of a stretch shifts a quantile inside
// the stretch, the more the nearer the quantile is to that end.
class RecursionBounds {
 public:
  RecursionBounds(const RecursionPlan& plan, const Domain& domain,
                  std::pmr::memory_resource* memory)
      : plan_(plan), domain_(domain), memory_(memory) {}

  // A quantile at an end of a stretch, and the bound on its error.
  struct End {
    double quantile;
    double bound;
  };

  void bound(std::span<const double> quantiles, std::span<double> bounds, End low, End high,
             std::size_t level) {
    if (quantiles.empty()) return;
    const std::size_t drawn = std::min<std::size_t>(plan_[level].quantiles, quantiles.size());
    const auto chosen = [&](std::size_t i) { return drawn_quantile(quantiles.size(), drawn, i); };
    std::pmr::vector<double> relatives(memory_);
    for (std::size_t i = 0; i < drawn; ++i) {
      relatives.push_back((quantiles[chosen(i)] - low.quantile) / (high.quantile - low.quantile));
    }
    End left = low;
    std::size_t next = 0;
    for (std::size_t i = 0; i < drawn; ++i) {
      const std::size_t here = chosen(i);
      const double q = relatives[i];
      bounds[here] = (1 - q) * low.bound + q * high.bound + draw_bound(relatives, i, level);
      const End right{quantiles[here], bounds[here]};
      bound(quantiles.subspan(next, here - next), bounds.subspan(next, here - next), left, right,
            level + 1);
      left = right;
      next = here + 1;
    }
    bound(quantiles.subspan(next), bounds.subspan(next), left, high, level + 1);
  }

 private:
  double draw_bound(std::span<const double> relatives, std::size_t i, std::size_t level) const {
    const double epsilon = plan_[level].epsilon;
    const double q = relatives[i];
    if (relatives.size() == 1) return one_quantile_bound(q, epsilon, domain_);
    return std::max(q, 1 - q) * joint_bound(relatives, epsilon, domain_, memory_);
  }

  const RecursionPlan& plan_;
  const Domain& domain_;
  std::pmr::memory_resource* memory_;
};

}  // namespace

// On such data the density of a position with rank error r is proportional to exp(-lambda |r|).
double rank_error_at_least(const QuantilesQuery& query, double tail) {
  const double epsilon = independent_epsilon(1, query.privacy);
  double least_lambda = std::numeric_limits<double>::infinity();
  for (const double q : query.quantiles) {
    least_lambda = std::min(least_lambda, rank_lambda(q, epsilon));
  }
  return -std::log(tail) / least_lambda;
}

std::pmr::vector<double> rank_error_bounds(const QuantilesQuery& query,
                                           std::span<const double> distinct_quantiles,
                                           double records, double beta,
                                           std::pmr::memory_resource* memory) {
  const std::size_t count = distinct_quantiles.size();
  const Domain domain{static_cast<double>(query.cells), records, beta / static_cast<double>(count)};
  std::pmr::vector<double> bounds(count, memory);
  if (query.method == QuantilesMethod::kIndependent) {
    const double epsilon = independent_epsilon(count, query.privacy);
    std::ranges::transform(distinct_quantiles, bounds.begin(),
                           [&](double q) { return one_quantile_bound(q, epsilon, domain); });
  } else {
    const RecursionPlan plan = plan_for(resolved_method(query), count, query.privacy);
    RecursionBounds(plan, domain, memory).bound(distinct_quantiles, bounds, {0, 0}, {1, 0}, 0);
  }
  for (double& bound : bounds) bound = std::min(bound, records);
  return bounds;
}

}  // namespace dpquantile
