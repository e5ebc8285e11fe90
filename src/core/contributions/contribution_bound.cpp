#include "core/contributions/contribution_bound.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/base/int128.hpp"
#include "core/contributions/user_sensitivity.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kMaxRows = std::numeric_limits<std::uint32_t>::max();

// Calls visit(m, kept(m)) for each distinct number of rows m, ascending.
template <class Visit>
void for_each_bound(const RowsPerUser& counts, Visit visit) {
  std::uint64_t rows_below = 0;
  std::uint64_t users_left = counts.users();
  for (const UsersWithRows& run : counts.runs()) {
    visit(run.rows, rows_below + run.rows * users_left);
    rows_below += run.rows * run.users;
    users_left -= run.users;
  }
}

template <class Error>
std::uint64_t largest_minimiser(const RowsPerUser& counts, Error error) {
  std::uint64_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for_each_bound(counts, [&](std::uint64_t bound, std::uint64_t kept) {
    const double value = error(bound, kept);
    if (value > least) return;
    least = value;
    best = bound;
  });
  return best;
}

}  // namespace

RowsPerUser::RowsPerUser(std::span<const UsersWithRows> histogram,
                         std::pmr::memory_resource* memory)
    : runs_(memory) {
  set_runs(histogram);
}

RowsPerUser::RowsPerUser(const UserRows& rows, const Workspace& work) : runs_(work.memory) {
  std::pmr::vector<UsersWithRows> single(work.memory);
  single.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    work.cancel.tick();
    single.push_back({rows.count(i), 1});
  }
  set_runs(single);
}

void RowsPerUser::set_runs(std::span<const UsersWithRows> histogram) {
  std::pmr::vector<UsersWithRows> sorted(histogram.begin(), histogram.end(),
                                         runs_.get_allocator().resource());
  std::sort(sorted.begin(), sorted.end(),
            [](const UsersWithRows& a, const UsersWithRows& b) { return a.rows < b.rows; });
  for (const UsersWithRows& entry : sorted) {
    if (entry.rows == 0 || entry.users == 0) continue;
    if (entry.users > (kMaxRows - rows_) / entry.rows) {
      throw std::length_error("more than 4294967295 rows");
    }
    rows_ += entry.rows * entry.users;
    users_ += entry.users;
    if (runs_.empty() || runs_.back().rows != entry.rows) runs_.push_back({entry.rows, 0});
    runs_.back().users += entry.users;
  }
}

std::uint64_t RowsPerUser::kept(std::uint64_t bound) const {
  std::uint64_t kept = 0;
  for (const UsersWithRows& run : runs_) kept += std::min(run.rows, bound) * run.users;
  return kept;
}

std::uint64_t least_mean_error_bound(const RowsPerUser& counts, double epsilon) {
  return largest_minimiser(counts, [&](std::uint64_t bound, std::uint64_t kept) {
    return mean_left_out_error(counts.rows(), kept) +
           mean_sensitivity_fraction(kept, bound) / epsilon;
  });
}

std::uint64_t least_variance_error_bound(const RowsPerUser& counts, double epsilon) {
  return largest_minimiser(counts, [&](std::uint64_t bound, std::uint64_t kept) {
    return variance_left_out_error(counts.rows(), kept) +
           variance_sensitivity_fraction(kept, bound) / epsilon;
  });
}

std::uint64_t median_bound(const RowsPerUser& counts) {
  std::uint64_t users = 0;
  for (const UsersWithRows& run : counts.runs()) {
    users += run.users;
    if (2 * users >= counts.users()) return run.rows;
  }
  return 0;
}

std::uint64_t array_concentration_bound(const RowsPerUser& counts) {
  std::uint64_t best = 0;
  uint128_t most = 0;
  for_each_bound(counts, [&](std::uint64_t bound, std::uint64_t kept) {
    const uint128_t arrays = kept / bound;
    const uint128_t square = arrays * arrays * bound;
    if (square < most) return;
    most = square;
    best = bound;
  });
  return best;
}

}  // namespace dpquantile
