#include "core/contributions/limited_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <new>
#include <random>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::chi_square_p_value;
using test::kFalseAlarm;
using test::sampled_p_value;
using test::TestWorkspace;

// A row by its user and the number of its values.
using Row = std::pair<std::uint64_t, std::uint8_t>;

std::vector<VectorHashFactors> factors_of(std::uint64_t key) {
  std::mt19937_64 generator(key);
  std::vector<VectorHashFactors> factors(3);
  for (VectorHashFactors& own : factors) {
    for (int i = 0; i < 2; ++i) {
      own.of_high[i] = generator();
      own.of_low[i] = generator();
    }
  }
  return factors;
}

using Hash = std::function<VectorHash(const Row&)>;

// The hash of a row's user and values under one of many keys.
Hash hash_under(std::uint64_t key) {
  return [factors = factors_of(key)](const Row& row) {
    VectorHasher hasher(factors[0]);
    hasher.add(factors[1], row.first);
    hasher.add(factors[2], row.second);
    return hasher.hash();
  };
}

// As many rows as users.
std::vector<RowChoice> choices_of(std::vector<std::uint64_t> users,
                                  const std::vector<VectorHash>& hashes, std::uint64_t most,
                                  const Workspace& work) {
  std::vector<RowChoice> choices(users.size());
  std::vector<std::size_t> places(users.size());
  std::vector<std::size_t> counts(users.size());
  const BeyondLimit beyond = count_rows_of_users(users, most, places, counts, work);
  std::vector<HashedRow> hashed(beyond.rows);
  for (std::size_t i = 0; i < users.size(); ++i) {
    std::size_t& place = places[as_size(users[i])];
    if (place == kWithinLimit) {
      choices[i] = RowChoice::kChosen;
    } else {
      hashed[place++] = {hashes[i], i};
    }
  }
  choose_beyond_limit(hashed, std::span(counts).first(beyond.users), most, choices, work);
  return choices;
}

// How often each row is chosen.
std::map<Row, std::uint64_t> chosen_rows(const std::vector<Row>& rows, std::uint64_t most,
                                         const Hash& hash) {
  std::vector<std::uint64_t> users;
  std::vector<VectorHash> hashes;
  for (const Row& row : rows) {
    users.push_back(row.first);
    hashes.push_back(hash(row));
  }
  TestWorkspace work;
  const std::vector<RowChoice> choices = choices_of(users, hashes, most, work);
  std::map<Row, std::uint64_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (choices[i] == RowChoice::kChosen) ++counts[rows[i]];
  }
  return counts;
}

std::map<Row, std::uint64_t> kept_rows(const std::vector<Row>& rows, std::uint64_t most,
                                       std::uint64_t key = 0) {
  return chosen_rows(rows, most, hash_under(key));
}

std::map<std::uint64_t, std::uint64_t> by_user(const std::map<Row, std::uint64_t>& kept) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const auto& [row, count] : kept) counts[row.first] += count;
  return counts;
}

// User u has u rows, some of them twice, in a mixed order.
std::vector<Row> some_rows(std::uint64_t users) {
  std::vector<Row> rows;
  for (std::uint64_t user = 1; user <= users; ++user) {
    for (std::uint64_t i = 0; i < user; ++i) {
      rows.emplace_back(user, static_cast<std::uint8_t>(i % 7 + i / 10));
    }
  }
  std::mt19937_64 generator(users);
  std::shuffle(rows.begin(), rows.end(), generator);
  return rows;
}

// One row more for a user would make the claimed epsilon wrong (threat 78).
TEST(LimitedRows, LeaveEachUserTheLimitAndNoRowMore) {
  const std::vector<Row> rows = some_rows(40);
  for (const std::uint64_t most : {1U, 2U, 3U, 20U, 39U, 40U, 100U}) {
    const auto kept = by_user(kept_rows(rows, most));
    ASSERT_EQ(kept.size(), 40U);
    for (const auto& [user, count] : kept) EXPECT_EQ(count, std::min(user, most)) << user;
  }
}

TEST(LimitedRows, DoNotDependOnTheOrderOfTheRows) {
  std::vector<Row> rows = some_rows(30);
  const auto kept = kept_rows(rows, 4);
  std::mt19937_64 generator(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(rows.begin(), rows.end(), generator);
    EXPECT_EQ(kept_rows(rows, 4), kept);
  }
}

