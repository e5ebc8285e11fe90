#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "adversary/checks.hpp"
#include "adversary/laplace_law.hpp"
#include "core/noisy_histogram/closer_look.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/noisy_histogram/ordinal_grid.hpp"
#include "support/confidence.hpp"

// Bounds by up to two looks: docs/privacy.md, "A closer look".
namespace dpquantile::adversary {

namespace {

constexpr int kParts = 4;

// P[Z <= z] for what noise of this scale has more than noise of a quarter of it: Lemma N1.
double more_below(double scale, double z) {
  const double q = std::exp(-1 / scale);
  const double nothing = std::pow(q, kParts - 1) * (1 - q) / (1 - std::pow(q, kParts));
  const double geometric = 1 - nothing;
  const double up = z < 0 ? 0 : 1 - std::pow(q, z + 1);
  const double down = z < 0 ? std::pow(q, -z) : 1;
  return nothing * nothing * (z < 0 ? 0 : 1) + nothing * geometric * (up + down) +
         geometric * geometric * laplace_below(scale, z);
}

// A count with noise for all of epsilon, and with noise for a quarter: from which of these on, in
// units of the noise, an end moves over the cell that is beside it, or the next one.
constexpr std::array<double, 2> kNearLevels = {3, 4};
constexpr std::size_t kRegions = kNearLevels.size() + 1;

// The probabilities that `count` is below the first level, between both or above with all of
// epsilon, and likewise with a quarter of it.
using Regions = std::array<std::array<double, kRegions>, kRegions>;

Regions regions_of(double count, double epsilon) {
  const double whole = 1 / epsilon;
  const double part = kParts / epsilon;
  const auto both_below = [&](double of_whole, double of_part) {
    const double far = std::ceil(45 * whole);
    double sum = 0;
    for (double x = std::min(std::ceil(of_whole - count) - 1, far); x >= -far; --x) {
      sum += laplace_chance(whole, x) * more_below(part, std::ceil(of_part - count) - 1 - x);
    }
    return sum;
  };
  std::array<std::array<double, kRegions + 1>, kRegions + 1> below{};
  for (std::size_t i = 1; i <= kRegions; ++i) {
    for (std::size_t j = 1; j <= kRegions; ++j) {
      constexpr double kAny = 1e9;
      below[i][j] = both_below(i < kRegions ? kNearLevels[i - 1] * whole : kAny,
                               j < kRegions ? kNearLevels[j - 1] * part : kAny);
    }
  }
  Regions regions;
  for (std::size_t i = 0; i < kRegions; ++i) {
    for (std::size_t j = 0; j < kRegions; ++j) {
      regions[i][j] = below[i + 1][j + 1] - below[i][j + 1] - below[i + 1][j] + below[i][j];
    }
  }
  return regions;
}

// The grid of four cells, of which the second has so many values that noise does not matter.
constexpr OrdinalGrid kFour(0, 0, 1);
constexpr std::uint32_t kHeavy = 1;

// The ends by the regions of the first, third and fourth cell.
std::pair<int, int> ends_of(std::size_t first, std::size_t third, std::size_t fourth) {
  const int lower = first > 0 ? 0 : 1;
  if (third > 0) return {lower, fourth > 0 ? 4 : 3};
  return {lower, fourth > 1 ? 4 : 2};
}

// What the first look tells: the ends, and whether a closer look is to come.
struct Told {
  int lower;
  int upper;
  bool closer;

