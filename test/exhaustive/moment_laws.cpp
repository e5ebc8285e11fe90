// Counts, sums, means, variances, pairs, histograms, learned bounds and limits: docs/privacy.md,
// Theorems 21, 21p, 22, 25, 25b, 25e, 25f and 25m, "A number of distinct values", Theorem 28 for
// replacing. Values are such that sums are multiples of a large unit.
#include <algorithm>
#include <cmath>

#include "core/contributions/fixed_point.hpp"
#include "core/distinct/distinct_hashes.hpp"
#include "core/moments/bernstein_pairs.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/moments/moments.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "core/noisy_histogram/closer_look.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/noisy_histogram/learned_limit.hpp"
#include "core/noisy_histogram/modal_bin.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "exhaustive/checks.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

constexpr PrivacyParameter kGuarantees[] = {{PrivacyMeasure::kPure, 1.5},
                                            {PrivacyMeasure::kPure, 6},
                                            {PrivacyMeasure::kZcdp, 0.5},
                                            {PrivacyMeasure::kZcdp, 6}};

std::string name_of(const char* what, const PrivacyParameter& privacy) {
  return text("%s, %s %g", what, parameter_name(privacy.measure), privacy.value);
}

ValueSums sums_of(const Counts& counts, const std::vector<std::uint64_t>& units, bool squares) {
  ValueSums sums;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::uint64_t row = 0; row < counts[i]; ++row) {
      if (squares) {
        sums.add(static_cast<std::uint32_t>(units[i]));
      } else {
        sums.add_shifted(units[i]);
      }
    }
  }
  return sums;
}

void counts(Report& report) {
  for (const PrivacyParameter& privacy : kGuarantees) {
    const ReleaseCosts costs = same_costs(integer_noise_cost(privacy));
    const Following following{.least_chance = 1e-12};
    compare_counts(report, name_of("count", privacy), all_counts(2, 5), costs, following,
                   [&](const Counts& rows) -> Answer {
                     const test::TestContext context;
                     const auto [count, error] =
                         release_count(rows[0] + rows[1], privacy, context.random);
                     return {static_cast<std::int64_t>(count), static_cast<std::int64_t>(error)};
                   });
    // A row more may bring a value that is there. The hash 0 is one like others.
    compare_counts(report, name_of("distinct", privacy), all_counts(3, 4), costs, following,
                   [&](const Counts& rows) -> Answer {
                     const test::TestContext context;
                     DistinctHashes hashes(test::heap());
                     for (std::size_t value = 0; value < rows.size(); ++value) {
                       for (std::uint64_t i = 0; i < rows[value]; ++i) hashes.add(value);
                     }
                     const auto [count, error] =
                         release_count(hashes.size(), privacy, context.random);
                     return {static_cast<std::int64_t>(count), static_cast<std::int64_t>(error)};
                   });
  }
}

void histograms(Report& report) {
  for (const PrivacyParameter& privacy : kGuarantees) {
    compare_counts(report, name_of("histogram", privacy), all_counts(3, report.by_effort(2, 4)),
                   vector_noise_costs(integer_noise_cost(privacy)),
                   {.least_chance = report.by_effort(1e-7, 1e-9)}, [&](const Counts& rows) {
                     const test::TestContext context;
                     const auto released = release_histogram(rows, privacy, context);
                     return Answer(released.begin(), released.end());
                   });
  }
}

// The law of permute-and-flip: p_r times the integral of the product of all other 1 - t p_s.
double chance_of_bin(const Counts& rows, std::size_t bin, double epsilon) {
  const std::uint64_t most = *std::ranges::max_element(rows);
  std::vector<double> product = {1};  // of powers of t
  const auto coin = [&](std::size_t i) {
    return std::exp(-epsilon * static_cast<double>(most - rows[i]));
  };
  for (std::size_t other = 0; other < rows.size(); ++other) {
    if (other == bin) continue;
    product.push_back(0);
    for (std::size_t power = product.size() - 1; power > 0; --power) {
      product[power] -= coin(other) * product[power - 1];
    }
  }
  double integral = 0;
  for (std::size_t power = 0; power < product.size(); ++power) {
    integral += product[power] / static_cast<double>(power + 1);
  }
  return coin(bin) * integral;
}

void modal_bins(Report& report) {
  constexpr std::size_t bins = 3;
  for (const double epsilon : {1.0, 6.0}) {
    const std::vector<Counts> data = all_counts(bins, report.by_effort(3, 5));
    const auto draw = [&](const Counts& rows) -> Answer {
      const test::TestContext context;
      return {static_cast<std::int64_t>(draw_modal_bin(rows, epsilon, context))};
    };
    const std::string name = text("fullest bin, epsilon %g", epsilon);
    const Following following{.least_chance = report.by_effort(1e-7, 1e-8)};
    compare_counts(report, name, data, modal_bin_costs(epsilon), following, draw);
    for (const Counts& rows : data) {
      const Law law = law_of([&] { return draw(rows); }, following);
      for (std::size_t bin = 0; bin < bins; ++bin) {
        const auto found = law.chances.find({static_cast<std::int64_t>(bin)});
        const double chance = found == law.chances.end() ? 0 : found->second;
        const double declared = chance_of_bin(rows, bin, epsilon);
        if (std::abs(chance - declared) <= 1e-9 + law.lost) continue;
        report.finding(name + text(": bin %zu of", bin) + describe(rows) +
                       text(" has probability %.12g, %.12g is declared", chance, declared));
      }
    }
  }
}