// The sensitivity: for every key, a user more brings at most `most` rows and changes nobody else's.
TEST(LimitedRows, OfAUserDependOnTheUsersOwnRowsAlone) {
  const std::vector<Row> others = some_rows(25);
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (const std::uint64_t most : {1U, 3U, 10U}) {
      std::vector<Row> larger = others;
      for (std::uint8_t i = 0; i < 30; ++i) larger.insert(larger.begin() + 5 * i, {1000, i});
      auto kept = kept_rows(larger, most, key);
      std::erase_if(kept, [](const auto& row) { return row.first.first == 1000; });
      EXPECT_EQ(kept, kept_rows(others, most, key));
    }
  }
}

// A value of one row that is replaced replaces at most one row among those that are kept.
TEST(LimitedRows, ChangeByOneRowIfOneRowIsReplaced) {
  std::uint64_t replaced = 0;
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (std::uint8_t value = 0; value < 12; ++value) {
      std::vector<Row> rows = some_rows(12);
      const auto before = kept_rows(rows, 3, key);
      const auto place = std::ranges::find(rows, Row{12, 3});
      *place = {12, value};
      const auto after = kept_rows(rows, 3, key);
      std::uint64_t lost = 0;
      for (const auto& [row, count] : before) {
        const auto found = after.find(row);
        const std::uint64_t left = found == after.end() ? 0 : found->second;
        lost += count - std::min(count, left);
      }
      EXPECT_LE(lost, 1U);
      replaced += lost;
    }
  }
  EXPECT_GT(replaced, 0U);
}

// With another key other rows are kept: nobody can choose which.
TEST(LimitedRows, AreChosenByTheKey) {
  std::vector<Row> rows;
  for (std::uint8_t i = 0; i < 10; ++i) rows.emplace_back(1, i);
  std::map<Row, std::uint64_t> chosen;
  for (std::uint8_t key = 0; key < 200; ++key) {
    for (const auto& [row, count] : kept_rows(rows, 1, key)) chosen[row] += count;
  }
  EXPECT_EQ(chosen.size(), 10U);
}

// Rows with one hash are the same for the query. As many are kept as there is room for.
TEST(LimitedRows, CountEqualRowsAsOftenAsTheyAre) {
  EXPECT_EQ(kept_rows({{1, 5}, {1, 5}, {1, 5}}, 2), (std::map<Row, std::uint64_t>{{{1, 5}, 2}}));
}

// A row that is there a hundred times is seen a hundred times as often as one that is there once.
TEST(LimitedRows, AreARandomSample) {
  std::vector<Row> rows(99, {1, 5});
  rows.emplace_back(1, 6);
  std::uint64_t rare = 0;
  for (std::uint8_t key = 0; key < 250; ++key) {
    for (const auto& [row, count] : kept_rows(rows, 10, key)) rare += row.second == 6 ? count : 0;
  }
  // 25 on average
  EXPECT_GT(rare, 8U);
  EXPECT_LT(rare, 50U);
}

// Each row is as likely as any other: two of ten are chosen 4000 times, and each in 800 of them on
// average. An error of 160 has a probability below 1e-8 for each of them (Chernoff).
// Under a hash that is not scattered it is larger: neighbouring values come together.
TEST(LimitedRows, OfDifferentValuesAreEquallyLikely) {
  std::vector<Row> rows;
  for (std::uint8_t i = 0; i < 10; ++i) rows.emplace_back(1, i);
  std::map<Row, std::uint64_t> chosen;
  std::uint64_t neighbours = 0;
  for (std::uint64_t key = 0; key < 4000; ++key) {
    const auto kept = kept_rows(rows, 2, key);
    ASSERT_EQ(kept.size(), 2U);
    for (const auto& [row, count] : kept) chosen[row] += count;
    if (kept.rbegin()->first.second == kept.begin()->first.second + 1) ++neighbours;
  }
  for (const auto& [row, count] : chosen) {
    EXPECT_GT(count, 640U) << int{row.second};
    EXPECT_LT(count, 960U) << int{row.second};
  }
  // 9 of the 45 pairs are neighbours.
  EXPECT_GT(neighbours, 640U);
  EXPECT_LT(neighbours, 960U);
}

// ---- What users keep together ----------------------------------------------------------------

// Two users have rows that look alike. Each keeps one of four, and each of the 16 pairs is as
// likely. Without the user in the hash both keep the same.
TEST(LimitedRows, OfUsersWhoseRowsLookAlikeAreChosenIndependently) {
  std::vector<Row> rows;
  for (std::uint8_t i = 0; i < 4; ++i) rows.insert(rows.end(), {{1, i}, {2, i}});
  const std::vector<double> law(16, 1.0 / 16);
  const double p_value = sampled_p_value(law, 6400, [&, key = std::uint64_t{0}]() mutable {
    const auto kept = kept_rows(rows, 1, key++);
    return 4 * kept.begin()->first.second + kept.rbegin()->first.second;
  });
  EXPECT_GT(p_value, kFalseAlarm);
}

