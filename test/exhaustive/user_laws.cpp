// User-level means and variances: docs/privacy.md, Lemmas 12 to 17, Theorems 16, 19 and 20. A mean
// that is clipped to a private interval has other units for each interval: its interval is here,
// its noise in replays.cpp.
#include <algorithm>

#include "core/contributions/fixed_point.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_noise.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"
#include "exhaustive/checks.hpp"
#include "support/context_testing.hpp"
#include "support/user_dataset.hpp"

namespace dpquantile::exhaustive {

namespace {

constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr std::uint32_t kChoices[] = {0, kOne / 2, kOne};

// Without the rho of an epsilon, which is less than that of noise of few large units (Lemma Z1b).
PrivacyCost cost_of(const PrivacyParameter& privacy) {
  PrivacyCost cost = user_cost(privacy);
  if (cost.epsilon) cost.rho.reset();
  return cost;
}

// The data of `users` users with so many rows each; one digit to the base 3 for each row.
struct PublicCounts {
  std::vector<std::size_t> rows;

  std::size_t data_sets() const {
    std::size_t all = 1;
    for (const std::size_t own : rows) all *= values_of_user(own);
    return all;
  }
  static std::size_t values_of_user(std::size_t own) {
    std::size_t all = 1;
    for (std::size_t i = 0; i < own; ++i) all *= std::size(kChoices);
    return all;
  }
  test::UserValues data(std::size_t code) const {
    test::UserValues values;
    for (const std::size_t own : rows) {
      values.emplace_back();
      for (std::size_t i = 0; i < own; ++i, code /= std::size(kChoices)) {
        values.back().push_back(kChoices[code % std::size(kChoices)]);
      }
    }
    return values;
  }
  // All data sets in which one user's values are others.
  std::vector<Neighbours> neighbours(const PrivacyCost& cost) const {
    std::vector<Neighbours> all;
    std::size_t place = 1;
    for (const std::size_t own : rows) {
      const std::size_t choices = values_of_user(own);
      for (std::size_t code = 0; code < data_sets(); ++code) {
        for (std::size_t other = code / place % choices + 1; other < choices; ++other) {
          all.push_back({code, code + (other - code / place % choices) * place, cost});
        }
      }
      place *= choices;
    }
    return all;
  }
};

// Numbers of rows whose sums are powers of two, so that means are multiples of a large unit.
const PublicCounts kCounts[] = {{{1}}, {{2}}, {{1, 1}}, {{2, 2}}, {{1, 3}}};

template <class Statistic>
void compare_users(Report& report, const std::string& name, const PrivacyParameter& privacy,
                   const PublicCounts& counts, std::int64_t unit, Statistic statistic) {
  std::vector<Law> laws;
  for (std::size_t code = 0; code < counts.data_sets(); ++code) {
    const test::UserValues values = counts.data(code);
    laws.push_back(law_of(
        [&]() -> Answer {
          const test::TestContext context;
          return {static_cast<std::int64_t>(statistic(*test::GroupedRows(values), context))};
        },
        {.least_chance = 1e-10, .noise_unit = unit}));
  }
  compare_pairs(report, name + text(", %s %g", parameter_name(privacy.measure), privacy.value),
                laws, counts.neighbours(cost_of(privacy)), [&](std::size_t code) {
                  std::string all;
                  for (const auto& own : counts.data(code)) {
                    all += describe(Counts(own.begin(), own.end()));
                  }
                  return all;
                });
}

void means(Report& report) {
  for (const PrivacyParameter& privacy : {pure(3), zcdp(2)}) {
    for (const PublicCounts& counts : kCounts) {
      for (const UserMethod method :
           {UserMethod::kBaseline, UserMethod::kArray, UserMethod::kAuto}) {
        const UserQuery query{method, ContributionRule::kOptimal, 0, privacy};
        compare_users(report, text("mean, method %d", static_cast<int>(method)), privacy, counts,
                      kOne / 8, [&](const UserRows& rows, const MechanismContext& context) {
                        return user_mean(rows, query, context);
                      });
      }
    }
  }
}

void variances(Report& report) {
  for (const PrivacyParameter& privacy : {pure(3), zcdp(2)}) {
    for (const PublicCounts& counts : kCounts) {
      const UserQuery query{UserMethod::kBaseline, ContributionRule::kOptimal, 0, privacy};
      compare_users(report, "variance", privacy, counts, kOne / 64,
                    [&](const UserRows& rows, const MechanismContext& context) {
                      return user_variance(rows, query, context);
                    });
    }
  }
}

// 'bounded': a user with all rows is added or removed.
void bounded(Report& report) {
  for (const PrivacyParameter& privacy : {pure(5), zcdp(4)}) {
    const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
    const std::vector<std::vector<std::uint32_t>> users = {{},         {0},       {kOne},
                                                           {kOne / 2}, {0, kOne}, {kOne, kOne, 0}};
    for (const unsigned parts : {kMeanParts, kVarianceParts}) {
      const UserQuery query{UserMethod::kBounded, ContributionRule::kFixed, 2, privacy};
      const int bits = bounded_units(parts, 2, privacy).bits;
      std::vector<Law> laws;
      std::vector<Neighbours> neighbours;
      const PrivacyCost cost = cost_of(privacy);
      for (std::size_t one = 0; one < users.size(); ++one) {
        for (std::size_t other = 0; other < users.size(); ++other) {
          if (one > 0) neighbours.push_back({laws.size(), other, cost});
          if (other > 0) neighbours.push_back({laws.size(), one * users.size(), cost});
          const test::UserValues values = {users[one], users[other]};
          laws.push_back(law_of(
              [&]() -> Answer {
                const test::TestContext context;
                const test::GroupedRows rows(values);
                return {parts == kMeanParts ? user_mean(*rows, query, context)
                                            : user_variance(*rows, query, context)};
              },
              {.least_chance = report.by_effort(1e-6, 1e-8),
               .noise_unit = std::int64_t{1} << (bits - (is_zcdp ? 3 : 3))}));
        }
      }
      compare_pairs(report, text("bounded, %u parts", parts), laws, neighbours,
                    [](std::size_t i) { return text("users %zu", i); });
    }
  }
}

// Two users in two grids, with values of 0 and 1: the values of one user are replaced in both.
void grids(Report& report) {
  for (const PrivacyParameter& privacy : {pure(24), zcdp(24)}) {
    std::vector<Law> laws;
    std::vector<Neighbours> neighbours;
    constexpr std::size_t kRows = 4;
    constexpr std::size_t kOfUser = 4;  // values of a user
    const PrivacyCost cost = cost_of(privacy);
    for (std::size_t code = 0; code < kOfUser * kOfUser; ++code) {
      std::vector<UserRow> rows;
      for (std::uint32_t i = 0; i < kRows; ++i) {
        rows.push_back({1 + i / 2, i % 2, (code >> i & 1) == 0 ? 0 : kOne});
      }
      laws.push_back(law_of(
          [&] {
            const test::TestContext context;
            const test::GroupedRows grouped(rows, Contribution::kUserInGrid);
            const GridRelease release = user_grid_stats(*grouped, 2, privacy, false, context);
            Answer answer;
            for (const GridStatistics& grid : release.grids) {
              answer.insert(answer.end(), {grid.mean, grid.variance});
            }
            return answer;
          },
          {.least_chance = report.by_effort(1e-7, 1e-9), .noise_unit = kOne / 4}));
      for (std::size_t other = code + 1; other < kOfUser * kOfUser; ++other) {
        const bool first = code / kOfUser == other / kOfUser;
        const bool second = code % kOfUser == other % kOfUser;
        if (first || second) neighbours.push_back({code, other, cost});
      }
    }
    compare_pairs(report, text("grids, %s %g", parameter_name(privacy.measure), privacy.value),
                  laws, neighbours, [](std::size_t i) { return text("values %zu", i); });
  }
}

// ---- Private intervals
// -----------------------------------------------------------------------------

// Arrays of one row at some places: the order does not matter.
template <class Draw>
void compare_intervals(Report& report, const std::string& name,
                       const std::vector<std::uint32_t>& places, std::uint64_t arrays,
                       double epsilon, Draw draw) {
  std::vector<Counts> data;
  for (const Counts& counts : all_counts(places.size(), arrays)) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) all += count;
    if (all == arrays) data.push_back(counts);
  }
  const PrivacyCost cost{epsilon, 0, rho_of_bounded_range(epsilon)};
  compare_counts(report, name, data, same_costs(cost), {.least_chance = 0},
                 [&](const Counts& counts) -> Answer {
                   const test::TestContext context;
                   std::vector<FilledArray> filled;
                   for (std::size_t place = 0; place < places.size(); ++place) {
                     filled.insert(filled.end(), counts[place], {1, places[place]});
                   }
                   const ClippingInterval interval = draw(filled, context);
                   return {interval.low, interval.high};
                 });
}

