#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "adversary/checks.hpp"
#include "core/contributions/limited_rows.hpp"
#include "core/selection/bounded_groups.hpp"
#include "core/selection/group_selection.hpp"

// Which groups are shown, and the rows of a person: docs/privacy.md, "Which groups may be shown"
// and "Rows of a person".
namespace dpquantile::adversary {

namespace {

struct Decision {
  long double kept;
  long double dropped;
};

Decision decision(const GroupSelection& selection, std::uint64_t rows) {
  const auto odds = selection.odds(rows);
  const auto told = static_cast<long double>(odds.probability);
  return odds.kept ? Decision{told, 1 - told} : Decision{1 - told, told};
}

// The exact law for n rows and for n + 1: it has no slack, so each of the four inequalities counts.
void compare_decisions(Search& search) {
  const double epsilon = search.chance(0.3) ? search.pick({kMinEpsilon, 15.999, 16.0, 17.0, 1000.0})
                                            : search.log_uniform(kMinEpsilon, kMaxEpsilon);
  const double delta = search.chance(0.3)
                           ? search.pick({kMinSelectionDelta, kMaxSelectionDelta})
                           : search.log_uniform(kMinSelectionDelta, kMaxSelectionDelta);
  const std::uint64_t groups = search.pick({1ULL, 2ULL, 7ULL, 1000ULL});
  const auto parts = static_cast<double>(groups);
  if (epsilon / parts < kMinEpsilon || delta / parts < kMinSelectionDelta) return;
  const GroupSelection selection(epsilon, delta, groups);
  const long double factor =
      std::exp(static_cast<long double>(epsilon) / static_cast<long double>(groups));
  const long double least = static_cast<long double>(delta) / static_cast<long double>(groups);
  const std::uint64_t ends[] = {0, selection.rows_kept_half_the_time(),
                                selection.rows_always_kept(),
                                search.below(2 * selection.rows_always_kept() + 2)};
  for (const std::uint64_t end : ends) {
    for (std::uint64_t n = end < 20 ? 0 : end - 20; n < end + 20; ++n) {
      const Decision one = decision(selection, n);
      const Decision other = decision(selection, n + 1);
      if (other.kept <= factor * one.kept + least && one.kept <= factor * other.kept + least &&
          other.dropped <= factor * one.dropped + least &&
          one.dropped <= factor * other.dropped + least) {
        continue;
      }
      search.report(
          text("epsilon %.17g, delta %.17g, %llu groups: %llu rows are kept with %.18Lg, "
               "one more with %.18Lg",
               epsilon, delta, static_cast<unsigned long long>(groups),
               static_cast<unsigned long long>(n), one.kept, other.kept));
      return;
    }
  }
}

// A user more, in any groups, also in new ones and with identities that collide.
void compare_group_counts(Search& search) {
  const auto groups = 1 + static_cast<std::uint32_t>(search.below(8));
  std::vector<std::uint64_t> identities(groups);
  for (std::uint64_t& identity : identities) {
    identity = search.chance(0.3) ? search.below(3) : search.below(~0ULL);
  }
  std::vector<GroupMember> members;
  const auto add_user = [&](std::uint64_t user) {
    for (std::uint64_t i = 1 + search.below(12); i > 0; --i) {
      members.push_back({user, static_cast<std::uint32_t>(search.below(groups))});
    }
  };
  for (std::uint64_t i = search.below(6); i > 0; --i) add_user(2 * i + 1);
  std::vector<GroupMember> before = members;
  add_user(2 * search.below(20));
  std::ranges::shuffle(members, std::mt19937_64(search.below(~0ULL)));
  const std::uint64_t most = 1 + search.below(4);
  SipKey key{};
  for (std::uint8_t& byte : key) byte = static_cast<std::uint8_t>(search.below(256));
  const auto one = bounded_group_counts(before, identities, most, key, search.work());
  const auto other = bounded_group_counts(members, identities, most, key, search.work());
  std::uint64_t changed = 0;
  bool by_one = true;
  for (std::size_t group = 0; group < groups; ++group) {
    by_one = by_one && other[group] - one[group] <= 1;
    changed += other[group] - one[group];
  }
  if (by_one && changed >= 1 && changed <= most) return;
  search.report(text("a user more changes %llu groups, %llu are told",
                     static_cast<unsigned long long>(changed),
                     static_cast<unsigned long long>(most)));
}

struct PersonRow {
  std::uint64_t user;
  std::uint64_t value;
};

// How often each value of each user is chosen.
std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> chosen_rows(
    Search& search, const std::vector<PersonRow>& rows, std::uint64_t most) {
  std::vector<std::uint64_t> users;
  for (const PersonRow& row : rows) users.push_back(row.user);
  std::vector<std::size_t> places(rows.size());
  std::vector<std::size_t> counts(rows.size());
  const BeyondLimit beyond = count_rows_of_users(users, most, places, counts, search.work());
  std::vector<RowChoice> choices(rows.size(), RowChoice::kChosen);
  std::vector<HashedRow> hashed(beyond.rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (places[users[i]] == kWithinLimit) continue;
    // Any function of the row without structure.
    const std::uint64_t hash = std::mt19937_64(rows[i].user * 31 + rows[i].value)();
    hashed[places[users[i]]++] = {{hash, ~hash}, i};
  }
  choose_beyond_limit(hashed, std::span(counts).first(beyond.users), most, choices, search.work());
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (choices[i] == RowChoice::kChosen) ++chosen[{rows[i].user, rows[i].value}];
  }
  return chosen;
}

// A user more, with equal rows and others, adds at most as many rows as a user may have, and nobody
// else's choice changes, in any order of the rows.
void compare_limited_rows(Search& search) {
  const std::uint64_t most = 1 + search.below(5);
  std::vector<PersonRow> rows;
  const auto add_user = [&](std::uint64_t user) {
    const std::uint64_t values = 1 + search.below(6);
    for (std::uint64_t i = 1 + search.below(search.chance(0.1) ? 200 : 12); i > 0; --i) {
      rows.push_back({user, search.below(values)});
    }
  };
  for (std::uint64_t i = search.below(5); i > 0; --i) add_user(i);
  const auto before = chosen_rows(search, rows, most);
  constexpr std::uint64_t kNew = 1000;
  add_user(kNew);
  std::ranges::shuffle(rows, std::mt19937_64(search.below(~0ULL)));
  auto after = chosen_rows(search, rows, most);
  std::uint64_t of_new = 0;
  std::erase_if(after, [&](const auto& entry) {
    if (entry.first.first != kNew) return false;
    of_new += entry.second;
    return true;
  });
  if (of_new >= 1 && of_new <= most && after == before) return;
  search.report(text("a user more has %llu rows chosen of at most %llu, and others %s",
                     static_cast<unsigned long long>(of_new), static_cast<unsigned long long>(most),
                     after == before ? "the same" : "other ones"));
}

}  // namespace

std::vector<Check> group_checks() {
  return {{"groups, exact decisions",
           {Mechanism::kGroupsOfRows, Mechanism::kGroupsOfUsers},
           compare_decisions,
           200},
          {"groups, counts of neighbours", {Mechanism::kGroupsOfUsers}, compare_group_counts, 500},
          {"rows of a person", {Mechanism::kLimitedRows}, compare_limited_rows, 300}};
}

}  // namespace dpquantile::adversary
