#include "core/histogram/cell_counters.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/base/as_size.hpp"
#include "core/base/radix_sort.hpp"

namespace dpquantile {

namespace {

// Calls body(begin, end) for each block of cells in order.
template <class Body>
void for_blocks(std::size_t cells, CancelPoll& cancel, Body body) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < cells; begin += kBlock) {
    const std::size_t end = std::min(cells, begin + kBlock);
    cancel.tick(end - begin);
    body(begin, end);
  }
}

// How many of the bytes are at least `least`, which is 1 .. 128. Eight at a time: a number of 64
// bits has no carry between its bytes while their highest bits are zero.
std::size_t bytes_from(std::uint64_t least, std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighest = 0x80 * kOnes;
  const std::uint64_t up = (128 - least) * kOnes;
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, &bytes[i], sizeof eight);
    const std::uint64_t found = (((eight & ~kHighest) + up) | eight) & kHighest;
    count += (found >> 7) * kOnes >> 56;
  }
  for (; i < bytes.size(); ++i) count += bytes[i] >= least ? 1U : 0U;
  return count;
}

}  // namespace

void CellCounters::set_up(std::uint64_t cells, std::uint64_t records) {
  carried_.reserve(as_size(records / kCarried));
  low_.resize(as_size(cells));
}

void CellCounters::widen() {
  high_.resize(low_.size());
  for (const std::uint32_t cell : carried_) high_[cell] += kCarried;
  carried_ = std::pmr::vector<std::uint32_t>(carried_.get_allocator());
}

void CellCounters::add_high(CellRun run) {
  if (are_wide()) {
    high_[run.cell] += run.count;
  } else {
    carried_.insert(carried_.end(), run.count / kCarried, run.cell);
  }
}

void CellCounters::add(CellRun run) {
  constexpr std::uint32_t kMostLow = 255;
  const std::uint64_t count = std::uint64_t{low_[run.cell]} + run.count;
  std::uint64_t high = 0;
  if (count > kMostLow) high = (count - kCarried) / kCarried * kCarried;
  low_[run.cell] = static_cast<std::uint8_t>(count - high);
  if (high > 0) add_high({run.cell, static_cast<std::uint32_t>(high)});
}

void CellCounters::add(const CellCounters& other, CancelPoll& cancel) {
  for_blocks(low_.size(), cancel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      const std::uint32_t count = other.low_[cell] + (other.are_wide() ? other.high_[cell] : 0);
      if (count > 0) add({static_cast<std::uint32_t>(cell), count});
    }
  });
  for (const std::uint32_t cell : other.carried_) add({cell, kCarried});
}

template <class Visit>
void CellCounters::visit_cells(const Workspace& work, Visit visit) {
  radix_sort(carried_, low_.size(), work);
  const std::uint8_t* const low = low_.data();
  const std::uint32_t* const high = are_wide() ? high_.data() : nullptr;
  std::size_t next = 0;
  const auto next_carried = [&] { return next < carried_.size() ? carried_[next] : low_.size(); };
  std::size_t carried = next_carried();
  for_blocks(low_.size(), work.cancel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      std::uint32_t count = low[cell];
      if (high != nullptr) count += high[cell];
      for (; carried == cell; carried = next_carried()) {
        count += kCarried;
        ++next;
      }
      visit(static_cast<std::uint32_t>(cell), count);
    }
  });
}

CellRuns CellCounters::runs(const Workspace& work) {
  CellRuns runs(work.memory);
  visit_cells(work, [&](std::uint32_t cell, std::uint32_t count) {
    if (count > 0) runs.append({cell, count});
  });
  return runs;
}

Histogram CellCounters::histogram(const Workspace& work) {
  std::size_t runs = 0;
  std::size_t ties = 0;
  for_blocks(low_.size(), work.cancel, [&](std::size_t begin, std::size_t end) {
    const auto low = std::span(low_).subspan(begin, end - begin);
    runs += bytes_from(1, low);
    ties += bytes_from(2, low);
  });
  return Histogram::of_cells(
      runs, ties, [&](auto visit) { visit_cells(work, visit); }, work);
}

}  // namespace dpquantile
