#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/contributions/user_rows.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::test {

// The values of each user, in FixedPoint units.
using UserValues = std::vector<std::vector<std::uint32_t>>;

inline std::vector<UserRow> rows_of(const UserValues& values) {
  std::vector<UserRow> rows;
  for (std::size_t user = 0; user < values.size(); ++user) {
    for (const std::uint32_t value : values[user]) rows.push_back({user + 1, 0, value});
  }
  return rows;
}

// Rows and their grouping.
class GroupedRows {
 public:
  explicit GroupedRows(std::vector<UserRow> rows, Contribution contribution = Contribution::kUser)
      : rows_(std::move(rows)), grouped_(rows_, contribution, TestWorkspace()) {}
  explicit GroupedRows(const UserValues& values) : GroupedRows(rows_of(values)) {}

  const UserRows& operator*() const { return grouped_; }
  const UserRows* operator->() const { return &grouped_; }

 private:
  std::vector<UserRow> rows_;
  UserRows grouped_;
};

// Calls visit(values) for every tuple of `length` values out of `choices`.
template <class Visit>
void for_each_tuple(const std::vector<std::uint32_t>& choices, std::size_t length, Visit visit) {
  std::vector<std::size_t> index(length, 0);
  for (;;) {
    std::vector<std::uint32_t> tuple;
    for (const std::size_t i : index) tuple.push_back(choices[i]);
    visit(tuple);
    std::size_t place = 0;
    while (place < length && ++index[place] == choices.size()) index[place++] = 0;
    if (place == length) return;
  }
}

}  // namespace dpquantile::test
