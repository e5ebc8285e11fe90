#include "core/contributions/best_fit.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace dpquantile {

namespace {

std::pmr::vector<std::uint32_t> by_descending_rows(std::span<const std::uint64_t> rows,
                                                   std::pmr::memory_resource* memory) {
  std::pmr::vector<std::uint32_t> order(rows.size(), memory);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rows[a] != rows[b] ? rows[a] > rows[b] : a < b;
  });
  return order;
}

}  // namespace

Packing best_fit(std::span<const std::uint64_t> rows, std::uint64_t capacity,
                 const Workspace& work) {
  std::pmr::vector<std::uint32_t> array_of(rows.size(), work.memory);
  std::uint32_t arrays = 0;
  // The arrays that are not full, keyed by the room they have left.
  std::pmr::multimap<std::uint64_t, std::uint32_t> with_room(work.memory);
  for (const std::uint32_t user : by_descending_rows(rows, work.memory)) {
    work.cancel.tick();
    const auto fullest = with_room.lower_bound(rows[user]);
    const bool fits = fullest != with_room.end();
    const std::uint64_t room = (fits ? fullest->first : capacity) - rows[user];
    const std::uint32_t array = fits ? fullest->second : arrays++;
    if (fits) with_room.erase(fullest);
    if (room > 0) with_room.emplace(room, array);
    array_of[user] = array;
  }

  std::pmr::vector<std::uint64_t> fills(arrays, work.memory);
  for (std::size_t user = 0; user < rows.size(); ++user) fills[array_of[user]] += rows[user];
  return {std::move(array_of), std::move(fills)};
}

}  // namespace dpquantile
