#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "core/privacy/random.hpp"
#include "core/selection/group_selection.hpp"
#include "support/confidence.hpp"

// Tries to refute that GroupSelection is (epsilon, delta)-differentially private for adding or
// removing one row: by its exact law, with 1200 bits, for all numbers of rows or, if there are too
// many, for those where it changes most; and by draws, which must follow that law.
namespace dpquantile {
namespace {

using test::binomial_p_value;

using Exact = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<
    1200, boost::multiprecision::digit_base_2, void, std::int32_t, -(1 << 20), 1 << 20>>;

// The exact probability that a group is kept.
using KeepLaw = std::function<Exact(std::uint64_t rows)>;

KeepLaw law_of(const GroupSelection& selection) {
  return [&selection](std::uint64_t rows) {
    const auto [probability, kept] = selection.odds(rows);
    return kept ? Exact(probability) : 1 - Exact(probability);
  };
}

// Whether a group of `rows` and one of rows + 1 rows are (epsilon, delta)-indistinguishable.
bool keeps(const KeepLaw& law, std::uint64_t rows, const Exact& growth, double delta) {
  const Exact fewer = law(rows);
  const Exact more = law(rows + 1);
  const auto bounded = [&](const Exact& a, const Exact& b) { return a <= growth * b + delta; };
  return bounded(fewer, more) && bounded(more, fewer) && bounded(1 - fewer, 1 - more) &&
         bounded(1 - more, 1 - fewer);
}

// All numbers of rows up to a few above `always`, or those near 0, the forecasts and where the
// branch changes (about half of `always`), and others evenly.
std::set<std::uint64_t> rows_to_check(const GroupSelection& selection) {
  constexpr std::uint64_t kFew = 2000;
  constexpr std::uint64_t kNear = 150;
  const std::uint64_t always = selection.rows_always_kept();
  std::set<std::uint64_t> rows;
  const auto add_near = [&](std::uint64_t middle) {
    for (std::uint64_t i = 0; i < 2 * kNear; ++i) rows.insert(middle + i - std::min(middle, kNear));
  };
  if (always < kFew) {
    for (std::uint64_t i = 0; i < always + 3; ++i) rows.insert(i);
    return rows;
  }
  for (std::uint64_t low = 0, high = always; high - low > 1;) {
    const std::uint64_t middle = low + (high - low) / 2;
    (selection.odds(middle).kept ? low : high) = middle;
    if (high - low <= 2) add_near(middle);
  }
  for (const std::uint64_t middle :
       {std::uint64_t{0}, selection.rows_kept_half_the_time(), always}) {
    add_near(middle);
  }
  for (std::uint64_t i = 0; i < 500; ++i) rows.insert(always / 500 * i + i);
  return rows;
}

bool keeps_everywhere(const GroupSelection& selection, const KeepLaw& law, double epsilon,
                      double delta) {
  const Exact growth = exp(Exact(epsilon));
  for (const std::uint64_t rows : rows_to_check(selection)) {
    if (!keeps(law, rows, growth, delta)) return false;
  }
  return true;
}

constexpr double kEpsilons[] = {1e-6, 1e-4, 0.01, 0.1, 0.5, 1, 3, 10, 15.9, 16, 17, 1000};
constexpr double kDeltas[] = {1e-290, 1e-100, 1e-15, 1e-9, 1e-6, 1e-3, 0.1, 0.3, 0.5};

TEST(ExactSelectionLaw, KeepsEpsilonAndDelta) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const GroupSelection selection(epsilon, delta);
      EXPECT_TRUE(keeps_everywhere(selection, law_of(selection), epsilon, delta))
          << epsilon << " " << delta;
    }
  }
}

TEST(ExactSelectionLaw, NeedsAllOfDeltaAndUpTo16AllOfEpsilon) {
  for (const double epsilon : kEpsilons) {
    for (const double delta : kDeltas) {
      const GroupSelection selection(epsilon, delta);
      const KeepLaw law = law_of(selection);
      EXPECT_FALSE(keeps_everywhere(selection, law, epsilon, delta * (1 - 1e-5)));
      // Where delta is the larger one, its margin hides that of epsilon.
      if (epsilon > 16 || delta > epsilon || delta > 0.3) continue;
      EXPECT_FALSE(keeps_everywhere(selection, law, epsilon * (1 - 1e-5), delta))
          << epsilon << " " << delta;
    }
  }
}

TEST(SelectionPrivacyCheck, CatchesAGroupOfOneRowShownTwiceAsOften) {
  for (const double delta : kDeltas) {
    const GroupSelection selection(1, delta);
    const KeepLaw doubled = [&](std::uint64_t rows) {
      return (rows == 1 ? 2 : 1) * law_of(selection)(rows);
    };
    EXPECT_FALSE(keeps_everywhere(selection, doubled, 1, delta));
  }
}

TEST(SelectionPrivacyCheck, CatchesALargeGroupThatIsKeptTooSoon) {
  for (const double delta : kDeltas) {
    const GroupSelection selection(1, delta);
    const std::uint64_t always = selection.rows_always_kept();
    const KeepLaw hasty = [&](std::uint64_t rows) {
      return rows + 1 == always ? Exact(1) : law_of(selection)(rows);
    };
    if (1 - law_of(selection)(always - 2) <= delta) continue;
    EXPECT_FALSE(keeps_everywhere(selection, hasty, 1, delta));
  }
}

TEST(SelectionPrivacyCheck, CatchesTheSelectionOfAnotherGuarantee) {
  for (const double delta : kDeltas) {
    if (delta > 0.1) continue;
    const GroupSelection more_delta(1, delta * 1.01);
    const GroupSelection more_epsilon(1.01, delta);
    EXPECT_FALSE(keeps_everywhere(more_delta, law_of(more_delta), 1, delta));
    EXPECT_FALSE(keeps_everywhere(more_epsilon, law_of(more_epsilon), 1, delta));
  }
}

// The false-alarm probability of one check of the draws. There are fewer than 100.
constexpr double kFalseAlarm = 1e-9;

TEST(SelectionDraws, FollowTheLaw) {
  constexpr std::uint64_t kDraws = 100'000;
  CsprngSource source;
  RandomStream random(source);
  for (const double delta : {1e-6, 0.01, 0.3}) {
    const GroupSelection selection(0.5, delta);
    for (const std::uint64_t rows : {0U, 1U, 2U, 5U, 10U, 25U, 28U, 30U, 40U, 100U}) {
      std::uint64_t kept = 0;
      for (std::uint64_t i = 0; i < kDraws; ++i) kept += selection.draw_keep(rows, random);
      const double keep = selection.keep_probability(rows);
      if (keep == 0 || keep == 1) {
        EXPECT_EQ(kept, keep == 0 ? 0 : kDraws);
      } else {
        EXPECT_GT(binomial_p_value(kept, kDraws, keep), kFalseAlarm);
        if (keep > 0.02 && keep < 0.7) {
          EXPECT_LT(binomial_p_value(kept, kDraws, 1.3 * keep), kFalseAlarm);
        }
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
