// Which groups may be shown, and the rows of a person: docs/privacy.md, Theorems 23, 24 and 30.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/contributions/limited_rows.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/privacy/group_privacy.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/selection/bounded_groups.hpp"
#include "core/selection/group_selection.hpp"
#include "exhaustive/checks.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

using test::heap;

// Every number of rows up to where a group is always kept, and beyond.
void one_group(Report& report) {
  for (const double epsilon : {0.1, 1.0, 5.0, 20.0}) {
    for (const double delta : {1e-9, 1e-3, 0.3}) {
      const GroupSelection selection(epsilon, delta);
      const PrivacyCost cost = selection_cost(epsilon, delta);
      compare_counts(report, text("groups, epsilon %g, delta %g", epsilon, delta),
                     all_counts(1, selection.rows_always_kept() + 3), same_costs(cost),
                     {.least_chance = 0}, [&](const Counts& counts) -> Answer {
                       const test::TestContext context;
                       return {selection.draw_keep(counts[0], context.random)};
                     });
    }
  }
}

// Users who are in any of a few groups: numbers of their groups, as bits.
using Users = std::vector<unsigned>;

Answer shown_groups(const Users& users, unsigned groups, std::uint64_t most,
                    const GroupSelection& selection, unsigned key_byte) {
  const test::TestContext context;
  std::vector<GroupMember> members;
  std::vector<std::uint64_t> identities;
  for (unsigned group = 0; group < groups; ++group) identities.push_back(group / 2);
  for (std::size_t user = 0; user < users.size(); ++user) {
    for (unsigned group = 0; group < groups; ++group) {
      if ((users[user] >> group & 1) != 0) members.push_back({user, group});
    }
  }
  SipKey key{};
  key[0] = static_cast<std::uint8_t>(key_byte);
  Answer shown;
  for (const std::uint64_t count : bounded_group_counts(members, identities, most, key, context)) {
    shown.push_back(selection.draw_keep(count, context.random));
  }
  return shown;
}

// A user more or less: user i is the same one in both data sets. 0: the user is in no data.
void groups_of_users(Report& report) {
  const unsigned groups = report.by_effort(2U, 3U);
  const std::size_t number = report.by_effort(2U, 3U);
  const unsigned choices = 1U << groups;
  for (const std::uint64_t most : {1U, 2U}) {
    for (const unsigned key : {1U, 2U, 3U}) {
      const double epsilon = 1.5;
      const double delta = 0.2;
      const GroupSelection selection(epsilon, delta, most);
      const PrivacyCost cost = selection_cost(epsilon, delta, most);
      std::vector<Users> data;
      std::vector<Law> laws;
      std::vector<Neighbours> neighbours;
      std::size_t all = 1;
      for (std::size_t user = 0; user < number; ++user) all *= choices;
      for (std::size_t code = 0; code < all; ++code) {
        Users users;
        std::size_t place = 1;
        for (std::size_t user = 0; user < number; ++user, place *= choices) {
          users.push_back(static_cast<unsigned>(code / place % choices));
          if (users.back() != 0) neighbours.push_back({code, code - users.back() * place, cost});
        }
        laws.push_back(law_of([&] { return shown_groups(users, groups, most, selection, key); },
                              {.least_chance = 0}));
        data.push_back(std::move(users));
      }
      compare_pairs(
          report, text("users in at most %d groups", static_cast<int>(most)), laws, neighbours,
          [&](std::size_t i) { return describe(Counts(data[i].begin(), data[i].end())); });
    }
  }
}

// A user more in several groups of the same size, whatever it is: next to the turn of the law all
// of epsilon and rho is needed.
void groups_of_one_user(Report& report) {
  for (const std::uint64_t groups : {1U, 2U, 4U}) {
    for (const double epsilon : {0.5, 2.0}) {
      const double delta = 1e-6;
      const GroupSelection selection(epsilon, delta, groups);
      std::vector<Law> laws;
      std::vector<Neighbours> neighbours;
      for (std::uint64_t users = 0; users <= selection.rows_always_kept() + 1; ++users) {
        const auto shown = [&] {
          const test::TestContext context;
          Answer kept;
          for (std::uint64_t group = 0; group < groups; ++group) {
            kept.push_back(selection.draw_keep(users, context.random));
          }
          return kept;
        };
        laws.push_back(law_of(shown, {.least_chance = 0}));
        if (users == 0) continue;
        neighbours.push_back({users - 1, users, selection_cost(epsilon, delta, groups)});
      }
      compare_pairs(report, text("a user in %d groups", static_cast<int>(groups)), laws, neighbours,
                    [](std::size_t i) { return text("%zu users", i); });
    }
  }
}

// ---- The rows of a person
// ------------------------------------------------------------------------

struct PersonRow {
  std::uint64_t user;
  std::uint64_t value;
  auto operator<=>(const PersonRow&) const = default;
};

// How often each row is chosen. Different rows of a user with the same hash count as the same.
using Chosen = std::map<PersonRow, std::uint64_t>;

// `hashes` has one for each value of each user; different ones may be equal.
Chosen choose(const std::vector<PersonRow>& rows, std::uint64_t most,
              const std::map<PersonRow, std::uint64_t>& hashes) {
  const test::TestWorkspace work;
  std::vector<std::uint64_t> users;
  for (const PersonRow& row : rows) users.push_back(row.user);
  std::vector<std::size_t> places(rows.size());
  std::vector<std::size_t> counts(rows.size());
  const BeyondLimit beyond = count_rows_of_users(users, most, places, counts, work);
  std::vector<RowChoice> choices(rows.size(), RowChoice::kChosen);
  std::vector<HashedRow> hashed(beyond.rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (places[users[i]] == kWithinLimit) continue;
    const std::uint64_t hash = hashes.at(rows[i]);
    hashed[places[users[i]]++] = {{hash, hash * 0x9e3779b97f4a7c15}, i};
  }
  choose_beyond_limit(hashed, std::span(counts).first(beyond.users), most, choices, work);
  Chosen chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (choices[i] == RowChoice::kChosen) ++chosen[{rows[i].user, hashes.at(rows[i])}];
  }
  return chosen;
}