void levy(Report& report) {
  for (const std::uint32_t half_width : {kOne / 16, kOne / 5, kOne / 2}) {
    for (const double epsilon : {0.5, 4.0, 20.0}) {
      compare_intervals(
          report, text("levy, epsilon %g", epsilon), {0, kOne / 3, kOne / 2, kOne},
          report.by_effort(5U, 9U), epsilon,
          [&](const std::vector<FilledArray>& arrays, const MechanismContext& context) {
            return draw_levy_interval(arrays, half_width, epsilon, context);
          });
    }
  }
}

void windows(Report& report) {
  for (const std::uint64_t clipped : {0U, 1U, 2U}) {
    for (const double epsilon : {1.0, 12.0}) {
      const WindowPlan plan{8, clipped, report.by_effort(1U, 2U), 1.5};
      compare_intervals(
          report, text("windows, epsilon %g", epsilon), {0, kOne / 3, kOne / 2, kOne},
          report.by_effort(4U, 7U), epsilon,
          [&](const std::vector<FilledArray>& arrays, const MechanismContext& context) {
            return draw_window_interval(arrays, plan, epsilon, context);
          });
    }
  }
}

}  // namespace

std::vector<Check> user_checks() {
  return {{"user-level means", means},      {"user-level variances", variances},
          {"user-level, bounded", bounded}, {"user-level, grids", grids},
          {"intervals, levy", levy},        {"intervals, windows", windows}};
}

}  // namespace dpquantile::exhaustive
