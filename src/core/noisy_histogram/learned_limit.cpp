#include "core/noisy_histogram/learned_limit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace dpquantile {

namespace {

constexpr int kDigits = 3;  // 2^3 cells an octave
constexpr int kEnd = 40;

constexpr std::size_t kCellsBeyond = 2 << kDigits;  // two octaves

// How many rows a person with the mean number of its cell has beyond the limit.
double rows_of_cell_beyond(std::size_t cell, std::uint64_t limit) {
  const auto i = static_cast<std::uint32_t>(cell);
  const double mean =
      (static_cast<double>(least_rows(i)) + static_cast<double>(least_rows(i + 1)) - 1) / 2;
  return std::max(mean - static_cast<double>(limit), 0.0);
}

}  // namespace

std::uint32_t cell_of_rows(std::uint64_t rows) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << kEnd) - 1;
  rows = std::min(rows, kLast);
  const int octave = std::max(static_cast<int>(std::bit_width(rows)) - 1 - kDigits, 0);
  return static_cast<std::uint32_t>((rows >> octave) +
                                    (static_cast<std::uint64_t>(octave) << kDigits)) -
         1;
}

std::uint64_t least_rows(std::uint32_t cell) {
  const std::uint32_t i = cell + 1;
  const std::uint32_t octave = (i >> kDigits) == 0 ? 0 : (i >> kDigits) - 1;
  return static_cast<std::uint64_t>(i - (octave << kDigits)) << octave;
}

std::optional<LearnedLimit> limit_of_noisy_counts(std::span<const std::int64_t> noisy,
                                                  const CountNoise& noise, double noise_of_one,
                                                  std::uint64_t most,
                                                  std::pmr::memory_resource* memory) {
  const auto cells = cells_with_records(noisy, kDigits, noise, memory);
  if (!cells) return std::nullopt;
  const auto rows_beyond = [&](std::uint64_t limit, std::size_t end) {
    double rows = 0;
    for (std::size_t i = 0; i < end; ++i) {
      rows += static_cast<double>(noisy[i]) * rows_of_cell_beyond(i, limit);
    }
    return rows;
  };
  const std::uint64_t last = std::min(most, least_rows(static_cast<std::uint32_t>(cells->end)) - 1);
  std::uint64_t best = 1;
  double least = rows_beyond(1, cells->end) + noise_of_one;
  for (std::uint64_t limit = 2; limit <= last; ++limit) {
    const double loss = rows_beyond(limit, cells->end) + noise_of_one * static_cast<double>(limit);
    if (loss >= least) continue;
    least = loss;
    best = limit;
  }
  const std::size_t told = std::min<std::size_t>(cells->end + kCellsBeyond, noisy.size());
  double squares = 0;
  for (std::size_t i = 0; i < told; ++i) squares += std::pow(rows_of_cell_beyond(i, best), 2);
  const double deviation =
      noise.spread * (noise.measure == PrivacyMeasure::kPure ? std::numbers::sqrt2 : 1);
  return LearnedLimit{best, std::max(rows_beyond(0, told), 0.0),
                      std::max(rows_beyond(best, told), 0.0), 2 * deviation * std::sqrt(squares)};
}

std::optional<LearnedLimit> learn_limit(std::span<const std::uint64_t> persons,
                                        const PrivacyParameter& privacy, double noise_of_one,
                                        std::uint64_t most, const MechanismContext& context) {
  CountNoise noise;
  const auto noisy = noisy_cell_counts(persons, privacy, &noise, context);
  return limit_of_noisy_counts(noisy, noise, noise_of_one, most, context.memory);
}

}  // namespace dpquantile
