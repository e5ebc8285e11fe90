// All functions of src/core on random and hard neighbours, by record and replay.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/cdf/cdf.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/distinct/distinct_hashes.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/moments/bernstein_pairs.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "exhaustive/checks.hpp"
#include "exhaustive/histogram_of.hpp"
#include "exhaustive/replay.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile::exhaustive {

namespace {

using test::heap;

class Shapes {
 public:
  explicit Shapes(std::uint64_t seed) : generator_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return generator_() % bound; }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(generator_() >> 11) * 0x1p-53;
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  std::mt19937_64& generator() { return generator_; }

  PrivacyParameter privacy() {
    const double value = std::exp(uniform(std::log(0.01), std::log(20)));
    return below(2) == 0 ? pure(value) : zcdp(value);
  }
  // Few records, many, heavy ties.
  Counts counts(std::size_t cells) {
    Counts counts(cells);
    for (std::uint64_t& count : counts) count = pick({0ULL, 0ULL, 1ULL, 2ULL, 40ULL, 1ULL << 26});
    return counts;
  }

 private:
  std::mt19937_64 generator_;
};

// The run of a mechanism, which returns the numbers that noise was added to. Noise is 0 or
// `noise`.
template <class Mechanism>
Run run_of(std::uint64_t seed, Mechanism mechanism, std::int64_t noise = 0) {
  Recording recording(seed, 0, noise);
  const Deciding deciding(&recording);
  const test::TestContext context;
  Run run;
  run.numbers = mechanism(context);
  run.drawn = recording.drawn();
  return run;
}

// The same for numbers that may be counted in coarser units for the noise: noise of 1 shows the
// unit, up or down, as the numbers may be clamped on one side.
template <class Mechanism>
Run run_in_units(std::uint64_t seed, Mechanism mechanism) {
  Run run = run_of(seed, mechanism);
  const Run above = run_of(seed, mechanism, 1);
  const Run below = run_of(seed, mechanism, -1);
  for (std::size_t i = 0; i < run.numbers.size(); ++i) {
    run.numbers[i] /=
        std::max({above.numbers[i] - run.numbers[i], run.numbers[i] - below.numbers[i], 1.0});
  }
  return run;
}

