#include "core/noisy_histogram/closer_look.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/int128.hpp"
#include "core/privacy/nested_laplace.hpp"

namespace dpquantile {

namespace {

// A range of so few cells may be much wider than the values in it.
constexpr std::size_t kFewCells = 2;
// A closer look divides the range into 2^kDigits to 2^(kDigits + 1) cells, and each octave of the
// distances beyond it into 2^kDigits.
constexpr int kDigits = 5;
constexpr int kLeastOfGrid = -1000;  // what OrdinalGrid takes

CountNoise noise_of(const NoiseTable& table) {
  return {PrivacyMeasure::kPure, table.spread()};
}

std::int64_t within_64_bits(int128_t count) {
  return static_cast<std::int64_t>(std::clamp<int128_t>(count, INT64_MIN, INT64_MAX));
}

std::optional<CloserLook> closer_look(const OrdinalGrid& grid, const CellRange& cells,
                                      const AllValues& all) {
  if (cells.end - cells.begin > kFewCells) return std::nullopt;
  const double lower = std::max(grid.edge(static_cast<std::uint32_t>(cells.begin)), all.lower);
  const double upper = std::min(grid.edge(static_cast<std::uint32_t>(cells.end)), all.upper);
  const double half_width = upper / 2 - lower / 2;
  if (!(half_width > 0) || half_width < all.least_width / 2) return std::nullopt;
  const int least = std::clamp(std::ilogb(half_width) + 1, kLeastOfGrid, grid.end());
  return CloserLook{
      OrdinalGrid(kDigits, least, grid.end()), std::midpoint(lower, upper), {lower, upper}};
}

}  // namespace

FirstLook look_for_bounds(const OrdinalGrid& grid, std::span<const std::uint64_t> counts,
                          double epsilon, const AllValues& all, const MechanismContext& context) {
  const NestedScales scales = nested_laplace_scales(epsilon, kLooks);
  const NoiseTable whole = NoiseTable::laplace(scales.whole);
  const NoiseTable part = NoiseTable::laplace(scales.part);
  std::pmr::vector<std::int64_t> with_whole(counts.size(), context.memory);
  std::pmr::vector<std::int64_t> with_part(counts.size(), context.memory);
  whole.draw(with_whole, context.random);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    context.cancel.tick();
    const int128_t noisy = int128_t{counts[i]} + with_whole[i];
    with_part[i] = within_64_bits(noisy + draw_more_laplace(part, kLooks, context.random));
    with_whole[i] = within_64_bits(noisy);
  }
  const auto cells = cells_with_records(with_part, grid.digits(), noise_of(part), context.memory);
  if (cells) {
    if (const auto closer = closer_look(grid, *cells, all)) return {{}, closer};
  }
  return {bounds_of_noisy_counts(grid, with_whole, noise_of(whole), context.memory), {}};
}

LearnedBounds look_closer(const CloserLook& look, std::span<const std::uint64_t> counts,
                          double epsilon, const MechanismContext& context) {
  const NoiseTable rest = NoiseTable::laplace(nested_laplace_scales(epsilon, kLooks).rest);
  std::pmr::vector<std::int64_t> noisy(counts.size(), context.memory);
  rest.draw(noisy, context.random);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    context.cancel.tick();
    noisy[i] = within_64_bits(int128_t{counts[i]} + noisy[i]);
  }
  const auto cells = cells_with_records(noisy, look.grid.digits(), noise_of(rest), context.memory);
  if (!cells) return look.found;
  const auto edge = [&](std::size_t cell) {
    constexpr double kMost = std::numeric_limits<double>::max();
    const double distance = look.grid.edge(static_cast<std::uint32_t>(cell));
    return std::clamp(look.origin + distance, -kMost, kMost);
  };
  return {edge(cells->begin), edge(cells->end)};
}

}  // namespace dpquantile