std::uint64_t number_of(const Chosen& chosen, std::uint64_t user) {
  std::uint64_t number = 0;
  for (const auto& [row, times] : chosen) number += row.user == user ? times : 0;
  return number;
}

// Rows that are chosen in one and not in the other.
std::uint64_t missing(const Chosen& chosen, const Chosen& other) {
  std::uint64_t number = 0;
  for (const auto& [row, times] : chosen) {
    const auto found = other.find(row);
    const std::uint64_t there = found == other.end() ? 0 : found->second;
    number += times > there ? times - there : 0;
  }
  return number;
}

// All rows of two persons, in both orders, with hashes that agree and that do not.
void limited_rows(Report& report) {
  constexpr std::uint64_t kValues = 2;
  const std::uint64_t rows_of_each = report.by_effort(3U, 6U);
  const std::vector<Counts> of_one = all_counts(kValues, rows_of_each);
  // The numbers of the two: scattered, and alike in the low bits.
  for (const auto& [one, other] : {std::pair(1ULL, 2ULL), {64ULL, 128ULL}}) {
    for (const std::uint64_t most : {1U, 2U, 3U}) {
      for (std::uint64_t choice = 0; choice < 81; ++choice) {
        // Each of the four kinds of rows has one of three hashes.
        std::map<PersonRow, std::uint64_t> hashes;
        std::uint64_t rest = choice;
        for (const std::uint64_t user : {one, other}) {
          for (std::uint64_t value = 0; value < kValues; ++value, rest /= 3) {
            constexpr std::uint64_t kHashes[] = {0, 7, ~0ULL};
            hashes[{user, value}] = kHashes[rest % 3];
          }
        }
        const auto rows_of = [&](std::uint64_t user, const Counts& counts) {
          std::vector<PersonRow> rows;
          for (std::uint64_t value = 0; value < kValues; ++value) {
            rows.insert(rows.end(), counts[value], {user, value});
          }
          return rows;
        };
        for (const Counts& first : of_one) {
          const std::vector<PersonRow> alone = rows_of(one, first);
          const Chosen before = choose(alone, most, hashes);
          report.laws(1);
          const std::uint64_t in_all = first[0] + first[1];
          if (number_of(before, one) != std::min(in_all, most)) {
            report.finding(text("%d rows of a person are chosen, of %d, where %d may be",
                                static_cast<int>(number_of(before, one)), static_cast<int>(in_all),
                                static_cast<int>(most)));
          }
          for (std::size_t value = 0; value < kValues; ++value) {
            if (first[value] == 0) continue;
            Counts replaced = first;
            --replaced[value];
            ++replaced[1 - value];
            report.pairs(1);
            const Chosen after = choose(rows_of(one, replaced), most, hashes);
            if (missing(before, after) > 1 || missing(after, before) > 1) {
              report.finding("a row replaced changes more than one chosen row of " +
                             describe(first));
            }
          }
          for (const Counts& second : of_one) {
            std::vector<PersonRow> together = alone;
            const std::vector<PersonRow> added = rows_of(other, second);
            together.insert(together.begin(), added.begin(), added.end());
            report.pairs(1);
            Chosen after = choose(together, most, hashes);
            std::ranges::reverse(together);
            if (after != choose(together, most, hashes)) {
              report.finding("the order of rows decides, " + describe(first) + " and " +
                             describe(second));
            }
            std::erase_if(after, [&, &other = other](const auto& entry) {
              return entry.first.user == other;
            });
            if (after != before) {
              report.finding("rows " + describe(second) + " of one person decide about rows " +
                             describe(first) + " of another");
            }
          }
        }
      }
    }
  }
}

// A count where each person has at most so many rows. A person with all rows is added.
void count_of_persons(Report& report) {
  for (const std::uint32_t rows : {1U, 2U, 4U}) {
    for (const PrivacyParameter& stated : {pure(4), zcdp(2)}) {
      const PrivacyParameter of_row = guarantee_of_row(stated, rows);
      const PrivacyCost cost =
          costs_of_person(same_costs(integer_noise_cost(of_row)), stated, rows).own;
      std::vector<Law> laws;
      std::vector<Neighbours> neighbours;
      for (std::size_t chosen = 0; chosen <= 2 * rows; ++chosen) {
        laws.push_back(law_of(
            [&]() -> Answer {
              const test::TestContext context;
              const auto count = release_count(chosen, of_row, context.random).count;
              return {static_cast<std::int64_t>(count)};
            },
            {.least_chance = 1e-12}));
        for (std::size_t other = chosen > rows ? chosen - rows : 0; other < chosen; ++other) {
          neighbours.push_back({other, chosen, cost});
        }
      }
      compare_pairs(report, text("count, %u rows of a person", rows), laws, neighbours,
                    [](std::size_t i) { return text("%zu", i); });
    }
  }
}

}  // namespace

std::vector<Check> group_checks() {
  return {{"groups of rows", one_group},
          {"groups of users", groups_of_users},
          {"groups of one user", groups_of_one_user},
          {"rows of a person", limited_rows},
          {"counts of persons", count_of_persons}};
}

}  // namespace dpquantile::exhaustive