// On two cells. Bounds take 20 rows with an epsilon of 1.5, 5 with 6.
void learned_bounds(Report& report) {
  constexpr OrdinalGrid kGrid(0, 0, 0);
  for (const PrivacyParameter& privacy : kGuarantees) {
    std::vector<Counts> data;
    for (const Counts& counts : all_counts(2, report.by_effort(3, 6))) {
      for (const std::uint64_t more : {0U, 4U, 9U, 19U}) {
        data.push_back({counts[0], counts[1]});
        data.push_back({counts[0] + more, counts[1]});
      }
    }
    std::ranges::sort(data);
    data.erase(std::unique(data.begin(), data.end()), data.end());
    compare_counts(report, name_of("learned bounds", privacy), data,
                   vector_noise_costs(integer_noise_cost(privacy)),
                   {.least_chance = report.by_effort(1e-8, 1e-10)},
                   [&](const Counts& rows) -> Answer {
                     const test::TestContext context;
                     const auto bounds = learn_bounds(kGrid, rows, privacy, context);
                     if (!bounds) return {};
                     return {bits_of(bounds->lower), bits_of(bounds->upper)};
                   });
  }
}

// In two looks, of values in two of four cells. The first one, with a quarter of epsilon, takes 5
// rows, and comes with a second one unless both cells have rows.
void close_bounds(Report& report) {
  constexpr OrdinalGrid kGrid(0, 0, 1);
  constexpr double kValues[] = {-0.3, 1.7};
  constexpr double kEpsilon = 24;
  std::vector<Counts> data;
  for (const Counts& counts : all_counts(2, report.by_effort(1, 2))) {
    for (const std::uint64_t more : {0U, 4U}) data.push_back({counts[0] + more, counts[1]});
  }
  std::ranges::sort(data);
  data.erase(std::unique(data.begin(), data.end()), data.end());
  compare_counts(
      report, text("close bounds, epsilon %g", kEpsilon), data,
      vector_noise_costs(integer_noise_cost(pure(kEpsilon))),
      {.least_chance = report.by_effort(1e-6, 1e-7)}, [&](const Counts& rows) -> Answer {
        const test::TestContext context;
        const auto count = [&](std::uint32_t cells, auto cell_of) {
          Counts counts(cells);
          for (std::size_t i = 0; i < rows.size(); ++i) counts[cell_of(kValues[i])] += rows[i];
          return counts;
        };
        const FirstLook first = look_for_bounds(
            kGrid, count(kGrid.cells(), [&](double value) { return kGrid.cell_of(value); }),
            kEpsilon, {-2, 2, 0}, context);
        if (!first.closer && !first.bounds) return {};
        if (first.bounds) return {bits_of(first.bounds->lower), bits_of(first.bounds->upper)};
        const CloserLook& look = *first.closer;
        const LearnedBounds bounds = look_closer(
            look, count(look.grid.cells(), [&](double value) { return look.cell_of(value); }),
            kEpsilon, context);
        return {bits_of(look.found.lower), bits_of(look.found.upper), bits_of(bounds.lower),
                bits_of(bounds.upper)};
      });
}

// Persons with one row and two, or three. A limit takes 20 persons with an epsilon of 1.5, 5 with
// 6. Next to that, and where few persons have most rows, a person more decides what is found.
void learned_limits(Report& report) {
  const std::size_t cells = report.by_effort(2, 3);
  std::vector<Counts> data;
  for (const Counts& counts : all_counts(cells, 2)) {
    for (const std::uint64_t more : {0U, 4U, 19U}) {
      for (std::size_t cell = 0; cell < cells; ++cell) {
        data.push_back(counts);
        data.back()[cell] += more;
      }
    }
  }
  std::ranges::sort(data);
  data.erase(std::unique(data.begin(), data.end()), data.end());
  for (const PrivacyParameter& privacy : kGuarantees) {
    compare_counts(report, name_of("learned limits", privacy), data,
                   vector_noise_costs(integer_noise_cost(privacy)), {.least_chance = 1e-7},
                   [&](const Counts& persons) -> Answer {
                     const test::TestContext context;
                     const auto found = learn_limit(persons, privacy, 2, cells, context);
                     if (!found) return {};
                     return {static_cast<std::int64_t>(found->limit), bits_of(found->rows),
                             bits_of(found->left_out), bits_of(found->left_out_error)};
                   });
  }
}