  bool operator==(const Told&) const = default;
};

double chance_of(const Told& told, const std::array<Regions, 3>& cells) {
  double sum = 0;
  constexpr std::size_t kPairs = kRegions * kRegions;
  for (std::size_t code = 0; code < kPairs * kPairs * kPairs; ++code) {
    std::array<std::size_t, 3> whole{};
    std::array<std::size_t, 3> part{};
    double chance = 1;
    std::size_t rest = code;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      whole[cell] = rest % kRegions;
      part[cell] = rest / kRegions % kRegions;
      rest /= kPairs;
      chance *= cells[cell][whole[cell]][part[cell]];
    }
    const auto [lower, upper] = ends_of(part[0], part[1], part[2]);
    const bool closer = upper - lower <= 2;
    const auto ends = closer ? std::pair(lower, upper) : ends_of(whole[0], whole[1], whole[2]);
    if (Told{ends.first, ends.second, closer} == told) sum += chance;
  }
  return sum;
}

Told told_by(const FirstLook& first) {
  const LearnedBounds bounds = first.closer ? first.closer->found : *first.bounds;
  return {static_cast<int>(bounds.lower) + 2, static_cast<int>(bounds.upper) + 2,
          first.closer.has_value()};
}

bool depends_on_rounding(double threshold) {
  return std::abs(threshold - std::round(threshold)) < 1e-6;
}

// With one heavy cell and three next to what moves an end, the law of the first look is known: it
// tells the ends by noise for a quarter, or, where they are more than two cells apart, those by
// less noise in the same counts.
void compare_first_look(Search& search) {
  const double epsilon = search.log_uniform(1e-2, 4);
  for (const double level : kNearLevels) {
    if (depends_on_rounding(level / epsilon) || depends_on_rounding(kParts * level / epsilon)) {
      return;
    }
  }
  const auto many = static_cast<std::uint64_t>(1000 / epsilon) + 1;
  const auto few = [&](double low, double high) {
    return static_cast<std::uint64_t>(search.uniform(low, high) / epsilon);
  };
  std::vector<std::uint64_t> counts(kFour.cells());
  counts[kHeavy] = many;
  if (search.chance(0.5)) {
    // The first cell alone decides whether a closer look is to come, and is the lower end by less
    // noise in the same count.
    counts[2] = many;
    counts[0] = few(1, 4);
  } else {
    for (const std::size_t cell : {0, 2, 3}) counts[cell] = search.chance(0.3) ? 0 : few(0, 16);
  }
  const auto regions = [&](std::size_t cell) {
    return regions_of(static_cast<double>(counts[cell]), epsilon);
  };
  const std::array<Regions, 3> cells = {regions(0), regions(2), regions(3)};
  constexpr std::uint64_t kRuns = 40'000;
  std::vector<Told> answers;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    answers.push_back(
        told_by(look_for_bounds(kFour, counts, epsilon, {-2, 2, 0}, search.context())));
  }
  for (const bool closer : {false, true}) {
    for (const int lower : {0, 1}) {
      for (const int upper : {2, 3, 4}) {
        const Told told{lower, upper, closer};
        const auto seen = static_cast<std::uint64_t>(std::ranges::count(answers, told));
        const double chance = std::clamp(chance_of(told, cells), 0.0, 1.0);
        if (test::binomial_p_value(seen, kRuns, chance) > search.next_false_alarm()) continue;
        search.report(text(
            "epsilon %.17g, %llu, %llu and %llu values beside many: cells %d to %d %s "
            "in %llu of %llu runs, with a probability of %.9g",
            epsilon, static_cast<unsigned long long>(counts[0]),
            static_cast<unsigned long long>(counts[2]), static_cast<unsigned long long>(counts[3]),
            lower, upper - 1, closer ? "before a closer look" : "alone",
            static_cast<unsigned long long>(seen), static_cast<unsigned long long>(kRuns), chance));
      }
    }
  }
}

// On two cells, the second look finds nothing if neither count is 30 times its noise, which is that
// of three quarters.
void compare_second_look(Search& search) {
  const double epsilon = search.log_uniform(1e-3, 20);
  const double spread = kParts / (epsilon * (kParts - 1));
  const double threshold = 30 * spread;
  if (depends_on_rounding(threshold)) return;
  std::uint64_t counts[2];
  double none = 1;
  for (std::uint64_t& count : counts) {
    count = static_cast<std::uint64_t>(
        search.pick({0.0, std::max(0.0, threshold + search.uniform(-2, 2) * spread)}));
    none *= laplace_below(spread, std::floor(threshold) - static_cast<double>(count));
  }
  const CloserLook look{OrdinalGrid(0, 0, 0), 0, {-3, 3}};
  constexpr std::uint64_t kRuns = 400;
  std::uint64_t without = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    without += look_closer(look, counts, epsilon, search.context()) == look.found;
  }
  if (test::binomial_p_value(without, kRuns, std::clamp(none, 0.0, 1.0)) >
      search.next_false_alarm()) {
    return;
  }
  search.report(
      text("epsilon %.17g, %llu and %llu values: nothing found in %llu of %llu second "
           "looks, with a probability of %.9g",
           epsilon, static_cast<unsigned long long>(counts[0]),
           static_cast<unsigned long long>(counts[1]), static_cast<unsigned long long>(without),
           static_cast<unsigned long long>(kRuns), none));
}

