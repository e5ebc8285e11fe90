#include "core/selection/bounded_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::kFalseAlarm;
using test::TestWorkspace;

using Members = std::vector<GroupMember>;
using Counts = std::vector<std::uint64_t>;

constexpr std::uint32_t kGroups = 7;
const SipKey kKey{1, 2, 3};

const std::vector<std::uint64_t> kIdentities = {90, 11, 52, 33, 74, 65, 26};

Counts counts_of(Members members, std::uint64_t most, const SipKey& key = kKey,
                 const std::vector<std::uint64_t>& identities = kIdentities) {
  TestWorkspace work;
  const auto counts = bounded_group_counts(members, identities, most, key, work);
  return {counts.begin(), counts.end()};
}

// Users 0 .. users - 1, user i in i % (kGroups + 1) groups.
Members some_members(std::uint64_t users) {
  Members members;
  for (std::uint64_t user = 0; user < users; ++user) {
    for (std::uint32_t i = 0; i < user % (kGroups + 1); ++i) {
      members.push_back({user, static_cast<std::uint32_t>((user / 3 + i) % kGroups)});
    }
  }
  return members;
}

TEST(BoundedGroups, CountTheUsersOfEachGroupIfNobodyIsInTooMany) {
  EXPECT_EQ(counts_of({{1, 0}, {1, 2}, {2, 2}, {9, 6}}, 2), (Counts{1, 0, 2, 0, 0, 0, 1}));
  EXPECT_EQ(counts_of({}, 2), Counts(kGroups));
}

TEST(BoundedGroups, CountAUserOnceInAGroup) {
  for (std::uint64_t most = 1; most <= 3; ++most) {
    EXPECT_EQ(counts_of({{1, 3}, {1, 3}, {2, 3}, {1, 3}}, most), (Counts{0, 0, 0, 2, 0, 0, 0}));
  }
}

TEST(BoundedGroups, LeaveEveryUserInNoMoreGroupsThanTheLimit) {
  for (std::uint64_t most = 1; most <= kGroups; ++most) {
    std::uint64_t expected = 0;
    for (std::uint64_t user = 0; user < 100; ++user) {
      expected += std::min(user % (kGroups + 1), most);
    }
    const Counts counts = counts_of(some_members(100), most);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), expected);
  }
}

TEST(BoundedGroups, DoNotDependOnTheOrderOfTheData) {
  Members members = some_members(100);
  const Counts counts = counts_of(members, 2);
  std::mt19937_64 generator(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(members.begin(), members.end(), generator);
    EXPECT_EQ(counts_of(members, 2), counts);
  }
}

// For every key, one row more of a user changes at most two counts, each by one: the user may come
// into one group and leave another.
TEST(BoundedGroups, ChangeByOneInAtMostTwoGroupsForOneRow) {
  std::uint64_t two = 0;
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (const std::uint64_t most : {1U, 2U, 3U, 7U}) {
      for (std::uint32_t row = 0; row < kGroups; ++row) {
        Members members = some_members(20);
        const Counts before = counts_of(members, most, {key, 1});
        members.push_back({11, row});
        const Counts after = counts_of(members, most, {key, 1});
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
          changed += before[i] != after[i];
          EXPECT_LE(std::max(before[i], after[i]) - std::min(before[i], after[i]), 1U);
        }
        EXPECT_LE(changed, 2U);
        two += changed == 2;
      }
    }
  }
  EXPECT_GT(two, 0U);
}

// The sensitivity: for every key, one user more changes at most `most` counts, each by one.
TEST(BoundedGroups, ChangeByOneInNoMoreGroupsThanTheLimitForOneUser) {
  for (std::uint8_t key = 0; key < 20; ++key) {
    for (const std::uint64_t most : {1U, 2U, 3U, 7U}) {
      for (std::uint32_t own = 1; own <= kGroups; ++own) {
        const Members others = some_members(40);
        Members larger = others;
        for (std::uint32_t group = 0; group < own; ++group) larger.push_back({1000, group});
        const Counts before = counts_of(others, most, SipKey{key});
        const Counts after = counts_of(larger, most, SipKey{key});
        std::uint64_t changed = 0;
        for (std::size_t group = 0; group < kGroups; ++group) {
          ASSERT_LE(after[group] - before[group], 1U);
          changed += after[group] - before[group];
        }
        EXPECT_EQ(changed, std::min<std::uint64_t>(own, most));
      }
    }
  }
}

// A user more may bring a group, so that others get other numbers.
TEST(BoundedGroups, KeepTheChoicesOfOthersIfAUserBringsAGroup) {
  const Members others = some_members(60);
  for (std::uint32_t place = 0; place <= kGroups; ++place) {
    std::vector<std::uint64_t> identities = kIdentities;
    identities.insert(identities.begin() + place, 1234);
    Members larger = others;
    for (GroupMember& member : larger) member.group += member.group >= place ? 1 : 0;
    larger.push_back({1000, place});
    Counts after = counts_of(larger, 1, kKey, identities);
    EXPECT_EQ(after[place], 1U);
    after.erase(after.begin() + place);
    EXPECT_EQ(after, counts_of(others, 1));
  }
}

// threat 121: the numbers are public hashes of keys, so an analyst may choose keys with one number.
TEST(BoundedGroups, KeepTheChoicesOfOthersIfAllGroupsHaveOneNumber) {
  const Members others = some_members(60);
  const Counts before = counts_of(others, 1, kKey, std::vector<std::uint64_t>(kGroups, 5));
  for (std::uint32_t place = 0; place <= kGroups; ++place) {
    Members larger = others;
    for (GroupMember& member : larger) member.group += member.group >= place ? 1 : 0;
    larger.push_back({1000, place});
    Counts after = counts_of(larger, 1, kKey, std::vector<std::uint64_t>(kGroups + 1, 5));
    EXPECT_EQ(after[place], 1U);
    after.erase(after.begin() + place);
    EXPECT_EQ(after, before);
  }
}

TEST(BoundedGroups, KeepEachGroupOfAUserEquallyOftenOverKeys) {
  Members members;
  for (std::uint32_t group = 0; group < kGroups; ++group) members.push_back({5, group});
  Counts kept(kGroups);
  for (std::uint32_t key = 0; key < 14'000; ++key) {
    const auto byte = [&](unsigned i) { return static_cast<std::uint8_t>(key >> 8 * i); };
    const Counts counts = counts_of(members, 1, SipKey{byte(0), byte(1), 77});
    for (std::size_t group = 0; group < kGroups; ++group) kept[group] += counts[group];
  }
  EXPECT_GT(test::chi_square_p_value(kept, std::vector<double>(kGroups, 1.0 / kGroups)),
            kFalseAlarm);
}

// A choice that all users share would leave few groups with users. The standard deviation of a
// count is 29.
TEST(BoundedGroups, KeepDifferentGroupsOfDifferentUsers) {
  Members members;
  for (std::uint64_t user = 0; user < 7000; ++user) {
    for (std::uint32_t group = 0; group < kGroups; ++group) members.push_back({user, group});
  }
  for (const std::uint64_t count : counts_of(members, 1)) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
}

TEST(BoundedGroups, CanBeCancelled) {
  TestWorkspace work([] { return true; });
  Members members(200'000, GroupMember{1, 0});
  EXPECT_THROW(bounded_group_counts(members, std::vector<std::uint64_t>{7}, 1, kKey, work),
               Cancelled);
}

}  // namespace
}  // namespace dpquantile
