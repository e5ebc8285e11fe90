#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/vector_hash.hpp"
#include "core/base/workspace.hpp"

// Leaves each user at most some rows: all rows of a user with few, and of the others a random
// sample, in which each row is as likely as any other, whatever another user keeps. Two steps,
// because only the rows of users with many need hashes: count_rows_of_users(), then
// choose_beyond_limit().
//
// Privacy: not private, an input of a mechanism. For all hashes that do not depend on the rows of
// others, adding or removing all rows of one user adds or removes at most `most` chosen rows, and
// changes nobody else's: which values of a user are chosen, and how often, is a function of the
// hashes and of this user's own rows alone, and not of their order. Replacing one row replaces at
// most one that is chosen. (Users with the same number count as one, and different rows whose
// hashes collide are the same; docs/privacy.md, "Rows of a person".) The hashes must be secret and
// random, so that nobody can choose which rows are chosen.
namespace dpquantile {

enum class RowChoice : std::uint8_t { kLeftOut, kChosen };

// How many rows have users with more rows than the limit, and how many such users there are.
struct BeyondLimit {
  std::size_t rows;
  std::size_t users;
};

// The place of the rows of a user whose rows are all chosen.
inline constexpr std::size_t kWithinLimit = ~std::size_t{0};

// users[r] is the number of the user of row r, which should be scattered: users that agree in the
// low bits take longer. Replaces it by a small number of the same user, from 0. The rows beyond the
// limit get places from 0, user by user: places[n] is the first place for the rows of the user with
// the small number n, or kWithinLimit if the user has at most `most` rows; counts[i] is the number
// of rows of the user with number i among those beyond the limit. O(n) time and scratch memory.
//
// Requires that all spans have the size of `users`. Throws Cancelled, std::bad_alloc.
BeyondLimit count_rows_of_users(std::span<std::uint64_t> users, std::uint64_t most,
                                std::span<std::size_t> places, std::span<std::size_t> counts,
                                const Workspace& work);

// A row beyond the limit, and the hash of the vector of its user and all its values that the query
// uses. Without the user, users whose rows look alike would lose the same rows, and the errors of
// the choice would not average out.
struct HashedRow {
  VectorHash hash;
  std::size_t row;
};

// Decides about the rows beyond the limit, which are in their places: choices[row] becomes kChosen
// or kLeftOut. Rows of a user with one hash are the same for the query; they are numbered, and
// those are chosen whose ranks, which hash and number decide, are the smallest. Which of the same
// rows has which number does not matter. O(n) time for a user with n rows, scratch memory for eight
// numbers of 64 bits a row of the user.
//
// Requires that each count is above `most`. Throws Cancelled, std::bad_alloc.
void choose_beyond_limit(std::span<const HashedRow> rows, std::span<const std::size_t> counts,
                         std::uint64_t most, std::span<RowChoice> choices, const Workspace& work);

// For a query that uses no value of its rows, so that a number of rows is all that it sees: counts
// the rows of each user up to the limit. It takes 16 bytes of memory a place, of which a quarter or
// more is free, and half as much again while it grows.
class LimitedCounts {
 public:
  // Takes about so many bytes, at least some kilobytes. `secret` decides with how many users it
  // grows, which takes a time that shows: of n places between n / 2 and 3 n / 4 may be taken, so
  // that one user decides with a probability of 4 / n. Throws std::bad_alloc.
  LimitedCounts(std::uint64_t most, std::size_t bytes, std::uint64_t secret,
                std::pmr::memory_resource* memory);

  // Counts a row of each of these users, whose numbers should be scattered. Users for whom there is
  // no room are not counted: their rows are moved to the front of the span. Returns how many. A
  // user is either always counted or never. Throws Cancelled, std::bad_alloc.
  std::size_t count(std::span<std::uint64_t> users, CancelPoll& cancel);

  // The number of the rows that are counted.
  std::uint64_t total() const { return total_; }

 private:
  struct Place {
    std::uint64_t user;
    std::uint32_t rows;  // 0 if the place is free
  };
  using Places = std::pmr::vector<Place>;

  std::size_t find(std::uint64_t user) const;
  std::size_t most_users() const;
  bool has_room();

  std::uint32_t most_;
  std::uint64_t secret_;
  std::size_t most_places_;
  Places places_;  // a power of two
  std::size_t users_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace dpquantile