// Values, and how many of each.
using CountedValues = std::vector<std::pair<double, std::uint64_t>>;

std::vector<std::uint64_t> counts_of(const CountedValues& values, std::uint32_t cells,
                                     auto cell_of) {
  std::vector<std::uint64_t> counts(cells);
  for (const auto& [value, count] : values) counts[cell_of(value)] += count;
  return counts;
}

std::optional<LearnedBounds> bounds_by_looks(const OrdinalGrid& grid, const CountedValues& values,
                                             double epsilon, const MechanismContext& context) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const FirstLook first = look_for_bounds(
      grid, counts_of(values, grid.cells(), [&](double value) { return grid.cell_of(value); }),
      epsilon, {-kMost, kMost, 0}, context);
  if (!first.closer) return first.bounds;
  const CloserLook& look = *first.closer;
  return look_closer(
      look, counts_of(values, look.grid.cells(), [&](double value) { return look.cell_of(value); }),
      epsilon, context);
}

// Values in one or two cells, mostly, and some in others far from there, of which some are just as
// many as noise may be.
CountedValues close_values(Search& search, const OrdinalGrid& grid, double spread) {
  CountedValues values;
  for (std::uint64_t clusters = search.below(4); clusters > 0; --clusters) {
    const auto begin = static_cast<std::uint32_t>(search.below(grid.cells() - 2));
    const double narrow = search.pick({0.0, 1e-9, 0.1, 1.0});
    const double width = grid.edge(begin + 1) - grid.edge(begin);
    const double from = grid.edge(begin) + search.uniform(0, 1) * width;
    for (std::uint64_t i = 1 + search.below(40); i > 0; --i) {
      const double records = spread * search.pick({0.5, 2.0, 11.0, 29.0, 121.0, 1e4});
      const double value = from + search.uniform(0, narrow) * width;
      if (!std::isfinite(value)) continue;
      values.emplace_back(value, static_cast<std::uint64_t>(records) + 1);
    }
  }
  return values;
}

// No bound is more than six octaves beyond all values, or nine times as far from the middle of the
// first look as all values are (Theorem 25c with D = 40 for each look). That middle is within two
// cells of a value.
void reach_of_looks(Search& search) {
  const OrdinalGrid grid(3, -123, 1024);
  constexpr std::uint32_t kBeyond = 8 + 40;
  constexpr double kMostLikely = 3e-7;  // of both looks, 130 000 cells of a second one included
  const double epsilon = search.log_uniform(1e-2, 20);
  const CountedValues values = close_values(search, grid, 1 / epsilon);
  double least = 0;
  double most = 0;
  if (!values.empty()) {
    const auto [lowest, highest] = std::ranges::minmax(values);
    const auto edge = [&](std::int64_t cell) {
      return grid.edge(static_cast<std::uint32_t>(std::clamp<std::int64_t>(cell, 0, grid.cells())));
    };
    const std::int64_t first = grid.cell_of(lowest.first);
    const std::int64_t last = grid.cell_of(highest.first);
    const double apart = edge(last + 3) / 8 - edge(first - 2) / 8;
    least = std::min(edge(first - kBeyond), 8 * (lowest.first / 8 - 8 * apart));
    most = std::max(edge(last + 1 + kBeyond), 8 * (highest.first / 8 + 8 * apart));
  }
  constexpr std::uint64_t kRuns = 100;
  std::uint64_t absurd = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    const auto bounds = bounds_by_looks(grid, values, epsilon, search.context());
    if (!bounds) continue;
    const double rounding =
        std::ldexp(std::max(std::abs(bounds->lower), std::abs(bounds->upper)), -11);
    absurd += values.empty() || bounds->upper - rounding > most || bounds->lower + rounding < least;
  }
  if (test::binomial_p_value(absurd, kRuns, kMostLikely) > search.next_false_alarm()) return;
  search.report(text("epsilon %.17g: %llu of %llu bounds are far beyond %.17g to %.17g", epsilon,
                     static_cast<unsigned long long>(absurd),
                     static_cast<unsigned long long>(kRuns), least, most));
}

}  // namespace

std::vector<Check> look_checks() {
  const auto all = {Mechanism::kCloseBounds};
  return {{"close bounds, first look", all, compare_first_look, 2},
          {"close bounds, second look", all, compare_second_look, 20},
          {"close bounds, reach", all, reach_of_looks, 3}};
}

}  // namespace dpquantile::adversary
