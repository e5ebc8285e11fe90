#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "adversary/checks.hpp"
#include "adversary/neighbours.hpp"
#include "core/contributions/grid_suppression.hpp"
#include "core/contributions/user_sensitivity.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/user_level/auto_method.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/budget_split.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/interval_law.hpp"

// What protects all rows of a user: docs/privacy.md, "User-level means and variances".
namespace dpquantile::adversary {

namespace {

constexpr std::uint32_t kOne = FixedPoint::kOne;

std::uint32_t draw_value(Search& search) {
  return search.pick({0U, 0U, kOne, kOne, 1U, kOne - 1, kOne / 2, kOne / 4 + 1,
                      static_cast<std::uint32_t>(search.below(kOne + 1ULL))});
}

PrivacyParameter draw_privacy(Search& search) {
  if (search.chance(0.5)) {
    return zcdp(search.chance(0.2) ? search.pick({kMinRho, kMaxRho})
                                   : search.log_uniform(kMinRho, kMaxRho));
  }
  return pure(search.chance(0.2) ? search.pick({kMinEpsilon, kMaxEpsilon})
                                 : search.log_uniform(kMinEpsilon, kMaxEpsilon));
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return std::max(a, b) - std::min(a, b);
}

// Rows of users, mostly with ties, and the same with other values of one user, who has as many.
struct ReplacedUser {
  std::vector<UserRow> rows;
  std::vector<UserRow> replaced;
};

ReplacedUser draw_replaced(Search& search, std::uint32_t grids) {
  ReplacedUser pair;
  const std::uint64_t users = 1 + search.below(search.chance(0.1) ? 40 : 6);
  const std::uint64_t most_rows = 1 + search.below(7);
  const std::uint32_t tied = draw_value(search);
  const std::uint64_t who = search.below(users);
  const std::uint32_t to = draw_value(search);
  for (std::uint64_t user = 0; user < users; ++user) {
    const std::uint64_t hash = search.below(~0ULL);
    const std::uint64_t rows = search.chance(0.1) ? 30 : 1 + search.below(most_rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
      UserRow row{hash, static_cast<std::uint32_t>(search.below(grids)),
                  search.chance(0.6) ? tied : draw_value(search)};
      pair.rows.push_back(row);
      if (user == who) row.value = search.chance(0.7) ? to : draw_value(search);
      pair.replaced.push_back(row);
    }
  }
  return pair;
}

// Statistics differ by what is told at most, and what is told is public: the same for both.
void compare_statistics(Search& search) {
  ReplacedUser pair = draw_replaced(search, 1);
  const UserRows one(pair.rows, Contribution::kUser, search.work());
  const UserRows other(pair.replaced, Contribution::kUser, search.work());
  const std::uint64_t bound = search.chance(0.1) ? 1000 : 1 + search.below(8);
  CancelPoll& cancel = search.work().cancel;
  const auto require = [&](const IntegerQuery& a, const IntegerQuery& b, const char* what) {
    if (a.sensitivity == b.sensitivity && distance(a.answer, b.answer) <= a.sensitivity) return;
    search.report(
        text("%s of %zu users with at most %llu rows: %llu and %llu, %llu and %llu are told", what,
             one.size(), static_cast<unsigned long long>(bound),
             static_cast<unsigned long long>(a.answer), static_cast<unsigned long long>(b.answer),
             static_cast<unsigned long long>(a.sensitivity),
             static_cast<unsigned long long>(b.sensitivity)));
  };
  require(kept_mean(one, bound, cancel), kept_mean(other, bound, cancel), "mean");
  const KeptRows kept = one.kept(bound, cancel);
  const KeptRows kept_of_other = other.kept(bound, cancel);
  require(variance_query(kept.moments, kept.most),
          variance_query(kept_of_other.moments, kept_of_other.most), "variance");
  const auto arrays = fill_arrays(one, bound, search.work());
  const auto arrays_of_other = fill_arrays(other, bound, search.work());
  int moved = 0;
  bool are_alike = arrays.size() == arrays_of_other.size();
  for (std::size_t i = 0; are_alike && i < arrays.size(); ++i) {
    are_alike = arrays[i].rows == arrays_of_other[i].rows;
    moved += arrays[i].sum != arrays_of_other[i].sum ? 1 : 0;
  }
  if (!are_alike || moved > 1) search.report(text("one user moves %d arrays", moved));
  if (!are_alike) return;
  for (int i = 0; i < 3; ++i) {
    const auto [low, high] = std::minmax({draw_value(search), draw_value(search)});
    require(clipped_mean(arrays, {low, high}), clipped_mean(arrays_of_other, {low, high}),
            "clipped mean");
  }
  const RowsPerUser counts(one, search.work());
  const RowsPerUser counts_of_other(other, search.work());
  const UserQuery query{UserMethod::kAuto, ContributionRule::kOptimal, 0, draw_privacy(search)};
  const UserQuery chosen = chosen_mean_query(query, counts);
  const UserQuery chosen_of_other = chosen_mean_query(query, counts_of_other);
  if (chosen.method != chosen_of_other.method ||
      mean_contribution_bound(chosen, counts) !=
          mean_contribution_bound(chosen_of_other, counts_of_other)) {
    search.report("method auto depends on a value");
  }
}

// Adding a user with all rows.
void compare_bounded_sums(Search& search) {
  ReplacedUser pair = draw_replaced(search, 1);
  std::vector<UserRow> rows = pair.rows;
  const std::uint64_t hash = search.below(~0ULL);
  const std::uint32_t tied = draw_value(search);
  for (std::uint64_t i = 1 + search.below(9); i > 0; --i) {
    rows.push_back({hash, 0, search.chance(0.7) ? tied : draw_value(search)});
  }
  const PrivacyParameter privacy = draw_privacy(search);
  const std::uint64_t contributions = search.pick({1ULL, 2ULL, 3ULL, 5ULL, 8ULL, 4294967295ULL});
  const unsigned parts = search.pick({kMeanParts, kVarianceParts});
  const BoundedUnits units = bounded_units(parts, contributions, privacy);
  const UserRows one(pair.rows, Contribution::kUser, search.work());
  const UserRows other(rows, Contribution::kUser, search.work());
  const BoundedSums before = bounded_sums(one, units, search.work().cancel);
  const BoundedSums after = bounded_sums(other, units, search.work().cancel);
  const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
  long double norm = 0;
  for (unsigned i = 0; i < parts; ++i) {
    const auto change = static_cast<long double>(distance(before.parts[i], after.parts[i]));
    norm += is_zcdp ? change * change : change;
  }
  if (is_zcdp) norm = std::sqrt(norm);
  if (norm <= static_cast<long double>(units.sensitivity)) return;
  search.report(
      text("%u parts, at most %llu rows, %s %.17g: a user moves the sums by %.12Lg, %llu is "
           "told",
           parts, static_cast<unsigned long long>(contributions), parameter_name(privacy.measure),
           privacy.value, norm, static_cast<unsigned long long>(units.sensitivity)));
}

// ---- The laws of private intervals
// -----------------------------------------------------------------

// The means of arrays at the borders of bins and cells, many of them equal.
std::vector<FilledArray> draw_arrays(Search& search, std::uint64_t width) {
  std::vector<FilledArray> arrays(1 + search.below(search.chance(0.2) ? 300 : 12));
  const std::uint32_t tied = draw_value(search);
  for (FilledArray& array : arrays) {
    const std::uint64_t rows = 1 + search.below(4);
    std::uint64_t mean = search.chance(0.6) ? tied : draw_value(search);
    if (search.chance(0.3)) {
      const std::uint64_t border = search.below(kOne / width + 1) * width;
      mean = std::min<std::uint64_t>(border - search.below(2) * (border > 0 ? 1 : 0), kOne);
    }
    array = {rows, rows * mean};
  }
  return arrays;
}

// The stated laws on neighbours, and how often the program that draws takes an interval that begins
// up to some point.
template <class Draw>
void compare_intervals(Search& search, const test::IntervalLaw& law,
                       const test::IntervalLaw& neighbour, double epsilon, Draw draw,
                       const std::string& what) {
  constexpr long double kSubnormal = 1e-200L;  // the laws are made of doubles
  long double least = 0;
  long double most = 0;
  for (const auto& [interval, probability] : law) {
    const auto at = neighbour.find(interval);
    if (at == neighbour.end() || probability < kSubnormal || at->second < kSubnormal) continue;
    const long double loss = std::log(probability / at->second);
    least = std::min(least, loss);
    most = std::max(most, loss);
  }
  constexpr long double kRounding = 1e-12L;  // the law of levy uses all of epsilon
  if (most - least > epsilon * (1 + kRounding) + kRounding) {
    search.report(what +
                  text(": the range of the loss is %.12Lg, epsilon %.12g", most - least, epsilon));
  }
  const auto chosen = std::next(law.begin(), static_cast<std::ptrdiff_t>(search.below(law.size())));
  const ClippingInterval by_chance = draw();
  const auto border = search.chance(0.5) ? chosen->first : std::pair(by_chance.low, by_chance.high);
  long double expected = 0;
  for (const auto& [interval, probability] : law) {
    if (interval <= border) expected += probability;
  }
  constexpr std::uint64_t kDraws = 300;
  std::uint64_t drawn = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const ClippingInterval interval = draw();
    drawn += std::pair(interval.low, interval.high) <= border ? 1 : 0;
  }
  const auto p = static_cast<double>(std::min(expected, 1.0L));
  // The weights are drawn with 40 bits or more, and doubles sum up the law.
  if (p < 1e-12 || p > 1 - 1e-12) {
    if (drawn == (p > 0.5 ? kDraws : 0)) return;
  }
  if (test::binomial_p_value(drawn, kDraws, p) > search.next_false_alarm()) return;
  search.report(what + text(": %llu of %llu intervals are up to %u, %u, with a probability of %.9g",
                            static_cast<unsigned long long>(drawn),
                            static_cast<unsigned long long>(kDraws), border.first, border.second,
                            p));
}

std::vector<FilledArray> with_one_replaced(Search& search, std::vector<FilledArray> arrays) {
  FilledArray& array = arrays[search.below(arrays.size())];
  array.sum = array.rows * draw_value(search);
  return arrays;
}

void compare_levy(Search& search) {
  const auto half_width = static_cast<std::uint32_t>(
      search.chance(0.2) ? kOne / 2 : search.log_uniform(0x1p22, kOne / 2));
  const std::vector<FilledArray> arrays = draw_arrays(search, 2ULL * half_width);
  const std::vector<FilledArray> neighbour = with_one_replaced(search, arrays);
  const double epsilon = search.log_uniform(1e-6, 30);
  compare_intervals(
      search, test::law_of_levy(arrays, half_width, epsilon),
      test::law_of_levy(neighbour, half_width, epsilon), epsilon,
      [&] { return draw_levy_interval(arrays, half_width, epsilon, search.context()); },
      text("levy, %zu arrays, half width %u, epsilon %.17g", arrays.size(), half_width, epsilon));
}

std::vector<double> means_of(const std::vector<FilledArray>& arrays) {
  std::vector<double> means;
  for (const FilledArray& array : arrays) {
    means.push_back(static_cast<double>(array.sum / array.rows) / kOne);
  }
  return means;
}

void compare_windows(Search& search) {
  const std::vector<FilledArray> arrays = draw_arrays(search, kOne / test::kWindowCells);
  const std::vector<FilledArray> neighbour = with_one_replaced(search, arrays);
  const WindowPlan plan{7, search.below(arrays.size() / 10 + 2),
                        static_cast<unsigned>(2 + search.below(6)),
                        1 + 0.25 * static_cast<double>(search.below(17))};
  const double epsilon = search.log_uniform(1e-6, 20);
  compare_intervals(
      search, test::law_of_windows(means_of(arrays), plan, epsilon),
      test::law_of_windows(means_of(neighbour), plan, epsilon), epsilon,
      [&] { return draw_window_interval(arrays, plan, epsilon, search.context()); },
      text("windows, %zu arrays, %llu clipped, finest %u, theta %g, epsilon %.17g", arrays.size(),
           static_cast<unsigned long long>(plan.clipped), plan.finest, plan.narrow_preference,
           epsilon));
}

// ---- Answers
// ---------------------------------------------------------------------------------------

Events thresholds(std::uint32_t answer) {
  Events events;
  for (const std::uint32_t at : {0U, kOne / 16, kOne / 8, kOne / 4, kOne / 2, kOne - 1}) {
    events.push_back(text(answer > at ? "above %u" : "up to %u", at));
  }
  return events;
}

void refute_users(Search& search) {
  const UserMethod method = search.pick(
      {UserMethod::kBaseline, UserMethod::kArray, UserMethod::kLevy, UserMethod::kQuantile,
       UserMethod::kQuantileAdaptive, UserMethod::kBounded, UserMethod::kAuto});
  const PrivacyParameter privacy =
      search.chance(0.6) ? pure(search.log_uniform(0.3, 8)) : zcdp(search.log_uniform(0.05, 4));
  UserQuery query{method, ContributionRule::kOptimal, 0, privacy};
  if (method == UserMethod::kBounded)
    query = {method, ContributionRule::kFixed, 1 + search.below(3), privacy};
  const bool is_mean = !(method == UserMethod::kBaseline || method == UserMethod::kArray ||
                         method == UserMethod::kBounded) ||
                       search.chance(0.5);
  const std::uint64_t users = 1 + search.below(search.chance(0.5) ? 3 : 60);
  const std::uint32_t tied = search.pick({0U, kOne, kOne / 2});
  std::vector<UserRow> rows;
  for (std::uint64_t user = 1; user < users; ++user) {
    for (std::uint64_t i = 1 + search.below(3); i > 0; --i) rows.push_back({user << 40, 0, tied});
  }
  std::vector<UserRow> other = rows;
  const std::uint64_t rows_of_user = 1 + search.below(4);
  for (std::uint64_t i = 0; i < rows_of_user; ++i) {
    other.push_back({users << 40, 0, kOne - tied});
    if (method != UserMethod::kBounded) rows.push_back({users << 40, 0, tied});
  }
  const UserRows grouped(rows, Contribution::kUser, search.work());
  const UserRows grouped_other(other, Contribution::kUser, search.work());
  const auto draw_of = [&](const UserRows& data) -> DrawEvents {
    return [&] {
      return thresholds(is_mean ? user_mean(data, query, search.context())
                                : user_variance(data, query, search.context()));
    };
  };
  const std::string refuted = refute_claim(search, draw_of(grouped), draw_of(grouped_other),
                                           test::claim_of(privacy), 200, 4000);
  if (refuted.empty()) return;
  search.report(refuted + text(": user method %d, %s, %llu users, %s %.17g",
                               static_cast<int>(method), is_mean ? "mean" : "variance",
                               static_cast<unsigned long long>(users),
                               parameter_name(privacy.measure), privacy.value));
}

// One user's values move the statistics of the user's grids only, which are at most as many as the
// guarantee is divided by.
void compare_grids(Search& search) {
  const auto grids = 1 + static_cast<std::uint32_t>(search.below(5));
  ReplacedUser pair = draw_replaced(search, grids);
  const UserRows one(pair.rows, Contribution::kUserInGrid, search.work());
  const UserRows other(pair.replaced, Contribution::kUserInGrid, search.work());
  std::vector<Occupancy> occupancies;
  std::uint32_t user = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (i > 0 && one.user(i) != one.user(i - 1)) ++user;
    occupancies.push_back({user, one.grid(i), one.count(i)});
  }
  const double epsilon = search.log_uniform(kMinEpsilon, kMaxEpsilon);
  const Suppression suppression = search.chance(0.8)
                                      ? chop_users(occupancies, grids, epsilon, search.work())
                                      : keep_all_users(occupancies, grids, epsilon, search.work());
  std::vector<RowMoments> of_one(grids);
  std::vector<RowMoments> of_other(grids);
  std::vector<std::uint32_t> grids_of_users(user + 1);
  for (std::size_t i = 0; i < occupancies.size(); ++i) {
    if (suppression.kept[i] == 0) continue;
    ++grids_of_users[occupancies[i].user];
    of_one[occupancies[i].grid].add(one.kept(i, ~0ULL, search.work().cancel));
    of_other[occupancies[i].grid].add(other.kept(i, ~0ULL, search.work().cancel));
  }
  std::uint32_t moved = 0;
  for (std::uint32_t grid = 0; grid < grids; ++grid) {
    const GridCounts& counts = suppression.grids[grid];
    if (counts.kept == 0) continue;
    moved +=
        of_one[grid].sum != of_other[grid].sum || of_one[grid].squares != of_other[grid].squares;
    const IntegerQuery variance = variance_query(of_one[grid], counts.most);
    const IntegerQuery variance_of_other = variance_query(of_other[grid], counts.most);
    const std::uint64_t told = mean_sensitivity(counts.kept, counts.most);
    if (distance(of_one[grid].sum / counts.kept, of_other[grid].sum / counts.kept) > told ||
        distance(variance.answer, variance_of_other.answer) > variance.sensitivity) {
      search.report(text("grid %u of %u moves farther than is told", grid, grids));
    }
  }
  const std::uint32_t most = *std::ranges::max_element(grids_of_users);
  if (most > suppression.grids_per_user || moved > suppression.grids_per_user) {
    search.report(text("a user is in %u grids and moves %u, %u are told", most, moved,
                       suppression.grids_per_user));
  }
}

}  // namespace

std::vector<Check> user_checks() {
  const std::vector<Mechanism> means = {
      Mechanism::kBaselineOfUsers, Mechanism::kArrayOfUsers, Mechanism::kLevyOfUsers,
      Mechanism::kQuantileOfUsers, Mechanism::kAutoOfUsers,  Mechanism::kAdaptiveQuantileOfUsers,
      Mechanism::kBoundedUsers};
  return {
      {"users, statistics of neighbours", means, compare_statistics, 1000},
      {"users, bounded sums of neighbours", {Mechanism::kBoundedUsers}, compare_bounded_sums, 1000},
      {"users, law of levy", {Mechanism::kLevyOfUsers}, compare_levy, 40},
      {"users, law of windows",
       {Mechanism::kQuantileOfUsers, Mechanism::kAdaptiveQuantileOfUsers},
       compare_windows,
       10},
      {"users, means and variances", means, refute_users, 10},
      {"users, grids of neighbours", {Mechanism::kGridsOfUsers}, compare_grids, 500}};
}

}  // namespace dpquantile::adversary
