// The randomness of the fuzzer's library, in place of src/core/privacy/random.cpp, of the samplers
// of noise.cpp and noise_table.cpp there and of the decision of dp_keep_group: the linker takes the
// first definition of a symbol (make .build/neighbours/dpquantile.so). Nothing that is installed
// has it.
//
// The setting fuzz.noise says which noise the answers get: none (the most likely value), or else
// fixed noise, the same in each execution. A draw of noise takes one number of the stream, whatever
// it is, and the stream of a call begins at its group and column, so that the noise of one answer
// does not depend on the data of another. dp_keep_group keeps the groups of at least fuzz.keep_at
// rows or users. A tape has each draw (tape.hpp).
#include "core/privacy/noise.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/privacy/noise_table.hpp"
#include "core/privacy/random.hpp"
#include "core/selection/group_selection.hpp"
#include "tape.hpp"

extern "C" const char* GetConfigOption(const char* name, bool missing_ok, bool restrict_privileged);

namespace dpquantile {

namespace {

const char* setting(const char* name, const char* otherwise) {
  const char* value = GetConfigOption(name, true, false);
  return value == nullptr ? otherwise : value;
}

bool is_without_noise() {
  return tape::is_silent() || std::strcmp(setting("fuzz.noise", "fixed"), "none") == 0;
}

// SplitMix64: consecutive numbers become independent ones.
std::uint64_t mixed(std::uint64_t number) {
  number *= 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

double quotient(Rational value) {
  return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

std::int64_t noise_of_spread(RandomStream& random, const char* law, double spread) {
  const tape::Draw draw(law, spread);
  const double drawn = 2 * random.unit_real() - 1;
  return is_without_noise() ? 0 : std::llround(drawn * spread);
}

}  // namespace

void CsprngSource::fill(std::span<std::byte>) {
  throw std::logic_error("the fuzzer's library has no CSPRNG");
}

// The buffer holds only the number of draws so far.
RandomStream::RandomStream(RandomSource& source)
    : source_(source), buffer_{}, position_(tape::first_position()), fork_generation_(0) {}

RandomStream::~RandomStream() = default;

std::uint64_t RandomStream::bits64() {
  const tape::Draw draw("bits", 64);
  const std::uint64_t position = tape::position_in_call();
  return mixed(position != 0 ? position : ++position_);
}

void RandomStream::fill(std::span<std::uint64_t> words) {
  const tape::Draw draw("bits", 64, words.size());
  for (std::uint64_t& word : words) word = bits64();
}

std::uint64_t RandomStream::uniform_below(std::uint64_t bound) {
  const tape::Draw draw("below", static_cast<double>(bound));
  return bits64() % bound;
}

uint128_t RandomStream::uniform_below_128(uint128_t bound) {
  const tape::Draw draw("below", static_cast<double>(bound));
  const uint128_t high = bits64();
  return (high << 64 | bits64()) % bound;
}

double RandomStream::unit_real() {
  const tape::Draw draw("real", 0);
  return std::ldexp(static_cast<double>(bits64() >> 11), -53);
}

bool bernoulli_exp(RandomStream& random, uint128_t gamma_numerator, uint128_t gamma_denominator) {
  const tape::Draw draw("coin", 0);
  const double gamma =
      static_cast<double>(gamma_numerator) / static_cast<double>(gamma_denominator);
  const double drawn = random.unit_real();
  return is_without_noise() ? gamma_numerator == 0 : drawn < std::exp(-gamma);
}

std::int64_t discrete_laplace(RandomStream& random, Rational scale) {
  return noise_of_spread(random, "noise of a scale", quotient(scale));
}

std::int64_t discrete_gaussian(RandomStream& random, Rational sigma_squared) {
  return noise_of_spread(random, "noise of a sigma", std::sqrt(quotient(sigma_squared)));
}

std::int64_t NoiseTable::draw(RandomStream& random) const {
  return noise_of_spread(random, "noise of a table", spread());
}

void NoiseTable::draw(std::span<std::int64_t> noise, RandomStream& random) const {
  const tape::Draw all("noise of a table", spread(), noise.size());
  for (std::int64_t& each : noise) each = draw(random);
}

bool GroupSelection::draw_keep(std::uint64_t rows, RandomStream&) const {
  tape::MechanismCall mechanism("selection", pure(epsilon_), rows);
  mechanism.add_public(delta_);
  mechanism.add_input(0, rows);
  std::uint64_t kept[] = {rows >= std::strtoull(setting("fuzz.keep_at", "20"), nullptr, 10)};
  mechanism.exchange(kept);
  return kept[0] != 0;
}

}  // namespace dpquantile