int rounds(const Report& report) {
  return report.by_effort(300, 30'000);
}

void note(Report& report, const std::string& name, const std::string& found) {
  report.pairs(1);
  if (!found.empty()) report.finding(name + ": " + found);
}

// ---- Rows with a value
// ----------------------------------------------------------------------------

using Rows = std::vector<double>;

// Compares rows with one more, with one replaced, and in another order.
template <class Mechanism>
void replay_rows(Report& report, Shapes& shapes, const std::string& name,
                 const PrivacyParameter& own, const PrivacyParameter& replacing, Rows rows,
                 double added, Mechanism mechanism) {
  const std::uint64_t seed = shapes.below(~0ULL);
  const auto run = [&](const Rows& of) {
    return run_of(seed, [&](const MechanismContext& context) { return mechanism(of, context); });
  };
  const Run before = run(rows);
  Rows more = rows;
  more.insert(more.begin() + static_cast<std::ptrdiff_t>(shapes.below(rows.size() + 1)), added);
  note(report, name + ", a row more", difference(before, run(more), own));
  if (!rows.empty()) {
    Rows replaced = rows;
    replaced[shapes.below(rows.size())] = added;
    note(report, name + ", a value replaced", difference(before, run(replaced), replacing));
  }
  std::ranges::shuffle(rows, shapes.generator());
  note(report, name, order_difference(before, run(rows)));
}

PrivacyParameter parameter_of(const PrivacyCost& cost, const PrivacyParameter& stated) {
  return {stated.measure, stated.measure == PrivacyMeasure::kPure ? *cost.epsilon : *cost.rho};
}

double draw_value(Shapes& shapes, double lower, double upper) {
  return shapes.pick({lower, upper, lower - 1, upper + 1, shapes.uniform(lower, upper),
                      lower + (upper - lower) * 1e-10});
}

// The sums as the noise was added to them.
std::vector<double> stretched_parts(const NoisyPairSums& noisy, const PairUnits& units) {
  constexpr double kStretch =
      static_cast<double>(kMiddleStretchNumerator) / kMiddleStretchDenominator;
  std::vector<double> numbers;
  for (std::size_t k = 0; k < kPairWeights; ++k) {
    const bool of_x = units.degrees.x == MomentsDegree::kVariance && k / kWeights == 1;
    const bool of_value = units.degrees.value == MomentsDegree::kVariance && k % kWeights == 1;
    const double stretch = units.stretched ? (of_x ? kStretch : 1) * (of_value ? kStretch : 1) : 1;
    const bool has_x = k / kWeights <= static_cast<std::size_t>(units.degrees.x);
    if (!has_x || k % kWeights > static_cast<std::size_t>(units.degrees.value)) continue;
    numbers.push_back(std::round(std::ldexp(noisy.part[k] * stretch, units.bits)));
  }
  return numbers;
}

void values(Report& report) {
  for (int round = 0; round < rounds(report); ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const PrivacyParameter privacy = shapes.privacy();
    const double lower = shapes.pick({0.0, -1.0, 0.5, -1000.0});
    const double upper = lower + shapes.pick({1.0, 0.1, 5000.0});
    Rows rows(shapes.below(30));
    for (double& row : rows) row = draw_value(shapes, lower, upper);
    const double added = draw_value(shapes, lower, upper);
    const ReleaseCosts counted = same_costs(integer_noise_cost(privacy));
    replay_rows(
        report, shapes, "count", parameter_of(counted.own, privacy),
        parameter_of(counted.replacing, privacy), rows, added,
        [&](const Rows& of, const MechanismContext& context) -> std::vector<double> {
          return {static_cast<double>(release_count(of.size(), privacy, context.random).count)};
        });
    replay_rows(
        report, shapes, "distinct", privacy, privacy, rows, added,
        [&](const Rows& of, const MechanismContext& context) -> std::vector<double> {
          DistinctHashes hashes(heap());
          for (const double row : of) hashes.add(static_cast<std::uint64_t>(bits_of(row)));
          return {static_cast<double>(release_count(hashes.size(), privacy, context.random).count)};
        });

    const SumScale scale = SumScale::create(lower, upper);
    const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
    const int bits = is_zcdp ? gaussian_sensitivity_bits(privacy.value, 31) : 32;
    const PrivacyCost replacing =
        replacing_cost_of_noise(privacy, largest_change_of_sum(scale, privacy));
    replay_rows(report, shapes, "sum", privacy, parameter_of(replacing, privacy), rows, added,
                [&](const Rows& of, const MechanismContext& context) -> std::vector<double> {
                  ValueSums sums;
                  for (const double row : of) sums.add_shifted(scale.shifted_units(row));
                  const Estimate sum = release_sum(sums, scale, privacy, context.random);
                  return {std::round(std::ldexp(sum.value / scale.largest, bits))};
                });

    const FixedPoint bounds = FixedPoint::create(lower, upper);
    for (const MomentsDegree degree : {MomentsDegree::kMean, MomentsDegree::kVariance}) {
      const BernsteinUnits units = bernstein_units(degree, privacy);
      const ReleaseCosts costs = vector_noise_costs(integer_noise_cost(privacy));
      replay_rows(report, shapes, text("Bernstein sums of degree %d", static_cast<int>(degree)),
                  privacy, parameter_of(costs.replacing, privacy), rows, added,
                  [&](const Rows& of, const MechanismContext& context) {
                    ValueSums sums;
                    for (const double row : of) sums.add(value_units(bounds, row));
                    const auto noisy =
                        release_bernstein_sums(sums, degree, privacy, context.random);
                    std::vector<double> numbers;
                    for (int i = 0; i < noisy.parts(); ++i) {
                      const double stretch = units.stretched && i == 1
                                                 ? static_cast<double>(kMiddleStretchNumerator) /
                                                       kMiddleStretchDenominator
                                                 : 1;
                      numbers.push_back(std::round(std::ldexp(
                          noisy.part[static_cast<std::size_t>(i)] * stretch, units.bits)));
                    }
                    return numbers;
                  });
    }
    const PairDegrees degrees{shapes.pick({MomentsDegree::kMean, MomentsDegree::kVariance}),
                              shapes.pick({MomentsDegree::kMean, MomentsDegree::kVariance})};
    const ReleaseCosts costs = vector_noise_costs(integer_noise_cost(privacy));
    // The second value of a row is a function of the first, so that a row is one number.
    replay_rows(report, shapes, "products of two values", privacy,
                parameter_of(costs.replacing, privacy), rows, added,
                [&](const Rows& of, const MechanismContext& context) {
                  PairSums sums;
                  for (const double row : of) {
                    const std::uint32_t units = value_units(bounds, row);
                    sums.add(units, (units % 3 + 1) * (FixedPoint::kOne / 3) - units / 3);
                  }
                  return stretched_parts(release_pair_sums(sums, degrees, privacy, context.random),
                                         pair_units(degrees, privacy));
                });
  }
}

// What all draws of an interquartile range spend, in epsilon and in rho, whether its tests fail or
// not.
void iqr_budget(Report& report) {
  for (int round = 0; round < rounds(report); ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const double epsilon = std::exp(shapes.uniform(std::log(0.1), std::log(100)));
    const double delta = shapes.pick({1e-6, 1e-3});
    Rows rows(shapes.pick({0U, 1U, 2U, 100U, 3000U}));
    for (double& row : rows) row = shapes.pick({0.0, 1.0, shapes.uniform(0, 1)});
    for (const double noise : {-40.0, 0.0, 40.0}) {
      Recording recording(0, noise);
      const Deciding deciding(&recording);
      const test::TestContext context;
      Rows records = rows;
      interquartile_range(records, epsilon, delta, context);
      double spent = 0;
      double rho = 0;
      for (const Drawn& drawn : recording.drawn()) {
        const bool is_release = drawn.spread * 2 > LogGrid::kStepsPerUnit / epsilon &&
                                &drawn == &recording.drawn().back() && recording.drawn().size() > 2;
        const double own = (is_release ? LogGrid::kStepsPerUnit : 1) / drawn.spread;
        spent += own;
        rho += is_release ? std::min(rho_of_laplace(own, LogGrid::kStepsPerUnit), rho_of_pure(own))
                          : rho_of_pure(own);
      }
      const bool allowed =
          spent <= epsilon * (1 + 1e-9) && rho <= *iqr_cost(epsilon, delta).rho * (1 + 1e-9);
      note(report, text("iqr, epsilon %g, %zu records, noise %g", epsilon, rows.size(), noise),
           allowed ? "" : text("the draws spend %.9g, and rho %.9g", spent, rho));
    }
  }
}

// ---- Records in cells
// -----------------------------------------------------------------------------

// Compares counts with one record more and with one in another cell.
template <class Mechanism>
void replay_counts(Report& report, Shapes& shapes, const std::string& name,
                   const PrivacyParameter& own, const PrivacyParameter* replacing,
                   const Counts& counts, Mechanism mechanism) {
  const std::uint64_t seed = shapes.below(~0ULL);
  const auto run = [&](const Counts& of) {
    return run_of(seed, [&](const MechanismContext& context) { return mechanism(of, context); });
  };
  const Run before = run(counts);
  Counts more = counts;
  const std::size_t cell = shapes.below(counts.size());
  ++more[cell];
  note(report, name + ", a record more", difference(before, run(more), own));
  const std::size_t from = shapes.below(counts.size());
  if (replacing == nullptr || counts[from] == 0 || from == cell) return;
  --more[from];
  note(report, name + ", a record replaced", difference(before, run(more), *replacing));
}

void bins(Report& report) {
  for (int round = 0; round < rounds(report); ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const PrivacyParameter privacy = shapes.privacy();
    const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
    const auto number = shapes.pick({1U, 2U, 3U, 4U, 5U, 17U, 64U});
    const Counts counts = shapes.counts(number);
    const PrivacyParameter twice =
        parameter_of(vector_noise_costs(integer_noise_cost(privacy)).replacing, privacy);
    replay_counts(report, shapes, "histogram", privacy, &twice, counts,
                  [&](const Counts& of, const MechanismContext& context) {
                    const auto released = release_histogram(of, privacy, context);
                    return std::vector<double>(released.begin(), released.end());
                  });
    const CdfMethod method =
        is_zcdp ? shapes.pick({CdfMethod::kTree, CdfMethod::kBinary, CdfMethod::kFactorization})
                : shapes.pick({CdfMethod::kTree, CdfMethod::kBinary, CdfMethod::kHistogram});
    const CdfPlan plan = choose_cdf_plan(method, number, privacy);
    const PreparedCdf cdf(plan);
    const PrivacyParameter replacing = parameter_of(costs_of_cdf(plan).replacing, privacy);
    replay_counts(report, shapes, text("cdf method %d, %u bins", static_cast<int>(method), number),
                  privacy, &replacing, counts,
                  [&](const Counts& of, const MechanismContext& context) {
                    const auto measured = noisy_measurements(of, cdf, context);
                    return std::vector<double>(measured.begin(), measured.end());
                  });
    replay_counts(report, shapes, text("curve of method %d", static_cast<int>(method)), privacy,
                  nullptr, counts, [&](const Counts& of, const MechanismContext& context) {
                    release_cdf(of, cdf, context);
                    return std::vector<double>{};
                  });
  }
}

void queries(Report& report) {
  for (int round = 0; round < rounds(report); ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const PrivacyParameter privacy = shapes.privacy();
    const std::uint64_t cells = shapes.pick({1ULL, 2ULL, 3ULL, 50ULL});
    std::vector<double> quantiles(1 + shapes.below(40));
    for (double& q : quantiles) q = shapes.pick({0.0, 1.0, 0.5, 0.999, shapes.uniform(0, 1)});
    for (const QuantilesMethod method :
         {QuantilesMethod::kApproximate, QuantilesMethod::kJoint, QuantilesMethod::kIndependent,
          QuantilesMethod::kTree, QuantilesMethod::kAuto, QuantilesMethod::kBlocks,
          QuantilesMethod::kDefault}) {
      const QuantilesMechanism mechanism({method, privacy, cells, quantiles}, heap());
      // A tree has noise on the nodes, which bins() looks at.
      replay_counts(report, shapes,
                    text("quantiles method %d, %zu of them, %s %g", static_cast<int>(method),
                         quantiles.size(), parameter_name(privacy.measure), privacy.value),
                    privacy, nullptr, shapes.counts(cells),
                    [&](const Counts& of, const MechanismContext& context) {
                      mechanism.release(histogram_of(of, context), context);
                      return std::vector<double>{};
                    });
    }
    if (privacy.measure != PrivacyMeasure::kPure) continue;
    const IqrByQuantiles mechanism(ValueGrid::create(0, static_cast<double>(cells), 1.0),
                                   privacy.value, heap());
    replay_counts(report, shapes, "iqr by quantiles", privacy, nullptr, shapes.counts(cells + 1),
                  [&](const Counts& of, const MechanismContext& context) {
                    mechanism.release(histogram_of(of, context), context);
                    return std::vector<double>{};
                  });
  }
}

// ---- Rows of users
// --------------------------------------------------------------------------------

std::vector<UserRow> draw_users(Shapes& shapes, std::uint32_t grids) {
  std::vector<UserRow> rows;
  const std::uint64_t users = shapes.pick({1ULL, 2ULL, 5ULL, 40ULL, 300ULL});
  const std::uint64_t most = shapes.pick({1ULL, 3ULL, 20ULL});
  for (std::uint64_t user = 1; user <= users; ++user) {
    for (std::uint64_t i = 1 + shapes.below(most); i > 0; --i) {
      const auto value =
          shapes.pick<std::uint64_t>({0, 1U << 31, shapes.below(1U << 31), 1U << 30});
      rows.push_back({user * 0x9e3779b97f4a7c15, static_cast<std::uint32_t>(shapes.below(grids)),
                      static_cast<std::uint32_t>(value)});
    }
  }
  // Grids are numbered without gaps.
  for (std::uint32_t grid = 0; grid < grids; ++grid) rows.push_back({7, grid, 12345});
  return rows;
}

// Compares rows with those in which one user has other values, and in another order.
template <class Mechanism>
void replay_users(Report& report, Shapes& shapes, const std::string& name,
                  const PrivacyParameter& privacy, std::vector<UserRow> rows,
                  Contribution contribution, Mechanism mechanism) {
  const std::uint64_t seed = shapes.below(~0ULL);
  const auto run = [&](const std::vector<UserRow>& of) {
    return run_in_units(seed, [&](const MechanismContext& context) {
      const test::GroupedRows grouped(of, contribution);
      return mechanism(*grouped, context);
    });
  };
  const Run before = run(rows);
  std::vector<UserRow> replaced = rows;
  const std::uint64_t user = rows[shapes.below(rows.size())].user;
  for (UserRow& row : replaced) {
    if (row.user == user) row.value = row.value < FixedPoint::kOne / 2 ? FixedPoint::kOne : 0;
  }
  note(report, name + ", values replaced", difference(before, run(replaced), privacy));
  std::ranges::shuffle(rows, shapes.generator());
  note(report, name, order_difference(before, run(rows)));
}

void users(Report& report) {
  for (int round = 0; round < rounds(report) / 3; ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const PrivacyParameter privacy = shapes.privacy();
    const std::vector<UserRow> rows = draw_users(shapes, 1);
    const auto rule = shapes.pick(
        {ContributionRule::kOptimal, ContributionRule::kMedian, ContributionRule::kFixed});
    for (const UserMethod method :
         {UserMethod::kBaseline, UserMethod::kArray, UserMethod::kLevy, UserMethod::kQuantile,
          UserMethod::kQuantileAdaptive, UserMethod::kAuto}) {
      const UserQuery query{method, rule, 2, privacy};
      replay_users(report, shapes,
                   text("mean of users, method %d, %s %g", static_cast<int>(method),
                        parameter_name(privacy.measure), privacy.value),
                   privacy, rows, Contribution::kUser,
                   [&](const UserRows& of, const MechanismContext& context) -> std::vector<double> {
                     return {static_cast<double>(user_mean(of, query, context))};
                   });
      if (method != UserMethod::kBaseline && method != UserMethod::kArray) continue;
      replay_users(report, shapes, text("variance of users, method %d", static_cast<int>(method)),
                   privacy, rows, Contribution::kUser,
                   [&](const UserRows& of, const MechanismContext& context) -> std::vector<double> {
                     return {static_cast<double>(user_variance(of, query, context))};
                   });
    }
    const auto grids = shapes.pick({1U, 2U, 5U});
    for (const bool suppress : {false, true}) {
      replay_users(report, shapes, text("%u grids", grids), privacy, draw_users(shapes, grids),
                   Contribution::kUserInGrid,
                   [&](const UserRows& of, const MechanismContext& context) {
                     const auto release = user_grid_stats(of, grids, privacy, suppress, context);
                     std::vector<double> numbers;
                     for (const GridStatistics& grid : release.grids) {
                       numbers.push_back(grid.mean);
                       // What nobody moves has no noise.
                       if (variance_sensitivity(grid.counts.kept, grid.counts.most) == 0) continue;
                       numbers.push_back(grid.variance);
                     }
                     return numbers;
                   });
    }
  }
}

// 'bounded': a user is added with all rows.
void bounded(Report& report) {
  for (int round = 0; round < rounds(report); ++round) {
    Shapes shapes(static_cast<std::uint64_t>(round));
    const PrivacyParameter privacy = shapes.privacy();
    const std::uint64_t contributions = shapes.pick({1ULL, 2ULL, 3ULL, 1000ULL});
    const unsigned parts = shapes.pick({kMeanParts, kVarianceParts});
    const UserQuery query{UserMethod::kBounded, ContributionRule::kFixed, contributions, privacy};
    std::vector<UserRow> rows = draw_users(shapes, 1);
    const std::uint64_t seed = shapes.below(~0ULL);
    const auto run = [&](const std::vector<UserRow>& of) {
      return run_of(seed, [&](const MechanismContext& context) {
        const test::GroupedRows grouped(of);
        parts == kMeanParts ? user_mean(*grouped, query, context)
                            : user_variance(*grouped, query, context);
        const BoundedUnits units = bounded_units(parts, contributions, privacy);
        const BoundedSums sums = bounded_sums(*grouped, units, context.cancel);
        std::vector<double> numbers;
        for (unsigned i = 0; i < parts; ++i) {
          numbers.push_back(static_cast<double>(sums.parts[i]));
        }
        return numbers;
      });
    };
    const Run before = run(rows);
    std::ranges::shuffle(rows, shapes.generator());
    note(report, "bounded", order_difference(before, run(rows)));
    const auto value = shapes.pick({0U, FixedPoint::kOne, FixedPoint::kOne / 3});
    for (std::uint64_t i = 1 + shapes.below(5); i > 0; --i) rows.push_back({99, 0, value});
    note(report, text("bounded, %u parts, a user more", parts),
         difference(before, run(rows), privacy));
  }
}

}  // namespace

std::vector<Check> replay_checks() {
  return {{"replay, rows with a value", values},
          {"replay, iqr", iqr_budget},
          {"replay, bins", bins},
          {"replay, quantiles", queries},
          {"replay, users", users},
          {"replay, bounded users", bounded}};
}

}  // namespace dpquantile::exhaustive
