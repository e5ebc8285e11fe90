#include "core/noisy_histogram/learned_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/int128.hpp"
#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

// How sure a block must be that it has records: in the cell beside an end, and far away.
constexpr int kNear = 3;
constexpr int kFar = kFarLevel;

// The scale of noise is rounded up, and a count may be just at the threshold of the scale that was
// asked for.
constexpr double kRounding = 1 - 0x1p-30;

// Chernoff's bound for the sum of `width` Laplace noises of scale 1: the sum is t or more with a
// probability of at most e^-this.
double laplace_level(double width, double t) {
  const double at = (std::hypot(width, t) - width) / t;
  return at * t + width * std::log1p(-at * at);
}

// The smallest t with laplace_level(width, t) >= level, up to rounding.
double laplace_in_block(double width, double level) {
  if (width == 1) return level;
  double low = 0;
  double high = 2 * level + 4 * std::sqrt(width * level);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (laplace_level(width, middle) < level ? low : high) = middle;
  }
  return high;
}

constexpr int kMostWidths = 11;  // an OrdinalGrid has up to 10 digits

// laplace_in_block() of 2^k cells at a whole level. There are some hundred of them, each takes a
// while, and they are the same for all noise: they are found once.
double laplace_units(int k, int level) {
  struct Units {
    double of[kMostWidths][kFar + 1];
  };
  static const Units units = [] {
    Units found{};
    for (int width = 0; width < kMostWidths; ++width) {
      for (int at = 1; at <= kFar; ++at) found.of[width][at] = laplace_in_block(1 << width, at);
    }
    return found;
  }();
  return units.of[k][level];
}

// Blocks of 1, 2, 4 ... 2^digits cells, and whether they have records. Wide blocks, of up to
// kWidestBlock cells, only tell that the records do not end before them.
class Blocks {
 public:
  Blocks(std::span<const std::int64_t> noisy, int digits, const CountNoise& noise,
         std::pmr::memory_resource* memory)
      : cells_(noisy.size()),
        narrow_(digits + 1),
        widths_(std::max(narrow_, static_cast<int>(std::bit_width(unsigned{kWidestBlock})))),
        below_(memory),
        thresholds_(memory) {
    below_.reserve(cells_ + 1);
    below_.push_back(0);
    for (const std::int64_t count : noisy) below_.push_back(below_.back() + count);
    const bool is_pure = noise.measure == PrivacyMeasure::kPure;
    thresholds_.reserve(static_cast<std::size_t>(widths_ * (kFar + 1)));
    for (int k = 0; k < widths_; ++k) {
      thresholds_.push_back(0);
      for (int level = 1; level <= kFar; ++level) {
        thresholds_.push_back(kRounding * (is_pure ? noise.spread * laplace_units(k, level)
                                                   : noise_in_block(1 << k, level, noise)));
      }
    }
  }

  // The cells between both ends.
  std::optional<CellRange> with_records() const {
    const std::optional<CellRange> block = densest();
    if (!block) return std::nullopt;
    return CellRange{lower_end(block->begin), upper_end(block->end)};
  }

  // Whether a block between these edges has records for sure.
  bool surely_have_records(std::size_t begin, std::size_t end) const {
    for (; begin < end; ++begin) {
      for (int k = 0; k < widths_; ++k) {
        const std::size_t next = begin + (std::size_t{1} << k);
        if (next <= end && records(begin, next) >= threshold(k, kFar)) return true;
      }
    }
    return false;
  }

 private:
  // The narrowest block that has records for sure; of these the one with most.
  std::optional<CellRange> densest() const {
    std::optional<CellRange> best;
    double most = 0;
    for (int k = 0; k < narrow_ && !best; ++k) {
      const std::size_t width = std::size_t{1} << k;
      for (std::size_t begin = 0; begin + width <= cells_; ++begin) {
        const double share = records(begin, begin + width) / threshold(k, kFar);
        if (best ? share <= most : share < 1) continue;
        most = share;
        best = {begin, begin + width};
      }
    }
    return best;
  }

  // Where the records end, from an end on.
  std::size_t upper_end(std::size_t end) const {
    for (std::size_t begin = end; begin < cells_; ++begin) {
      for (int k = 0; k < widths_; ++k) {
        const std::size_t next = begin + (std::size_t{1} << k);
        if (next > cells_ || !has_records(begin, next, k, next - end)) continue;
        end = k < narrow_ ? next : begin + 1;
        begin = end - 1;
        break;
      }
    }
    return end;
  }

