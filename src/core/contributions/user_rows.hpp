#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/base/int128.hpp"
#include "core/base/workspace.hpp"

namespace dpquantile {

// One row of the input. `value` is in units of FixedPoint; a value above kOne counts as kOne. Plain
// data: aggregate states store it.
struct UserRow {
  std::uint64_t user;  // hash of the user
  std::uint32_t grid;  // index of the grid; 0 if there is only one
  std::uint32_t value;
};
static_assert(sizeof(UserRow) == 16);

// The number, the sum and the sum of squares of values in FixedPoint units, all exact.
struct RowMoments {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  uint128_t squares = 0;

  void add(std::uint32_t value);
  void add(const RowMoments& other);
};

// The kept rows of all contributions together.
struct KeptRows {
  RowMoments moments;
  std::uint64_t most = 0;  // the most rows kept of one contribution
};

// What counts as one contribution.
enum class Contribution {
  kUser,        // all rows of a user, in any grid
  kUserInGrid,  // the rows of a user in one grid
};

// The rows, grouped into contributions: ordered by user hash (then by grid), independent of the
// order in which they came. Not private: only for use as the input of a mechanism.
//
// Users whose 64-bit hashes collide are treated as one: they are protected together, and their
// contributions are bounded together. For n users this happens with probability about n^2 / 2^65
// (3 * 10^-10 for 100 000), if the hash is a good one. Replacing a user's values stays as private
// as without a collision. Adding or removing a user whose hash collides costs twice as much
// (docs/privacy.md, Theorem 19), so people who may add users should not be able to predict the
// hashes.
class UserRows {
 public:
  // Sorts the rows in place; they must outlive this object. O(n) time, scratch memory of the size
  // of `rows`. Throws std::length_error above 2^32 - 1 rows, Cancelled, std::bad_alloc.
  UserRows(std::span<UserRow> rows, Contribution contribution, const Workspace& work);

  // The number of contributions.
  std::size_t size() const { return starts_.size() - 1; }
  std::uint64_t user(std::size_t i) const { return rows_[starts_[i]].user; }
  std::uint32_t grid(std::size_t i) const { return rows_[starts_[i]].grid; }
  // The number of rows of the i-th contribution, at least 1.
  std::uint64_t count(std::size_t i) const { return starts_[i + 1] - starts_[i]; }

  // The moments of the min(count(i), most) values of the i-th contribution that are kept.
  //
  // A public pseudo-random order of the contribution's own values decides which ones are kept: a
  // fixed hash of (user, value, j) gives the place of the j-th occurrence of a value. So the choice
  // is a function of the multiset of the user's own values. It does not depend on other users'
  // values; otherwise changing one user could change what is kept of the others, and no sensitivity
  // would hold. It does not depend on the query plan either. It prefers neither small nor large
  // values, as sorting by value would. The source keeps the "first" values in time, an order that
  // an unordered aggregate does not have.
  //
  // Throws Cancelled, std::bad_alloc.
  RowMoments kept(std::size_t i, std::uint64_t most, CancelPoll& cancel) const;

  // The same for all contributions together.
  KeptRows kept(std::uint64_t most, CancelPoll& cancel) const;

 private:
  std::span<const UserRow> rows_of(std::size_t i) const {
    return rows_.subspan(starts_[i], starts_[i + 1] - starts_[i]);
  }

  std::span<const UserRow> rows_;
  std::pmr::vector<std::size_t> starts_;
};

}  // namespace dpquantile
