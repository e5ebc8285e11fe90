#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/contributions/fixed_point.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/interval_law.hpp"
#include "support/user_dataset.hpp"

// Tries to refute the rho of the user-level mechanisms, by exact laws. The Renyi divergence of
// discrete Gaussian noise on integers that differ by D is exactly alpha D^2 / (2 sigma^2), so that
// of a release by 'levy' or 'quantile', which is an interval and a mean clipped to it, is a sum
// over the intervals. Other tests show that the mechanisms have these laws. The checks must also
// refute mechanisms that spend more than rho.
namespace dpquantile {
namespace {

using test::for_each_tuple;
using test::GroupedRows;
using test::IntervalLaw;
using test::law_of_levy;
using test::law_of_windows;
using test::TestWorkspace;
using test::UserValues;
using Real = long double;
using Arrays = std::vector<FilledArray>;

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr Real kOrders[] = {1.01L, 1.5L, 3, 10, 100};
// For the rounding of the sums.
constexpr Real kError = 1e-9L;

const TestWorkspace work;

Real variance_of(std::uint64_t sensitivity, double rho) {
  const Rational variance = gaussian_noise_variance(sensitivity, rho);
  return static_cast<Real>(variance.numerator) / static_cast<Real>(variance.denominator);
}

// The rho that Gaussian noise for the first query spends if the other is its neighbour's.
Real rho_spent(const IntegerQuery& query, const IntegerQuery& neighbour, double rho) {
  if (query.sensitivity == 0) return query.answer == neighbour.answer ? 0 : INFINITY;
  const Real change = static_cast<Real>(query.answer) - static_cast<Real>(neighbour.answer);
  return change * change / (2 * variance_of(query.sensitivity, rho));
}

// --- One integer ---------------------------------------------------------------------------------

// Calls visit(data, neighbour): users with these numbers of rows, values at the ends of the range
// and one between; the first user's are replaced.
template <class Visit>
void for_each_neighbour(const std::vector<std::size_t>& sizes, Visit visit) {
  std::size_t rows = 0;
  for (const std::size_t size : sizes) rows += size;
  for_each_tuple({0, kOne}, rows, [&](const std::vector<std::uint32_t>& flat) {
    UserValues data;
    auto next = flat.begin();
    for (const std::size_t size : sizes) {
      data.emplace_back(next, next + static_cast<std::ptrdiff_t>(size));
      next += static_cast<std::ptrdiff_t>(size);
    }
    for_each_tuple({0, kOne / 3, kOne}, sizes.front(), [&](const auto& values) {
      UserValues neighbour = data;
      neighbour.front() = values;
      visit(*GroupedRows(data), *GroupedRows(neighbour));
    });
  });
}

const std::vector<std::vector<std::size_t>> kSizes = {{1}, {2}, {1, 1, 1}, {3, 1}, {2, 2, 1}};

// The most rho that a query of the rows spends, over all these data.
template <class Query>
Real most_spent(const std::vector<std::size_t>& sizes, double rho, Query query) {
  Real most = 0;
  for_each_neighbour(sizes, [&](const UserRows& data, const UserRows& neighbour) {
    most = std::max(most, rho_spent(query(data), query(neighbour), rho));
  });
  return most;
}

// The exact answers are rounded down, which takes less than 2^-28 of a change.
constexpr Real kAlmostAll = 1 - 0x1p-18L;

TEST(ZcdpOfUserMean, SpendsRhoOnTheWorstDataAndNeverMore) {
  for (const auto& sizes : kSizes) {
    // With a smaller rho one user's mean would need coarser units.
    for (const double rho : {1.5, 20.0}) {
      const Real spent = most_spent(
          sizes, rho, [](const UserRows& rows) { return kept_mean(rows, 2, work.cancel); });
      EXPECT_LE(spent, rho);
      EXPECT_GE(spent, rho * kAlmostAll);
    }
  }
}

TEST(ZcdpOfUserVariance, SpendsRhoOnTheWorstDataAndNeverMore) {
  for (const auto& sizes : kSizes) {
    if (sizes == std::vector<std::size_t>{1}) continue;  // the variance of one row is 0
    for (const double rho : {0.3, 2.0}) {
      const Real spent = most_spent(sizes, rho, [](const UserRows& rows) {
        const auto [moments, most] = rows.kept(100, work.cancel);
        return variance_query(moments, most);
      });
      EXPECT_LE(spent, rho);
      EXPECT_GE(spent, rho * kAlmostAll);
    }
  }
}

// --- An interval and a mean ----------------------------------------------------------------------

// What a mechanism that may spend `rho` spends on the interval and on the mean.
struct Spending {
  double interval_epsilon;
  double mean_rho;
};

Spending spending_of(double rho, unsigned parts) {
  const PrivacyParameter budget = zcdp(rho);
  return {interval_epsilon(budget, parts), share_of(budget, kBudgetParts - parts).value};
}

// An interval that spends four times its share, with half of the noise.
Spending with_half_noise(double rho, unsigned parts) {
  const Spending spending = spending_of(rho, parts);
  return {2 * spending.interval_epsilon, spending.mean_rho};
}

// A mean that spends what the interval has spent.
Spending twice_spent(double rho, unsigned parts) {
  return {spending_of(rho, parts).interval_epsilon, rho};
}

// The rho that the Renyi divergence of order alpha of interval and mean together needs.
Real rho_at(const IntervalLaw& law, const IntervalLaw& neighbour, const Arrays& arrays,
            const Arrays& other, double mean_rho, Real alpha) {
  std::vector<Real> logarithms;
  for (const auto& [interval, p] : law) {
    const ClippingInterval clip{interval.first, interval.second};
    const Real q = neighbour.at(interval);
    const Real of_mean = rho_spent(clipped_mean(arrays, clip), clipped_mean(other, clip), mean_rho);
    logarithms.push_back(alpha * std::log(p) + (1 - alpha) * std::log(q) +
                         alpha * (alpha - 1) * of_mean);
  }
  const Real largest = *std::max_element(logarithms.begin(), logarithms.end());
  Real sum = 0;
  for (const Real logarithm : logarithms) sum += std::exp(logarithm - largest);
  return (largest + std::log(sum)) / (alpha * (alpha - 1));
}

Arrays arrays_of(const std::vector<std::uint32_t>& values) {
  Arrays arrays;
  for (const std::uint32_t value : values) arrays.push_back({1, value});
  return arrays;
}

IntervalLaw windows(const std::vector<std::uint32_t>& values, const WindowPlan& plan,
                    double epsilon) {
  std::vector<double> means;
  for (const std::uint32_t value : values) means.push_back(value / double{kOne});
  return law_of_windows(means, plan, epsilon);
}

// The most rho over data of arrays of one row each, of which one is replaced: the others have all
// these values in ascending order.
template <class LawOf>
Real most_spent_on_arrays(std::size_t others, const Spending& spending, LawOf law_of) {
  const std::vector<std::uint32_t> levels = {0, kOne / 8 * 3, kOne};
  Real most = 0;
  for_each_tuple(levels, others, [&](const std::vector<std::uint32_t>& values) {
    if (!std::ranges::is_sorted(values)) return;
    for (const std::uint32_t from : levels) {
      for (const std::uint32_t to : levels) {
        if (from == to) continue;
        std::vector<std::uint32_t> data = values;
        std::vector<std::uint32_t> neighbour = values;
        data.push_back(from);
        neighbour.push_back(to);
        const IntervalLaw law = law_of(data, spending.interval_epsilon);
        const IntervalLaw other = law_of(neighbour, spending.interval_epsilon);
        for (const Real alpha : kOrders) {
          most = std::max(most, rho_at(law, other, arrays_of(data), arrays_of(neighbour),
                                       spending.mean_rho, alpha));
        }
      }
    }
  });
  return most;
}

Real most_spent_by_windows(const WindowPlan& plan, const Spending& spending) {
  return most_spent_on_arrays(4, spending, [&](const auto& values, double epsilon) {
    return windows(values, plan, epsilon);
  });
}

Real most_spent_by_levy(std::uint32_t half_width, const Spending& spending) {
  return most_spent_on_arrays(4, spending, [&](const auto& values, double epsilon) {
    return law_of_levy(arrays_of(values), half_width, epsilon);
  });
}

const std::vector<WindowPlan> kPlans = {{7, 0, 2, 1}, {7, 1, 2, 5}, {16, 0, 2, 2.5}};

TEST(ZcdpOfQuantile, KeepsRhoOnAllSmallData) {
  for (const WindowPlan& plan : kPlans) {
    for (const double rho : {0.1, 1.0, 10.0}) {
      EXPECT_LE(most_spent_by_windows(plan, spending_of(rho, plan.parts)), rho + kError);
    }
  }
}

TEST(ZcdpOfQuantile, IsRefutedIfItSpendsMore) {
  for (const double rho : {0.1, 1.0}) {
    EXPECT_GT(most_spent_by_windows(kPlans[2], with_half_noise(rho, 16)), 1.01L * rho);
    EXPECT_GT(most_spent_by_windows(kPlans[2], twice_spent(rho, 16)), 1.01L * rho);
  }
}

TEST(ZcdpOfLevy, KeepsRhoOnAllSmallData) {
  for (const std::uint32_t half_width : {kOne / 4, kOne / 20 + 1, kOne / 100 + 1}) {
    for (const unsigned parts : {1U, 8U, 16U}) {
      for (const double rho : {0.1, 1.0, 10.0}) {
        EXPECT_LE(most_spent_by_levy(half_width, spending_of(rho, parts)), rho + kError);
      }
    }
  }
}

TEST(ZcdpOfLevy, IsRefutedIfItSpendsMore) {
  for (const double rho : {0.1, 1.0}) {
    EXPECT_GT(most_spent_by_levy(kOne / 20 + 1, with_half_noise(rho, 16)), 1.01L * rho);
    EXPECT_GT(most_spent_by_levy(kOne / 20 + 1, twice_spent(rho, 16)), 1.01L * rho);
  }
}

// --- 'bounded' -----------------------------------------------------------------------------------

// The rho that the noise of all sums together spends.
Real rho_spent(const BoundedSums& sums, const BoundedSums& neighbour, const BoundedUnits& units,
               double rho) {
  Real square = 0;
  for (unsigned i = 0; i < kVarianceParts; ++i) {
    const Real change = static_cast<Real>(sums.parts[i]) - static_cast<Real>(neighbour.parts[i]);
    square += change * change;
  }
  return square / (2 * variance_of(units.sensitivity, rho));
}

// Values of a user with `rows` rows: the ends of the range, and between them.
template <class Visit>
void for_each_user(std::size_t rows, Visit visit) {
  for_each_tuple({0, 1, kOne / 2, kOne}, rows, visit);
}

const UserValues kOthers = {{7, kOne}, {kOne / 3}};

UserValues with(const std::vector<std::uint32_t>& user) {
  UserValues data = kOthers;
  data.push_back(user);
  return data;
}

// Coarse units at the smallest rho, fine ones at the largest.
constexpr double kRhos[] = {1e-12, 0.01, 0.7, 100};

TEST(ZcdpOfBounded, SpendsRhoOnTheWorstUserAndNeverMore) {
  for (const double rho : kRhos) {
    for (const unsigned parts : {kMeanParts, kVarianceParts}) {
      for (const std::uint64_t contributions : {1U, 2U, 3U}) {
        const BoundedUnits units = bounded_units(parts, contributions, zcdp(rho));
        const BoundedSums without = bounded_sums(*GroupedRows(kOthers), units, work.cancel);
        Real most = 0;
        for_each_user(4, [&](const std::vector<std::uint32_t>& user) {
          const BoundedSums sums = bounded_sums(*GroupedRows(with(user)), units, work.cancel);
          most = std::max(most, rho_spent(sums, without, units, rho));
        });
        EXPECT_LE(most, rho);
        EXPECT_GE(most, 0.99L * rho) << rho << " " << parts << " " << contributions;
      }
    }
  }
}

TEST(ZcdpOfBounded, SpendsWhatIsChargedForTheWorstRowAndNeverMore) {
  for (const double rho : kRhos) {
    for (const unsigned parts : {kMeanParts, kVarianceParts}) {
      for (const std::uint64_t contributions : {1U, 2U, 3U}) {
        const BoundedUnits units = bounded_units(parts, contributions, zcdp(rho));
        const Real charged = units.change_by_row * units.change_by_row * rho;
        Real most = 0;
        for_each_user(3, [&](const std::vector<std::uint32_t>& others) {
          for_each_user(2, [&](const std::vector<std::uint32_t>& row) {
            std::vector<std::uint32_t> user = others;
            std::vector<std::uint32_t> replaced = others;
            user.push_back(row[0]);
            replaced.push_back(row[1]);
            const BoundedSums sums = bounded_sums(*GroupedRows(with(user)), units, work.cancel);
            const BoundedSums fewer = bounded_sums(*GroupedRows(with(others)), units, work.cancel);
            const BoundedSums other =
                bounded_sums(*GroupedRows(with(replaced)), units, work.cancel);
            most = std::max(
                {most, rho_spent(sums, other, units, rho), rho_spent(sums, fewer, units, rho)});
          });
        });
        EXPECT_LE(most, charged);
        EXPECT_GE(most, 0.98L * charged) << rho << " " << parts << " " << contributions;
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
