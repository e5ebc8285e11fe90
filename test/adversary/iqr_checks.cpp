#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>

#include "adversary/checks.hpp"
#include "adversary/neighbours.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_plan.hpp"

// The interquartile range by propose-test-release: docs/privacy.md, "Interquartile range".
namespace dpquantile::adversary {

namespace {

double draw_value(Search& search, const LogGrid& grid) {
  if (search.chance(0.4)) {
    const auto most = static_cast<std::uint64_t>(std::min<std::int64_t>(grid.last(), 3000));
    const double value = grid.value(static_cast<std::int64_t>(search.below(2 * most + 1)) -
                                    static_cast<std::int64_t>(most));
    return search.chance(0.5) ? value : std::nextafter(value, search.pick({0.0, DBL_MAX}));
  }
  return search.pick({0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 2.0, 1 + 1e-9, 1e-300, DBL_MIN, 4.9e-324,
                      -4.9e-324, DBL_MAX, -DBL_MAX, DBL_MAX / 2, -DBL_MAX / 2});
}

LogGrid draw_grid_of_logs(Search& search) {
  if (search.chance(0.5)) return LogGrid::of_unit(search.log_uniform(LogGrid::kLeastUnit, 1));
  return LogGrid(static_cast<std::uint64_t>(search.log_uniform(3, 0x1p60)));
}

// Lemma 9: the distances of neighbours differ by at most 1; where one is above 1, both are in one
// bin, and so their steps differ by less than a bin has.
void compare_distances(Search& search) {
  const LogGrid grid = draw_grid_of_logs(search);
  std::vector<double> records(search.below(search.chance(0.1) ? 41 : 13));
  for (double& record : records) record = draw_value(search, grid);
  std::vector<double> neighbour = records;
  const std::uint64_t change = search.below(3);
  if (change == 0 || records.empty()) {
    neighbour.push_back(draw_value(search, grid));
  } else if (change == 1) {
    neighbour.erase(neighbour.begin() + static_cast<std::ptrdiff_t>(search.below(records.size())));
  } else {
    neighbour[search.below(neighbour.size())] = draw_value(search, grid);
  }
  std::ranges::sort(records);
  std::ranges::sort(neighbour);
  const OrderStatistics one(records);
  const OrderStatistics other(neighbour);
  for (int d = 0; d < kDiscretisations; ++d) {
    const IqrBin bin = grid.bin_of(one.interquartile_range(), d);
    const IqrBin other_bin = grid.bin_of(other.interquartile_range(), d);
    const auto distance =
        static_cast<std::int64_t>(distance_to_instability(bin, one, search.work().cancel));
    const auto other_distance =
        static_cast<std::int64_t>(distance_to_instability(other_bin, other, search.work().cancel));
    const bool is_stable = distance > 1 || other_distance > 1;
    bool holds = std::abs(distance - other_distance) <= 1 && distance >= 1 && other_distance >= 1 &&
                 (!is_stable || bin == other_bin);
    const double range = one.interquartile_range();
    const double other_range = other.interquartile_range();
    if (holds && bin == other_bin && range > 0 && other_range > 0) {
      holds = std::abs(grid.step_of(range) - grid.step_of(other_range)) < LogGrid::kStepsPerUnit;
    }
    if (holds) continue;
    std::string all;
    for (const double record : records) all += text(" %.17g", record);
    all += " and";
    for (const double record : neighbour) all += text(" %.17g", record);
    search.report(text("discretisation %d of unit %.17g: distances %lld and %lld for", d,
                       grid.unit(), static_cast<long long>(distance),
                       static_cast<long long>(other_distance)) +
                  all);
    return;
  }
}

// What the stages spend, and how often their tests err.
void add_up_stages(Search& search) {
  const double epsilon = search.chance(0.2) ? search.pick({kMinEpsilon, kMaxEpsilon})
                                            : search.log_uniform(kMinEpsilon, kMaxEpsilon);
  const double delta = search.chance(0.2) ? search.pick({kMinIqrDelta, kMaxIqrDelta})
                                          : search.log_uniform(kMinIqrDelta, kMaxIqrDelta);
  const auto count = static_cast<std::uint64_t>(search.log_uniform(3, 0x1p61));
  const IqrPlan plan(count, epsilon, delta);
  const auto value = [](const Rational& rational) {
    return static_cast<long double>(rational.numerator) /
           static_cast<long double>(rational.denominator);
  };
  long double spent = value(iqr_count_epsilon(epsilon));
  long double most = 0;
  long double errs = 0;
  for (const IqrStage& stage : plan.stages()) {
    const long double test = value(stage.test);
    errs += std::exp(-test * static_cast<long double>(stage.margin + 1)) / (1 + std::exp(-test));
    spent += test;
    most = std::max(most, spent + value(stage.release));
  }
  if (errs > delta || most > epsilon) {
    search.report(text("epsilon %.17g, delta %.17g, count %llu: spends %.18Lg and %.18Lg", epsilon,
                       delta, static_cast<unsigned long long>(count), most, errs));
  }
}

// Ties that just decide the quartiles, and neighbours of them.
void refute_iqr_by_test(Search& search) {
  const double epsilon = search.log_uniform(0.5, 20);
  const double delta = search.log_uniform(1e-3, 0.3);
  const auto rows = 1 + search.below(search.chance(0.3) ? 400 : 12);
  std::vector<double> records(rows, 0.0);
  const std::uint64_t others = search.below(rows + 1);
  for (std::uint64_t i = 0; i < others; ++i) {
    records[i] = search.pick({1.0, -1.0, 1e300, 2.5});
  }
  std::vector<double> neighbour = records;
  if (search.chance(0.5)) {
    neighbour.push_back(search.pick({0.0, 1.0, 1e300}));
  } else {
    neighbour.back() = search.pick({1.0, -1.0, DBL_MAX});
  }
  const auto draw_of = [&](const std::vector<double>& data) -> DrawEvents {
    return [&search, &data, epsilon, delta] {
      std::vector<double> sorted = data;
      const auto answer = interquartile_range(sorted, epsilon, delta, search.context());
      if (!answer) return Events{"none"};
      return Events{*answer == 0 ? "0" : "above 0", *answer > 2 ? "above 2" : "up to 2"};
    };
  };
  const std::string refuted =
      refute_claim(search, draw_of(records), draw_of(neighbour), {epsilon, delta}, 200, 5000);
  if (refuted.empty()) return;
  std::string all = ": records";
  for (const double record : records) all += text(" %g", record);
  search.report(refuted + all);
}

}  // namespace

std::vector<Check> iqr_checks() {
  const std::vector<Mechanism> all = {Mechanism::kIqrByTest};
  return {{"iqr, distances of neighbours", all, compare_distances, 3000},
          {"iqr, stages", all, add_up_stages, 300},
          {"iqr by test", all, refute_iqr_by_test, 6}};
}

}  // namespace dpquantile::adversary