// The probability that `kept` of `most` rows that are kept are among `marked` of `all`
double hypergeometric(double all, double marked, double most, double kept) {
  const auto log_choices = [](double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  return std::exp(log_choices(marked, kept) + log_choices(all - marked, most - kept) -
                  log_choices(all, most));
}

// Users have 100 rows of each of two values, and keep 20: as many of one value as in a sample
// without replacement.
TEST(LimitedRows, OfOneValueAreHypergeometric) {
  constexpr std::uint64_t kUsers = 40;
  std::vector<Row> rows;
  for (std::uint64_t user = 0; user < kUsers; ++user) {
    for (int i = 0; i < 200; ++i) rows.emplace_back(user * user, static_cast<std::uint8_t>(i % 2));
  }
  std::vector<double> law;
  for (int kept = 0; kept <= 20; ++kept) law.push_back(hypergeometric(200, 100, 20, kept));
  std::vector<std::uint64_t> observed(law.size());
  for (std::uint64_t key = 0; key < 100; ++key) {
    auto kept = kept_rows(rows, 20, key);
    for (std::uint64_t user = 0; user < kUsers; ++user) ++observed[as_size(kept[{user * user, 1}])];
  }
  EXPECT_GT(chi_square_p_value(observed, law), kFalseAlarm);
}

// 300 users have 10 rows of each of two values, and keep 4. Their numbers of rows of one value are
// hypergeometric with variance 4 * 1/4 * 16/19, and those of different users do not go together:
// the variance of the sum is 300 times that. Over 200 keys chi^2 is outside of 90 to 340 with a
// probability below 1e-6 (Laurent, Massart 2000, Lemma 1). Without the user in the hash it is 300
// times as large.
TEST(LimitedRows, OfManyUsersHaveErrorsThatAverageOut) {
  constexpr std::uint64_t kUsers = 300;
  std::vector<Row> rows;
  for (std::uint64_t user = 0; user < kUsers; ++user) {
    for (int i = 0; i < 20; ++i) rows.emplace_back(user, static_cast<std::uint8_t>(i % 2));
  }
  double chi_squared = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    double sum = 0;
    for (const auto& [row, count] : kept_rows(rows, 4, key)) {
      if (row.second == 1) sum += static_cast<double>(count);
    }
    const double error = sum - 2.0 * kUsers;
    chi_squared += error * error / (kUsers * 16.0 / 19);
  }
  EXPECT_GT(chi_squared, 90);
  EXPECT_LT(chi_squared, 340);
}

// The chosen rows are those that a slow program finds: of all pairs of hash and number those with
// the smallest ranks.
TEST(LimitedRows, AreThoseWithTheSmallestRanks) {
  for (std::uint64_t key = 0; key < 30; ++key) {
    std::vector<Row> rows;
    std::mt19937_64 generator(key);
    for (int i = 0; i < 200; ++i) rows.emplace_back(7, static_cast<std::uint8_t>(generator() % 40));
    const Hash hash = hash_under(key);
    std::vector<std::tuple<std::uint64_t, std::uint64_t, Row>> ranked;
    std::map<Row, std::uint64_t> seen;
    for (const Row& row : rows) {
      const VectorHash own = hash(row);
      ranked.emplace_back(scattered(own.high + seen[row]++ * 0x9e3779b97f4a7c15), own.low, row);
    }
    std::ranges::sort(ranked);
    std::map<Row, std::uint64_t> expected;
    for (std::size_t i = 0; i < 25; ++i) ++expected[std::get<Row>(ranked[i])];
    EXPECT_EQ(chosen_rows(rows, 25, hash), expected);
  }
}

// Users whose numbers agree in the bits by which their places are found
TEST(LimitedRows, TellUsersApartByAllBitsOfTheirNumbers) {
  std::vector<std::uint64_t> users;
  std::vector<VectorHash> hashes;
  for (std::uint64_t i = 0; i < 300; ++i) {
    users.push_back((i % 3) << 40U | 1U);
    users.push_back((i % 3) << 63U | 2U);
    hashes.insert(hashes.end(), 2, {scattered(i), i});
  }
  TestWorkspace work;
  const std::vector<RowChoice> choices = choices_of(users, hashes, 5, work);
  std::map<std::uint64_t, std::uint64_t> counts;
  for (std::size_t i = 0; i < users.size(); ++i) {
    if (choices[i] == RowChoice::kChosen) ++counts[users[i]];
  }
  EXPECT_EQ(counts.size(), 5U);
  for (const auto& [user, count] : counts) EXPECT_EQ(count, 5U) << user;
}

