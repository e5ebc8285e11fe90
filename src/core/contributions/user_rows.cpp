#include "core/contributions/user_rows.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "core/base/radix_sort.hpp"
#include "core/contributions/fixed_point.hpp"

namespace dpquantile {

namespace {

constexpr std::size_t kMaxRows = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kSmall = 512;

std::uint32_t grid_key(const UserRow& row, Contribution contribution) {
  return contribution == Contribution::kUser ? 0 : row.grid;
}

void sort_rows(std::span<UserRow> rows, Contribution contribution, const Workspace& work) {
  if (rows.size() <= kSmall) {
    std::sort(rows.begin(), rows.end(), [=](const UserRow& a, const UserRow& b) {
      if (a.user != b.user) return a.user < b.user;
      const std::uint32_t grid_a = grid_key(a, contribution);
      const std::uint32_t grid_b = grid_key(b, contribution);
      return grid_a != grid_b ? grid_a < grid_b : a.value < b.value;
    });
    return;
  }
  StableRadixSort<UserRow> sort(rows, work);
  sort.by([](const UserRow& row) { return row.value; }, 32);
  if (contribution == Contribution::kUserInGrid) {
    std::uint32_t last_grid = 0;
    for (const UserRow& row : rows) {
      work.cancel.tick();
      last_grid = std::max(last_grid, row.grid);
    }
    sort.by([](const UserRow& row) { return row.grid; },
            static_cast<unsigned>(std::bit_width(last_grid)));
  }
  sort.by([](const UserRow& row) { return row.user; }, 64);
  sort.finish();
}

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection.
std::uint64_t mix(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

// A value and its place in the order in which a user's values are kept.
struct PlacedValue {
  std::uint64_t place;
  std::uint32_t value;
  bool operator<(const PlacedValue& other) const {
    return place != other.place ? place < other.place : value < other.value;
  }
};

}  // namespace

void RowMoments::add(std::uint32_t value) {
  const std::uint64_t units = std::min(value, FixedPoint::kOne);
  ++count;
  sum += units;
  squares += units * units;
}

void RowMoments::add(const RowMoments& other) {
  count += other.count;
  sum += other.sum;
  squares += other.squares;
}

UserRows::UserRows(std::span<UserRow> rows, Contribution contribution, const Workspace& work)
    : rows_(rows), starts_(work.memory) {
  if (rows.size() > kMaxRows) throw std::length_error("more than 4294967295 rows");
  sort_rows(rows, contribution, work);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    work.cancel.tick();
    const bool same = i > 0 && rows[i].user == rows[i - 1].user &&
                      grid_key(rows[i], contribution) == grid_key(rows[i - 1], contribution);
    if (!same) starts_.push_back(i);
  }
  starts_.push_back(rows.size());
}

RowMoments UserRows::kept(std::size_t i, std::uint64_t most, CancelPoll& cancel) const {
  RowMoments moments;
  const std::span<const UserRow> rows = rows_of(i);
  if (rows.size() <= most) {
    for (const UserRow& row : rows) {
      cancel.tick();
      moments.add(row.value);
    }
    return moments;
  }

  // Sorting by value put equal values next to each other, so their occurrences can be numbered.
  std::pmr::vector<PlacedValue> values(starts_.get_allocator().resource());
  values.reserve(rows.size());
  std::uint64_t occurrence = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    cancel.tick();
    const std::uint32_t value = rows[j].value;
    occurrence = j > 0 && value == rows[j - 1].value ? occurrence + 1 : 0;
    values.push_back({mix(rows[j].user ^ mix(std::uint64_t{value} << 32 | occurrence)), value});
  }
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(values.begin(), end, values.end());
  for (auto kept = values.begin(); kept != end; ++kept) moments.add(kept->value);
  return moments;
}

KeptRows UserRows::kept(std::uint64_t most, CancelPoll& cancel) const {
  KeptRows all;
  for (std::size_t i = 0; i < size(); ++i) {
    const RowMoments own = kept(i, most, cancel);
    all.moments.add(own);
    all.most = std::max(all.most, own.count);
  }
  return all;
}

}  // namespace dpquantile
