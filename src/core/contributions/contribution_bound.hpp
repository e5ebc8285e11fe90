#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/contributions/user_rows.hpp"

namespace dpquantile {

// So many users have so many rows each.
struct UsersWithRows {
  std::uint64_t rows;
  std::uint64_t users;
};

// The public figures of the user-level mechanisms: how many users have how many rows (m_l).
class RowsPerUser {
 public:
  // A histogram in any order; entries may repeat, and those without rows or users do not count.
  // Throws std::length_error beyond 2^32 - 1 rows altogether.
  RowsPerUser(std::span<const UsersWithRows> histogram, std::pmr::memory_resource* memory);
  RowsPerUser(const UserRows& rows, const Workspace& work);

  std::uint64_t users() const { return users_; }
  std::uint64_t rows() const { return rows_; }
  // max m_l; 0 without users.
  std::uint64_t most() const { return runs_.empty() ? 0 : runs_.back().rows; }
  // By ascending numbers of rows, each once.
  std::span<const UsersWithRows> runs() const { return runs_; }
  // Sum of min(m_l, bound).
  std::uint64_t kept(std::uint64_t bound) const;

 private:
  void set_runs(std::span<const UsersWithRows> histogram);

  std::pmr::vector<UsersWithRows> runs_;
  std::uint64_t users_ = 0;
  std::uint64_t rows_ = 0;
};

// How many rows of a user are kept, m_UB, is chosen from public figures only. All of the following
// return one of the m_l (0 without users), in O(number of distinct m_l).

// The minimiser of the worst-case error of the mean in units of U (OPT-Array-Averaging),
//   E(m) = 1 - kept(m) / rows + m / (epsilon kept(m)).
// Between two of the m_l, E is concave, so no other m has a smaller one. The largest minimiser.
std::uint64_t least_mean_error_bound(const RowsPerUser& counts, double epsilon);

// The same for the variance, in units of U^2: clipping error + sensitivity / epsilon. Between two
// of the m_l this is concave but for the parity of the number of rows, so no other m is better by
// more than 1 / (4 epsilon kept^2).
std::uint64_t least_variance_error_bound(const RowsPerUser& counts, double epsilon);

// The lower median of the m_l.
std::uint64_t median_bound(const RowsPerUser& counts);

// The largest maximiser of K sqrt(m) with K = floor(kept(m) / m), compared exactly.
std::uint64_t array_concentration_bound(const RowsPerUser& counts);

}  // namespace dpquantile