TEST(LimitedRows, OfUserZeroAreLikeThoseOfOthers) {
  EXPECT_EQ(by_user(kept_rows({{0, 1}, {0, 2}, {0, 3}, {1, 1}}, 2)),
            (std::map<std::uint64_t, std::uint64_t>{{0, 2}, {1, 1}}));
}

TEST(LimitedRows, MayBeNone) {
  EXPECT_TRUE(kept_rows({}, 1).empty());
}

TEST(LimitedRows, CanBeCancelled) {
  TestWorkspace work([] { return true; });
  constexpr std::size_t kRows = 1U << 20U;
  std::vector<std::uint64_t> users(kRows);
  std::vector<RowChoice> choices(kRows);
  std::vector<std::size_t> places(kRows);
  EXPECT_THROW(count_rows_of_users(users, 1, places, places, work), Cancelled);
  const std::vector<HashedRow> rows(kRows);
  const std::vector<std::size_t> counts{kRows};
  EXPECT_THROW(choose_beyond_limit(rows, counts, 1, choices, work), Cancelled);
}

TEST(LimitedRows, ReportThatMemoryIsShort) {
  TestWorkspace work(nullptr, std::pmr::null_memory_resource());
  EXPECT_THROW(choices_of({1, 1}, {{}, {}}, 1, work), std::bad_alloc);
}

// ---- Counts --------------------------------------------------------------------------------

std::uint64_t total_of(std::vector<std::uint64_t> users, std::uint64_t most) {
  CancelPoll cancel(nullptr);
  LimitedCounts counts(most, 1U << 24U, 7, std::pmr::new_delete_resource());
  EXPECT_EQ(counts.count(users, cancel), 0U);
  return counts.total();
}

// threat 78
TEST(LimitedCounts, CountEachUserUpToTheLimit) {
  EXPECT_EQ(total_of({}, 3), 0U);
  EXPECT_EQ(total_of({0, 0, 0, 0, 0}, 3), 3U);
  std::vector<std::uint64_t> users;
  for (const Row& row : some_rows(40)) users.push_back(scattered(row.first));
  for (const std::uint64_t most : {1U, 2U, 20U, 40U, 100U}) {
    std::uint64_t expected = 0;
    for (std::uint64_t user = 1; user <= 40; ++user) expected += std::min(user, most);
    EXPECT_EQ(total_of(users, most), expected);
  }
}

// The rows of a user are all counted or all given back, in any order.
TEST(LimitedCounts, GiveBackUsersForWhomThereIsNoRoom) {
  CancelPoll cancel(nullptr);
  LimitedCounts counts(2, 1, 7, std::pmr::new_delete_resource());
  std::map<std::uint64_t, std::uint64_t> given_back;
  std::uint64_t back = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> users;
    for (std::uint64_t user = 1; user <= 1000; ++user) users.push_back(scattered(user));
    const std::size_t without_room = counts.count(users, cancel);
    for (std::size_t i = 0; i < without_room; ++i) ++given_back[users[i]];
    back += without_room;
  }
  EXPECT_GT(given_back.size(), 500U);
  EXPECT_LT(given_back.size(), 1000U);
  for (const auto& [user, times] : given_back) EXPECT_EQ(times, 5U) << user;
  EXPECT_EQ(back, 5 * given_back.size());
  EXPECT_EQ(counts.total(), 2 * (1000 - given_back.size()));
}

// threat 170: with how many users the table is full depends on the secret.
TEST(LimitedCounts, GrowAtASecretNumberOfUsers) {
  CancelPoll cancel(nullptr);
  std::set<std::size_t> taken;
  for (std::uint64_t secret = 0; secret < 40; ++secret) {
    LimitedCounts counts(1, 1, secret, std::pmr::new_delete_resource());
    std::vector<std::uint64_t> users;
    for (std::uint64_t user = 1; user <= 1000; ++user) users.push_back(scattered(user));
    (void)counts.count(users, cancel);
    taken.insert(counts.total());
  }
  EXPECT_GT(taken.size(), 20U);
  EXPECT_GE(*taken.begin(), 128U);
  EXPECT_LT(*taken.rbegin(), 192U);
}

TEST(LimitedCounts, CanBeCancelled) {
  CancelPoll cancel([] { return true; });
  LimitedCounts counts(2, 1U << 24U, 7, std::pmr::new_delete_resource());
  std::vector<std::uint64_t> users(1U << 17U);
  EXPECT_THROW(counts.count(users, cancel), Cancelled);
}

}  // namespace
}  // namespace dpquantile
