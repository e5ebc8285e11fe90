#include "core/contributions/limited_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory_resource>
#include <tuple>
#include <vector>

#include "core/base/radix_sort.hpp"

namespace dpquantile {

namespace {

struct RowOfUser {
  std::uint64_t user;
  std::size_t row;
};
using RowsOfUsers = std::pmr::vector<RowOfUser>;

// Sorts by some bits of the user, as many as leave few users with the same bits.
unsigned sort_roughly(std::span<RowOfUser> rows, const Workspace& work) {
  constexpr unsigned kMostBits = 33;
  const unsigned bits = std::min(kMostBits, static_cast<unsigned>(std::bit_width(rows.size())));
  StableRadixSort<RowOfUser> sort(rows, work);
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  sort.by([mask](const RowOfUser& row) { return row.user & mask; }, bits);
  sort.finish();
  return bits;
}

bool are_of_one_user(std::span<const RowOfUser> rows) {
  return std::ranges::all_of(rows, [&](const RowOfUser& row) { return row.user == rows[0].user; });
}

void sort_by_user(std::span<RowOfUser> rows, const Workspace& work) {
  const std::uint64_t mask = (std::uint64_t{1} << sort_roughly(rows, work)) - 1;
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    while (end < rows.size() && ((rows[end].user ^ rows[first].user) & mask) == 0) ++end;
    const auto same_bits = rows.subspan(first, end - first);
    if (are_of_one_user(same_bits)) continue;
    std::ranges::sort(same_bits, [&](const RowOfUser& a, const RowOfUser& b) {
      work.cancel.tick();
      return a.user < b.user;
    });
  }
}

void keep_all(std::span<const RowOfUser> own, std::span<std::uint8_t> kept) {
  for (const RowOfUser& row : own) kept[row.row] = 1;
}

// Keeps the first rows in the order of the hashes.
void keep_some(std::span<RowOfUser> own, std::span<const HashedRow> rows, std::uint64_t most,
               std::span<std::uint8_t> kept, CancelPoll& cancel) {
  const auto limit = own.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(own.begin(), limit, own.end(), [&](const RowOfUser& a, const RowOfUser& b) {
    cancel.tick();
    return std::tie(rows[a.row].values, a.row) < std::tie(rows[b.row].values, b.row);
  });
  keep_all(own.first(most), kept);
}

}  // namespace

void limit_rows(std::span<const HashedRow> rows, std::uint64_t most, std::span<std::uint8_t> kept,
                const Workspace& work) {
  RowsOfUsers sorted(rows.size(), work.memory);
  for (std::size_t i = 0; i < rows.size(); ++i) sorted[i] = {rows[i].user, i};
  sort_by_user(sorted, work);
  std::ranges::fill(kept, std::uint8_t{0});
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    work.cancel.tick();
    while (end < sorted.size() && sorted[end].user == sorted[first].user) ++end;
    const auto own = std::span(sorted).subspan(first, end - first);
    if (own.size() <= most) {
      keep_all(own, kept);
    } else {
      keep_some(own, rows, most, kept, work.cancel);
    }
  }
}

}  // namespace dpquantile