  std::size_t lower_end(std::size_t end) const {
    for (std::size_t begin = end; begin > 0; --begin) {
      for (int k = 0; k < widths_; ++k) {
        const std::size_t width = std::size_t{1} << k;
        if (width > begin || !has_records(begin - width, begin, k, end - (begin - width))) continue;
        end = k < narrow_ ? begin - width : begin - 1;
        begin = end + 1;
        break;
      }
    }
    return end;
  }

  double records(std::size_t begin, std::size_t end) const {
    return static_cast<double>(below_[end] - below_[begin]);
  }
  double threshold(int k, std::size_t level) const {
    return thresholds_[static_cast<std::size_t>(k * (kFar + 1)) + level];
  }
  // `distance`: from the end so far to the far end of the block, in cells.
  bool has_records(std::size_t begin, std::size_t end, int k, std::size_t distance) const {
    const std::size_t level =
        k < narrow_ ? std::min<std::size_t>(kNear + distance - 1, kFar) : kFar;
    return records(begin, end) >= threshold(k, level);
  }

  std::size_t cells_;
  int narrow_;  // the widths of blocks of at most an octave
  int widths_;
  std::pmr::vector<int128_t> below_;  // the records below each edge
  std::pmr::vector<double> thresholds_;
};

// An end that is small beside the other one, without the digits that only tell how close to 0 it
// is: rounded outwards. One that is hardly beyond 0, without sure records there, is 0; numbers in
// the cell beside 0 are 0, too. The larger one has few digits, and keeps them. Cell `zero` begins
// at 0.
LearnedBounds rounded(double lower, double upper, const Blocks& blocks, std::size_t zero) {
  const double largest = std::max(std::abs(lower), std::abs(upper));
  const double unit = std::ldexp(1, std::ilogb(largest) - 12);
  const double hardly = unit / 256;
  const auto round_lower = [&] {
    if (-lower == largest) return lower;
    if (lower < 0 && -lower < hardly && !blocks.surely_have_records(0, zero - 1)) return 0.0;
    return std::floor(lower / unit) * unit;
  };
  const auto round_upper = [&] {
    if (upper == largest) return upper;
    if (upper > 0 && upper < hardly && !blocks.surely_have_records(zero + 1, 2 * zero)) return 0.0;
    return std::ceil(upper / unit) * unit + 0.0;  // never -0
  };
  return {round_lower(), round_upper()};
}

}  // namespace

double noise_in_block(int width, double level, const CountNoise& noise) {
  const double unit = noise.measure == PrivacyMeasure::kPure ? laplace_in_block(width, level)
                                                             : std::sqrt(2 * width * level);
  return noise.spread * unit;
}

std::optional<CellRange> cells_with_records(std::span<const std::int64_t> noisy, int digits,
                                            const CountNoise& noise,
                                            std::pmr::memory_resource* memory) {
  return Blocks(noisy, digits, noise, memory).with_records();
}

std::optional<LearnedBounds> bounds_of_noisy_counts(const OrdinalGrid& grid,
                                                    std::span<const std::int64_t> noisy,
                                                    const CountNoise& noise,
                                                    std::pmr::memory_resource* memory) {
  const Blocks blocks(noisy, grid.digits(), noise, memory);
  const auto cells = blocks.with_records();
  if (!cells) return std::nullopt;
  return rounded(grid.edge(static_cast<std::uint32_t>(cells->begin)),
                 grid.edge(static_cast<std::uint32_t>(cells->end)), blocks, grid.cells() / 2);
}

std::pmr::vector<std::int64_t> noisy_cell_counts(std::span<const std::uint64_t> counts,
                                                 const PrivacyParameter& privacy, CountNoise* noise,
                                                 const MechanismContext& context) {
  const IntegerNoise drawn(privacy, 1);
  *noise = {privacy.measure, drawn.spread()};
  std::pmr::vector<std::int64_t> noisy(counts.size(), context.memory);
  drawn.table().draw(noisy, context.random);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    context.cancel.tick();
    const int128_t sum = int128_t{counts[i]} + noisy[i];
    noisy[i] = static_cast<std::int64_t>(std::clamp<int128_t>(sum, INT64_MIN, INT64_MAX));
  }
  return noisy;
}

std::optional<LearnedBounds> learn_bounds(const OrdinalGrid& grid,
                                          std::span<const std::uint64_t> counts,
                                          const PrivacyParameter& privacy,
                                          const MechanismContext& context) {
  CountNoise noise;
  const auto noisy = noisy_cell_counts(counts, privacy, &noise, context);
  return bounds_of_noisy_counts(grid, noisy, noise, context.memory);
}

}  // namespace dpquantile
