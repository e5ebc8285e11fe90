// The interquartile range by propose-test-release: docs/privacy.md, Lemmas 8 to 10. Its count has
// so much noise for any epsilon that the sums of Theorem 11 are left to replays.cpp. By quantiles:
// quantile_laws.cpp.
#include <algorithm>
#include <cmath>

#include "core/iqr/iqr.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "exhaustive/checks.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

// A unit of the scale is a factor of two, and so is the quotient of two spreads of records: their
// steps differ by whole units.
const double kUnit = std::log(2);
constexpr double kPlaces[] = {0, 1.001, 2.002};

IqrStage stage(double test, double release, double delta) {
  const Rational of_test = rational_epsilon(test);
  return {LogGrid::of_unit(kUnit), of_test, iqr_test_margin(of_test, delta),
          rational_epsilon(release)};
}

// Stages with budgets of their own.
void stages(Report& report) {
  constexpr double kDelta = 0.02;
  struct Budgets {
    std::vector<IqrStage> stages;
    double epsilon;
    double delta;
  };
  const Budgets all[] = {{{stage(1, 2, kDelta)}, 3, kDelta},
                         {{stage(4, 2, kDelta)}, 6, kDelta},
                         {{stage(2, 1, kDelta), stage(1.5, 1, kDelta)}, 4.5, 2 * kDelta}};
  for (const auto& [tried, epsilon, delta] : all) {
    const PrivacyCost cost = approximate_cost(epsilon, delta, rho_of_stages(tried));
    compare_counts(report, text("iqr, %zu stages, epsilon %g", tried.size(), epsilon),
                   all_counts(std::size(kPlaces), report.by_effort(7, 16)), same_costs(cost),
                   {.least_chance = 1e-10, .noise_unit = LogGrid::kStepsPerUnit},
                   [&, &tried = tried](const Counts& counts) -> Answer {
                     const test::TestContext context;
                     std::vector<double> records;
                     for (std::size_t place = 0; place < counts.size(); ++place) {
                       records.insert(records.end(), counts[place], kPlaces[place]);
                     }
                     const auto answer =
                         interquartile_range_by(tried, OrderStatistics(records), context);
                     if (!answer) return {};
                     return {bits_of(*answer)};
                   });
  }
}

void count(Report& report) {
  for (const double epsilon : {0.5, 4.0}) {
    compare_counts(report, text("iqr, count, epsilon %g", epsilon), all_counts(1, 8),
                   same_costs(pure_cost(epsilon)), {.least_chance = 1e-12},
                   [&](const Counts& counts) -> Answer {
                     const test::TestContext context;
                     return {static_cast<std::int64_t>(
                         noisy_count(counts[0], rational_epsilon(epsilon), context.random))};
                   });
  }
}

}  // namespace

std::vector<Check> iqr_checks() {
  return {{"iqr, stages", stages}, {"iqr, count", count}};
}

}  // namespace dpquantile::exhaustive
