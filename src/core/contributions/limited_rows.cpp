#include "core/contributions/limited_rows.hpp"

#include <algorithm>
#include <array>
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

struct RankedRow {
  SipHash128 rank;
  std::size_t row;

  bool operator<(const RankedRow& other) const {
    return std::tie(rank, row) < std::tie(other.rank, other.row);
  }
};
using RankedRows = std::pmr::vector<RankedRow>;

SipHash128 rank_of(const SipKey& key, const SipHash128& values, std::uint64_t number) {
  std::array<std::uint8_t, 24> message;
  const std::array<std::uint64_t, 3> words = {values.low, values.high, number};
  for (std::size_t i = 0; i < message.size(); ++i) {
    message[i] = static_cast<std::uint8_t>(words[i / 8] >> 8 * (i % 8));
  }
  return sip_hash_128(key, message);
}

// Gives each row the hash of its values and of its number among those with the same values.
void rank(std::span<RankedRow> own, const SipKey& key, CancelPoll& cancel) {
  std::ranges::sort(own, [&](const RankedRow& a, const RankedRow& b) {
    cancel.tick();
    return a < b;
  });
  SipHash128 values{};
  std::uint64_t number = 0;
  for (RankedRow& row : own) {
    number = row.rank == values ? number + 1 : 0;
    values = row.rank;
    row.rank = rank_of(key, values, number);
  }
}

void keep_some(std::span<const RowOfUser> own, std::span<const HashedRow> rows, std::uint64_t most,
               const SipKey& key, std::span<std::uint8_t> kept, const Workspace& work) {
  RankedRows ranked(work.memory);
  ranked.reserve(own.size());
  for (const RowOfUser& row : own) ranked.push_back({rows[row.row].values, row.row});
  rank(ranked, key, work.cancel);
  std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most),
                   ranked.end());
  for (std::size_t i = 0; i < most; ++i) kept[ranked[i].row] = 1;
}

}  // namespace

void limit_rows(std::span<const HashedRow> rows, std::uint64_t most, const SipKey& key,
                std::span<std::uint8_t> kept, const Workspace& work) {
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
      keep_some(own, rows, most, key, kept, work);
    }
  }
}

}  // namespace dpquantile
