#include "core/privacy/noise_table.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/privacy/exp_coin.hpp"

namespace dpquantile {

namespace {

constexpr unsigned kHalfBits = 32;
// As many low bits leave enough bits of half a word for the coin.
constexpr unsigned kLowBitsInHalf = 20;

// A spread is at least this many cells wide, and less than twice as many.
constexpr unsigned kLaplaceCellBits = 4;
constexpr unsigned kGaussianCellBits = 5;
// A draw is beyond the cells with a probability of about e^-10. Then it takes microseconds.
constexpr double kLaplaceReach = 10;
constexpr double kGaussianReach = 4.5;

int bit_width_128(uint128_t value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  if (high != 0) return 64 + static_cast<int>(std::bit_width(high));
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

// The largest b with spread / 2^b >= 2^cell_bits for spread^power = `whole`, or 0.
unsigned low_bits_of(uint128_t whole, int power, unsigned cell_bits) {
  const int bits = bit_width_128(whole) - 1 - power * static_cast<int>(cell_bits);
  return static_cast<unsigned>(std::max(bits, 0) / power);
}

// g(cell + low / 2^low_bits) - g(cell), as numerator and denominator.
struct Gamma {
  Wide numerator;
  Wide denominator;
};

Gamma gamma_of(const CellLaw& law, unsigned low_bits, const Wide& cell, const Wide& low) {
  const Wide numerator(law.rate.numerator);
  const Wide denominator = Wide(law.rate.denominator) << low_bits;
  if (law.shape == NoiseShape::kLaplace) return {numerator * low, denominator};
  const Wide product = (cell * low << (low_bits + 1)) + low * low;
  return {numerator * product, denominator << low_bits};
}

// with_sign() for a magnitude below 2^63, without a branch. `negative` is 0 or 1.
std::int64_t signed_number(std::uint64_t negative, std::uint64_t magnitude) {
  return static_cast<std::int64_t>((magnitude ^ (0 - negative)) + negative);
}

}  // namespace

NoiseTable::NoiseTable(NoiseShape shape, const Fraction& rate, unsigned low_bits, double cells,
                       double spread)
    : table_({shape, rate, static_cast<std::uint32_t>(std::max(cells, 1.0)), low_bits == 0}),
      low_bits_(low_bits),
      coin_bits_(low_bits > kLowBitsInHalf ? kHalfBits : kHalfBits - low_bits),
      spread_(spread) {
  if (low_bits == 0) return;
  const Wide end = Wide(1) << low_bits;
  for (std::uint32_t cell = 0; cell < table_.law().cells; ++cell) {
    const Gamma most = gamma_of(table_.law(), low_bits, cell, end);
    const Wide coin = (most.numerator << coin_bits_) / most.denominator + 1;
    sure_coins_.push_back(static_cast<std::uint32_t>(coin));
  }
}

NoiseTable NoiseTable::laplace(Rational scale) {
  check_laplace_scale(scale);
  const auto [t, s] = reduced(scale);
  const unsigned low_bits = low_bits_of(t / s, 1, kLaplaceCellBits);
  const double spread = static_cast<double>(t) / static_cast<double>(s);
  return {NoiseShape::kLaplace,
          {uint128_t{s} << low_bits, t},
          low_bits,
          std::ceil(kLaplaceReach * std::ldexp(spread, -static_cast<int>(low_bits))),
          spread};
}

NoiseTable NoiseTable::gaussian(Rational sigma_squared) {
  check_gaussian_variance(sigma_squared);
  const auto [n, d] = reduced(sigma_squared);
  return gaussian_of(n, d);
}

NoiseTable NoiseTable::gaussian(uint128_t sigma_squared) {
  check_gaussian_variance(sigma_squared);
  return gaussian_of(sigma_squared, 1);
}

NoiseTable NoiseTable::gaussian_of(uint128_t numerator, std::uint64_t denominator) {
  const unsigned low_bits = low_bits_of(numerator / denominator, 2, kGaussianCellBits);
  const double sigma = std::sqrt(static_cast<double>(numerator) / static_cast<double>(denominator));
  return {NoiseShape::kGaussian,
          {uint128_t{denominator} << (2 * low_bits), 2 * numerator},
          low_bits,
          std::ceil(kGaussianReach * std::ldexp(sigma, -static_cast<int>(low_bits))),
          sigma};
}

std::int64_t NoiseTable::draw(RandomStream& random) const {
  return draw_from(random.bits64(), random);
}

void NoiseTable::draw(std::span<std::int64_t> noise, RandomStream& random) const {
  std::array<std::uint64_t, 128> words;
  const std::size_t draws_of_word = low_bits_ == 0 ? 2 : 1;
  while (!noise.empty()) {
    const auto some = noise.first(std::min(noise.size(), draws_of_word * words.size()));
    const auto drawn = std::span(words).first((some.size() + draws_of_word - 1) / draws_of_word);
    random.fill(drawn);
    if (low_bits_ == 0) {
      draw_from_halves(drawn, some, random);
    } else {
      std::ranges::transform(drawn, some.begin(),
                             [&](std::uint64_t word) { return draw_from(word, random); });
    }
    noise = noise.subspan(some.size());
  }
  OPENSSL_cleanse(words.data(), sizeof words);
}

// What draw_from() draws without low bits, from each half of the words.
void NoiseTable::draw_from_halves(std::span<const std::uint64_t> words,
                                  std::span<std::int64_t> noise, RandomStream& random) const {
  const std::uint32_t cells = table_.law().cells;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const auto half = static_cast<std::uint32_t>(words[i / 2] >> (i % 2 * kHalfBits));
    const std::uint32_t cell = table_.draw_from_half(half >> 1, random);
    noise[i] = signed_number(half & 1, cell);
    if (cell == cells) [[unlikely]]
      noise[i] = draw_beyond((half & 1) != 0, random);
  }
}

// The first half of the word has the sign and the cell, the other one the low bits and the coin.
// Zero has two signs. Without low bits it is proposed half as often for that; with them a negative
// zero is drawn again.
std::int64_t NoiseTable::draw_from(std::uint64_t word, RandomStream& random) const {
  for (;; word = random.bits64()) {
    const std::uint64_t negative = word & 1;
    const std::uint32_t cell = table_.draw_from_half(static_cast<std::uint32_t>(word) >> 1, random);
    if (cell == table_.law().cells) [[unlikely]]
      return draw_beyond(negative != 0, random);
    std::uint64_t magnitude = cell;
    if (low_bits_ > 0) {
      const bool fit = coin_bits_ < kHalfBits;
      const std::uint64_t other = word >> kHalfBits;
      const std::uint64_t low =
          (fit ? other : random.bits64()) & ((std::uint64_t{1} << low_bits_) - 1);
      const std::uint64_t coin = fit ? other >> low_bits_ : other;
      if (coin < sure_coins_[cell] && !keeps(cell, low, coin, random)) [[unlikely]]
        continue;
      magnitude = (magnitude << low_bits_) + low;
      if (negative != 0 && magnitude == 0) [[unlikely]]
        continue;
    }
    return signed_number(negative, magnitude);
  }
}

// Whether a magnitude of one of the cells is kept, given the first bits of the coin.
bool NoiseTable::keeps(std::uint64_t cell, std::uint64_t low, std::uint64_t coin,
                       RandomStream& random) const {
  const std::uint64_t digit = coin << (64 - coin_bits_) | random.bits64() >> coin_bits_;
  const Gamma gamma = gamma_of(table_.law(), low_bits_, cell, low);
  return bernoulli_exp_from(digit, random, gamma.numerator, gamma.denominator);
}

// The draw for a proposal beyond the cells, with this sign.
std::int64_t NoiseTable::draw_beyond(bool negative, RandomStream& random) const {
  const auto magnitude = propose_beyond(random);
  return magnitude ? with_sign(negative, *magnitude) : draw(random);
}

// A magnitude beyond the cells: a geometric number of cells, kept for the difference between its
// law and e^-g, and then low bits. None if it is not kept.
std::optional<uint128_t> NoiseTable::propose_beyond(RandomStream& random) const {
  const CellLaw& law = table_.law();
  const Fraction tail = law.tail_rate();
  std::uint64_t further = 0;
  while (bernoulli_exp_of_any(random, tail.numerator, tail.denominator)) ++further;
  if (law.shape == NoiseShape::kGaussian) {
    const Wide square = Wide(further) * further;
    const Wide numerator = Wide(law.rate.numerator) * square;
    if (!bernoulli_exp_of_any(random, numerator, Wide(law.rate.denominator))) return std::nullopt;
  }
  const std::uint64_t cell = law.cells + further;
  const std::uint64_t low = random.bits64() & ((std::uint64_t{1} << low_bits_) - 1);
  const Gamma gamma = gamma_of(law, low_bits_, cell, low);
  if (!bernoulli_exp_of_any(random, gamma.numerator, gamma.denominator)) return std::nullopt;
  return (uint128_t{cell} << low_bits_) + low;
}

}  // namespace dpquantile
