#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/contributions/user_rows.hpp"

namespace dpquantile {

// `users` users have `rows` rows each.
struct UsersWithRows {
  std::uint64_t rows;
  std::uint64_t users;
};

// The public figures of the user-level mechanisms: how many users have how many rows. m_l is the
// number of rows of user l.
class RowsPerUser {
 public:
  // Reads a histogram in any order. Entries may repeat; entries without rows or without users do
  // not count. Throws std::length_error above 2^32 - 1 rows in total.
  RowsPerUser(std::span<const UsersWithRows> histogram, std::pmr::memory_resource* memory);
  // Counts each contribution in `rows` as one user. Throws Cancelled, std::bad_alloc.
  RowsPerUser(const UserRows& rows, const Workspace& work);

  std::uint64_t users() const { return users_; }
  std::uint64_t rows() const { return rows_; }
  // The largest m_l; 0 without users.
  std::uint64_t most() const { return runs_.empty() ? 0 : runs_.back().rows; }
  // In ascending order of the number of rows, each number once.
  std::span<const UsersWithRows> runs() const { return runs_; }
  // The sum of min(m_l, bound): how many rows are kept with at most `bound` of each user.
  std::uint64_t kept(std::uint64_t bound) const;

 private:
  void set_runs(std::span<const UsersWithRows> histogram);

  std::pmr::vector<UsersWithRows> runs_;
  std::uint64_t users_ = 0;
  std::uint64_t rows_ = 0;
};

// The functions below choose m_UB, the most rows of a user that are kept, from public figures only.
// Each returns one of the m_l (0 without users), in O(number of distinct m_l) time.

// The m_l that minimises the worst-case error of the mean in units of U (OPT-Array-Averaging),
//   E(m) = 1 - kept(m) / rows + m / (epsilon kept(m)),
// and the largest of several. Between two neighbouring m_l E is concave, so no other m has a
// smaller error.
std::uint64_t least_mean_error_bound(const RowsPerUser& counts, double epsilon);

// The same for the variance, in units of U^2: left-out error + sensitivity / epsilon. Between two
// neighbouring m_l this is concave except for the parity of the number of rows, so no other m is
// better by more than 1 / (4 epsilon kept^2).
std::uint64_t least_variance_error_bound(const RowsPerUser& counts, double epsilon);

// The lower median of the m_l.
std::uint64_t median_bound(const RowsPerUser& counts);

// The m_l that maximises K sqrt(m) with K = floor(kept(m) / m), and the largest of several. The
// comparison is exact.
std::uint64_t array_concentration_bound(const RowsPerUser& counts);

}  // namespace dpquantile