void sums(Report& report) {
  for (const auto& [lower, upper] : {std::pair(0.0, 1.0), {-1.0, 1.0}, {-1.0, 0.5}, {0.5, 1.0}}) {
    const SumScale scale = SumScale::create(lower, upper);
    const std::vector<std::uint64_t> units = {scale.shifted_units(lower),
                                              scale.shifted_units((lower + upper) / 2),
                                              scale.shifted_units(upper)};
    for (const PrivacyParameter& privacy : kGuarantees) {
      const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
      const int bits = is_zcdp ? gaussian_sensitivity_bits(privacy.value, 31) : 32;
      const ReleaseCosts costs{
          integer_noise_cost(privacy),
          replacing_cost_of_noise(privacy, largest_change_of_sum(scale, privacy))};
      compare_counts(report, name_of("sum", privacy) + text(", bounds %g and %g", lower, upper),
                     all_counts(3, report.by_effort(2, 5)), costs,
                     {.least_chance = 1e-12, .noise_unit = std::int64_t{1} << (bits - 3)},
                     [&](const Counts& rows) -> Answer {
                       const test::TestContext context;
                       const Estimate sum =
                           release_sum(sums_of(rows, units, false), scale, privacy, context.random);
                       return {bits_of(sum.value), bits_of(sum.error)};
                     });
    }
  }
}

void bernstein(Report& report) {
  constexpr std::uint64_t kOne = FixedPoint::kOne;
  for (const MomentsDegree degree : {MomentsDegree::kMean, MomentsDegree::kVariance}) {
    for (const PrivacyParameter& privacy : kGuarantees) {
      if (privacy.value < 6 && report.effort() == 1) continue;  // noise of many units
      const BernsteinUnits own = bernstein_units(degree, privacy);
      // The middle value is no multiple of a large unit if its part is stretched.
      const std::vector<std::uint64_t> units = own.stretched
                                                   ? std::vector<std::uint64_t>{0, kOne}
                                                   : std::vector<std::uint64_t>{0, kOne / 2, kOne};
      const int coarse = own.stretched ? 1 : 2;
      compare_counts(
          report,
          name_of("Bernstein sums", privacy) + text(", degree %d", static_cast<int>(degree)),
          all_counts(units.size(), report.by_effort(2, 4)),
          vector_noise_costs(integer_noise_cost(privacy)),
          {.least_chance = report.by_effort(1e-6, 1e-8),
           .noise_unit = std::int64_t{1} << (own.bits - coarse)},
          [&](const Counts& rows) -> Answer {
            const test::TestContext context;
            const FixedPoint bounds = FixedPoint::create(0, 1);
            const Moments moments = release_moments(sums_of(rows, units, true), bounds, degree,
                                                    privacy, context.random);
            return {bits_of(moments.count().value), bits_of(moments.mean().value),
                    bits_of(moments.sum().value)};
          });
    }
  }
}

// Rows at the corners of the bounds, and under epsilon one in the middle of an edge: what a row
// adds is there a multiple of a large unit. Four products; the others are compared by replays.
void pairs(Report& report) {
  constexpr std::uint32_t kOne = FixedPoint::kOne;
  constexpr PairDegrees kFirst{MomentsDegree::kMean, MomentsDegree::kMean};
  for (const PrivacyParameter& privacy : kGuarantees) {
    if (privacy.value < 6 && report.effort() == 1) continue;  // noise of many units
    const PairUnits own = pair_units(kFirst, privacy);
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> values = {
        {0, 0}, {kOne, 0}, {kOne, kOne}};
    compare_counts(report, name_of("pairs", privacy), all_counts(values.size(), 2),
                   vector_noise_costs(integer_noise_cost(privacy)),
                   {.least_chance = report.by_effort(1e-5, 1e-7),
                    .noise_unit = std::int64_t{1} << (own.bits - 1)},
                   [&](const Counts& rows) -> Answer {
                     const test::TestContext context;
                     PairSums sums;
                     for (std::size_t i = 0; i < rows.size(); ++i) {
                       for (std::uint64_t row = 0; row < rows[i]; ++row) {
                         sums.add(values[i].first, values[i].second);
                       }
                     }
                     const auto noisy = release_pair_sums(sums, kFirst, privacy, context.random);
                     return {bits_of(noisy.part[0]), bits_of(noisy.part[1]), bits_of(noisy.part[3]),
                             bits_of(noisy.part[4])};
                   });
  }
}

}  // namespace

std::vector<Check> moment_checks() {
  return {{"counts", counts},
          {"histograms", histograms},
          {"fullest bins", modal_bins},
          {"learned bounds", learned_bounds},
          {"close bounds", close_bounds},
          {"learned limits", learned_limits},
          {"sums", sums},
          {"Bernstein sums", bernstein},
          {"pairs", pairs}};
}

}  // namespace dpquantile::exhaustive
