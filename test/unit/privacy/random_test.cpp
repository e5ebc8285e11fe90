#include "core/privacy/random.hpp"

#include <gtest/gtest.h>
#include <openssl/rand.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/base/int128.hpp"
#include "support/chi_square.hpp"
#include "support/random_testing.hpp"

// Every statistical check has the false-alarm probability kFalseAlarm (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::chi_square_p_value;
using test::CountingSource;
using test::FailingSource;
using test::kFalseAlarm;
using test::sampled_p_value;
using test::ScriptedSource;

constexpr int kDraws = 1'000'000;
constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kHighBit = std::uint64_t{1} << 63;
constexpr std::size_t kWordsInBuffer = 1024;

constexpr uint128_t two_words(std::uint64_t high, std::uint64_t low) {
  return uint128_t{high} << 64 | low;
}

std::vector<double> equal_cells(std::size_t cells) {
  return std::vector<double>(cells, 1.0 / static_cast<double>(cells));
}

class RandomStreamTest : public ::testing::Test {
 protected:
  CsprngSource source_;
  RandomStream random_{source_};
};

using Bits64 = RandomStreamTest;
using UniformBelow = RandomStreamTest;
using UniformBelow128 = RandomStreamTest;
using UnitReal = RandomStreamTest;

// --- The chi-square test itself ------------------------------------------------------------------

TEST(ChiSquare, MatchesAKnownValue) {
  const std::vector<std::uint64_t> observed = {44, 56};  // statistic 1.44, one degree of freedom
  EXPECT_NEAR(chi_square_p_value(observed, equal_cells(2)), 0.230139, 1e-6);
}

TEST(ChiSquare, PoolsCellsWithSmallExpectations) {
  const std::vector<std::uint64_t> observed = {44, 53, 0, 3};
  const std::vector<double> probabilities = {0.5, 0.46, 0.02, 0.02};
  EXPECT_NEAR(chi_square_p_value(observed, probabilities), 0.230139, 1e-6);
}

TEST(ChiSquare, RejectsAnImpossibleObservation) {
  const std::vector<std::uint64_t> observed = {50, 50, 1};
  const std::vector<double> probabilities = {0.5, 0.5, 0};
  EXPECT_EQ(chi_square_p_value(observed, probabilities), 0);
}

TEST(ChiSquare, RefusesInvalidProbabilities) {
  const std::vector<std::uint64_t> observed = {50, 50};
  EXPECT_THROW(chi_square_p_value(observed, equal_cells(3)), std::invalid_argument);
  EXPECT_THROW(chi_square_p_value(observed, std::vector{0.5, 0.4}), std::invalid_argument);
  EXPECT_THROW(chi_square_p_value(observed, std::vector{1.5, -0.5}), std::invalid_argument);
}

TEST(ChiSquare, RefusesTooFewDrawsForTwoPools) {
  const std::vector<std::uint64_t> observed = {5, 5};
  EXPECT_THROW(chi_square_p_value(observed, equal_cells(2)), std::invalid_argument);
}

// --- Bits ----------------------------------------------------------------------------------------

TEST(ScriptedBits64, AreTheBytesOfTheSourceInOrder) {
  std::vector<std::uint64_t> script(3 * kWordsInBuffer);
  for (std::size_t i = 0; i < script.size(); ++i) script[i] = 0x0123456789abcdef + i;
  ScriptedSource source(script);
  RandomStream random(source);
  for (const std::uint64_t word : script) EXPECT_EQ(random.bits64(), word);
}

// Spans that end in the buffer, at its end and beyond it.
TEST(ScriptedBits64, AreTheSameInSpansOfWords) {
  std::vector<std::uint64_t> script(3 * kWordsInBuffer);
  for (std::size_t i = 0; i < script.size(); ++i) script[i] = 0x0123456789abcdef + i;
  ScriptedSource source(script);
  RandomStream random(source);
  std::vector<std::uint64_t> drawn(script.size());
  std::span<std::uint64_t> rest(drawn);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, kWordsInBuffer - 4, std::size_t{1}, kWordsInBuffer + 5}) {
    random.fill(rest.first(size));
    rest = rest.subspan(size);
    if (size == 3) {
      rest.front() = random.bits64();
      rest = rest.subspan(1);
    }
  }
  const std::size_t count = drawn.size() - rest.size();
  EXPECT_TRUE(std::ranges::equal(std::span(drawn).first(count), std::span(script).first(count)));
}

TEST_F(Bits64, AreFairInEveryByte) {
  std::array<std::array<std::uint64_t, 256>, 8> observed{};
  for (int i = 0; i < kDraws; ++i) {
    std::uint64_t word = random_.bits64();
    for (auto& byte : observed) {
      ++byte[word & 0xff];
      word >>= 8;
    }
  }
  for (const auto& byte : observed) {
    EXPECT_GT(chi_square_p_value(byte, equal_cells(256)), kFalseAlarm);
  }
}

// --- Uniform integers ----------------------------------------------------------------------------

TEST_F(UniformBelow, IsZeroBelowOne) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random_.uniform_below(1), 0U);
}

TEST_F(UniformBelow, IsUniformBelowASmallBound) {
  for (const std::uint64_t bound : {2U, 3U, 10U, 1000U}) {
    const auto draw = [&] { return random_.uniform_below(bound); };
    EXPECT_GT(sampled_p_value(equal_cells(as_size(bound)), kDraws, draw), kFalseAlarm) << bound;
  }
}

// A modulus of 64 bits would make the lowest third twice as likely.
TEST_F(UniformBelow, IsUniformInTheHighBitsBelowThreeTimesAPowerOfTwo) {
  const auto draw = [&] { return random_.uniform_below(3 * (kHighBit >> 1)) >> 62; };
  EXPECT_GT(sampled_p_value(equal_cells(3), kDraws, draw), kFalseAlarm);
}

// The only value with the high bit, 2^63, has probability below 2^-63.
TEST_F(UniformBelow, IsUniformBelowABoundJustAboveAPowerOfTwo) {
  std::vector<double> cells(9, 0.125);
  cells[8] = 0;
  const auto draw = [&] { return random_.uniform_below(kHighBit + 1) >> 60; };
  EXPECT_GT(sampled_p_value(cells, kDraws, draw), kFalseAlarm);
}

TEST_F(UniformBelow, IsUniformInTheHighByteBelowTheLargestBound) {
  const auto draw = [&] { return random_.uniform_below(kAllOnes) >> 56; };
  EXPECT_GT(sampled_p_value(equal_cells(256), kDraws, draw), kFalseAlarm);
}

TEST(ScriptedUniformBelow, DrawsAgainWhenTheBoundIsReached) {
  ScriptedSource source({3, 2, kAllOnes, kHighBit + 1, kHighBit, kAllOnes, kAllOnes - 1});
  RandomStream random(source);
  EXPECT_EQ(random.uniform_below(3), 2U);
  EXPECT_EQ(random.uniform_below(kHighBit + 1), kHighBit);
  EXPECT_EQ(random.uniform_below(kAllOnes), kAllOnes - 1);
}

TEST_F(UniformBelow, RefusesAZeroBound) {
  EXPECT_THROW(random_.uniform_below(0), std::invalid_argument);
  EXPECT_THROW(random_.uniform_below_128(0), std::invalid_argument);
}

TEST_F(UniformBelow128, IsZeroBelowOne) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(random_.uniform_below_128(1) == 0);
}

TEST_F(UniformBelow128, IsUniformBelowASmallBound) {
  const auto draw = [&] { return static_cast<std::size_t>(random_.uniform_below_128(3)); };
  EXPECT_GT(sampled_p_value(equal_cells(3), kDraws, draw), kFalseAlarm);
}

TEST_F(UniformBelow128, IsUniformInTheHighByteBelowTwoToThe64) {
  const auto draw = [&] {
    return static_cast<std::size_t>(random_.uniform_below_128(two_words(1, 0)) >> 56);
  };
  EXPECT_GT(sampled_p_value(equal_cells(256), kDraws, draw), kFalseAlarm);
}

TEST_F(UniformBelow128, IsUniformBelowABoundJustAboveTwoToThe64) {
  std::vector<double> cells(257, 1.0 / 256);
  cells[256] = 0;
  const auto draw = [&] {
    return static_cast<std::size_t>(random_.uniform_below_128(two_words(1, 1)) >> 56);
  };
  EXPECT_GT(sampled_p_value(cells, kDraws, draw), kFalseAlarm);
}

TEST_F(UniformBelow128, IsUniformInTheHighBitsBelowThreeTimesAPowerOfTwo) {
  const uint128_t bound = two_words(3 * (kHighBit >> 1), 0);
  const auto draw = [&] {
    return static_cast<std::size_t>(random_.uniform_below_128(bound) >> 126);
  };
  EXPECT_GT(sampled_p_value(equal_cells(3), kDraws, draw), kFalseAlarm);
}

TEST_F(UniformBelow128, IsUniformInTheFirstByteOfEachWordBelowTheLargestBound) {
  std::array<std::array<std::uint64_t, 256>, 2> observed{};
  for (int i = 0; i < kDraws; ++i) {
    const uint128_t drawn = random_.uniform_below_128(two_words(kAllOnes, kAllOnes));
    ++observed[0][static_cast<std::size_t>(drawn >> 120)];
    ++observed[1][static_cast<std::size_t>((drawn >> 56) & 0xff)];
  }
  for (const auto& byte : observed) {
    EXPECT_GT(chi_square_p_value(byte, equal_cells(256)), kFalseAlarm);
  }
}

TEST(ScriptedUniformBelow128, DrawsBothWordsAgainWhenTheBoundIsReached) {
  ScriptedSource source({1, 1, 1, 0, kAllOnes, kAllOnes, kAllOnes, kAllOnes - 1});
  RandomStream random(source);
  EXPECT_TRUE(random.uniform_below_128(two_words(1, 1)) == two_words(1, 0));
  EXPECT_TRUE(random.uniform_below_128(two_words(kAllOnes, kAllOnes)) ==
              two_words(kAllOnes, kAllOnes - 1));
}

// --- Uniform reals -------------------------------------------------------------------------------

constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << 52) - 1;

double scripted_unit_real(std::vector<std::uint64_t> script) {
  ScriptedSource source(std::move(script));
  return RandomStream(source).unit_real();
}

// A script with `zeros` zero bits before its first one bit.
std::vector<std::uint64_t> after_zero_bits(std::size_t zeros, std::uint64_t mantissa_word) {
  std::vector<std::uint64_t> script(zeros / 64, 0);
  script.push_back(kHighBit >> (zeros % 64));
  script.push_back(mantissa_word);
  return script;
}

TEST_F(UnitReal, LiesInTheHalfOpenUnitInterval) {
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random_.unit_real();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
  }
}

TEST_F(UnitReal, IsUniform) {
  const auto draw = [&] { return random_.unit_real() * 1000; };
  EXPECT_GT(sampled_p_value(equal_cells(1000), kDraws, draw), kFalseAlarm);
}

// Two-sided normal tests of the first two moments, 1/2 with variance 1/12 and 1/3 with 4/45.
TEST_F(UnitReal, HasTheMomentsOfAUniformLaw) {
  double sum = 0;
  double sum_of_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random_.unit_real();
    sum += drawn;
    sum_of_squares += drawn * drawn;
  }
  const auto p_value = [](double total, double mean, double variance) {
    return std::erfc(std::abs(total - kDraws * mean) / std::sqrt(2 * kDraws * variance));
  };
  EXPECT_GT(p_value(sum, 1.0 / 2, 1.0 / 12), kFalseAlarm);
  EXPECT_GT(p_value(sum_of_squares, 1.0 / 3, 4.0 / 45), kFalseAlarm);
}

TEST_F(UnitReal, HasAGeometricExponent) {
  constexpr int kExponents = 40;
  std::vector<double> cells;
  for (int k = 0; k < kExponents; ++k) cells.push_back(std::ldexp(1.0, -k - 1));
  cells.push_back(std::ldexp(1.0, -kExponents));
  const auto draw = [&] {
    const double drawn = random_.unit_real();
    return drawn == 0 ? kExponents : std::min(-std::ilogb(drawn) - 1, kExponents);
  };
  EXPECT_GT(sampled_p_value(cells, kDraws, draw), kFalseAlarm);
}

TEST_F(UnitReal, HasFairMantissaBits) {
  std::array<std::array<std::uint64_t, 16>, 13> observed{};
  for (int i = 0; i < kDraws; ++i) {
    auto mantissa = std::bit_cast<std::uint64_t>(random_.unit_real()) & kMantissaMask;
    for (auto& digit : observed) {
      ++digit[mantissa & 0xf];
      mantissa >>= 4;
    }
  }
  for (const auto& digit : observed) {
    EXPECT_GT(chi_square_p_value(digit, equal_cells(16)), kFalseAlarm);
  }
}

// Rounding down never gives 1.
TEST(ScriptedUnitReal, RoundsDown) {
  EXPECT_EQ(scripted_unit_real({kHighBit, 0}), 0.5);
  EXPECT_EQ(scripted_unit_real({kAllOnes, kAllOnes}), std::nextafter(1.0, 0.0));
}

TEST(ScriptedUnitReal, TakesTheMantissaFromFreshBits) {
  EXPECT_EQ(scripted_unit_real({kAllOnes >> 2, 0}), 0.125);
}

TEST(ScriptedUnitReal, KeepsAllMantissaBitsOfSmallValues) {
  constexpr std::uint64_t kMantissa = 0xfedcba9876543;
  for (const std::size_t zeros :
       {0U, 1U, 10U, 11U, 12U, 53U, 63U, 64U, 65U, 127U, 128U, 500U, 1021U}) {
    const double drawn = scripted_unit_real(after_zero_bits(zeros, kMantissa << 12));
    EXPECT_EQ(std::ilogb(drawn), -1 - static_cast<int>(zeros));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(drawn) & kMantissaMask, kMantissa) << zeros;
  }
}

TEST(ScriptedUnitReal, IsZeroBelowTheSmallestNormalNumber) {
  EXPECT_EQ(scripted_unit_real(after_zero_bits(1021, 0)), std::numeric_limits<double>::min());
  EXPECT_EQ(scripted_unit_real(after_zero_bits(1022, kAllOnes)), 0.0);
  EXPECT_EQ(scripted_unit_real(std::vector<std::uint64_t>(16, 0)), 0.0);
}

// --- Forks ---------------------------------------------------------------------------------------

struct ChildReport {
  std::uint64_t drawn;
  int requests;
};

// Draws twice in a forked child and reports the first word. Empty if anything fails in the child.
std::optional<ChildReport> draw_in_child(RandomStream& random, const CountingSource& source) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t drawn = random.bits64();
    random.bits64();
    const ChildReport report{drawn, source.requests()};
    const bool written = write(ends[1], &report, sizeof report) == sizeof report;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  ChildReport report{};
  const bool complete = child > 0 && read(ends[0], &report, sizeof report) == sizeof report;
  close(ends[0]);
  int status = -1;
  if (child > 0) waitpid(child, &status, 0);
  return complete && status == 0 ? std::optional(report) : std::nullopt;
}

// Equal words would be a coincidence of probability 2^-64.
TEST(RandomStream, DrawsFromTheSourceInAForkedChild) {
  CountingSource source;
  RandomStream random(source);
  random.bits64();
  ASSERT_EQ(source.requests(), 1);
  const auto first_child = draw_in_child(random, source);
  const auto second_child = draw_in_child(random, source);
  ASSERT_TRUE(first_child && second_child);
  EXPECT_EQ(first_child->requests, 2) << "one more for its first draw, none for its second";
  EXPECT_EQ(second_child->requests, 2);
  const std::uint64_t drawn = random.bits64();
  EXPECT_EQ(source.requests(), 1) << "the parent's own buffer stays good";
  EXPECT_NE(drawn, first_child->drawn);
  EXPECT_NE(drawn, second_child->drawn);
  EXPECT_NE(first_child->drawn, second_child->drawn);
}

// --- Wiping --------------------------------------------------------------------------------------

constexpr std::uint64_t kUsed = 0xa1a2a3a4a5a6a7a8;
constexpr std::uint64_t kUnused = 0xb1b2b3b4b5b6b7b8;

bool contains(std::span<const std::byte> memory, std::uint64_t word) {
  const auto pattern = std::as_bytes(std::span(&word, 1));
  return std::search(memory.begin(), memory.end(), pattern.begin(), pattern.end()) != memory.end();
}

TEST(RandomStream, WipesAUsedWordAtOnce) {
  ScriptedSource source({kUsed, kUnused});
  RandomStream random(source);
  random.bits64();
  const auto memory = std::as_bytes(std::span(&random, 1));
  EXPECT_FALSE(contains(memory, kUsed));
  EXPECT_TRUE(contains(memory, kUnused));
}

TEST(RandomStream, WipesASpanOfUsedWordsAtOnce) {
  ScriptedSource source({kUsed, kUsed, kUnused});
  RandomStream random(source);
  std::array<std::uint64_t, 2> words{};
  random.fill(words);
  const auto memory = std::as_bytes(std::span(&random, 1));
  EXPECT_FALSE(contains(memory, kUsed));
  EXPECT_TRUE(contains(memory, kUnused));
}

TEST(RandomStream, WipesItsBufferWhenDestroyed) {
  ScriptedSource source({kUsed, kUnused});
  alignas(RandomStream) std::array<std::byte, sizeof(RandomStream)> memory{};
  auto* const random = new (memory.data()) RandomStream(source);
  random->bits64();
  std::destroy_at(random);
  EXPECT_FALSE(contains(memory, kUnused));
}

// --- Failure -------------------------------------------------------------------------------------

TEST(RandomStream, ThrowsOnEveryDrawWhenTheSourceFails) {
  FailingSource source;
  RandomStream random(source);
  EXPECT_THROW(random.bits64(), RandomnessUnavailable);
  std::array<std::uint64_t, 2> words{};
  EXPECT_THROW(random.fill(words), RandomnessUnavailable);
  EXPECT_THROW(random.uniform_below(3), RandomnessUnavailable);
  EXPECT_THROW(random.uniform_below_128(two_words(3, 0)), RandomnessUnavailable);
  EXPECT_THROW(random.unit_real(), RandomnessUnavailable);
}

TEST(RandomStream, ThrowsAgainAndAgainAfterTheSourceFails) {
  ScriptedSource source(std::vector<std::uint64_t>(kWordsInBuffer, kUsed));
  RandomStream random(source);
  for (std::size_t i = 0; i < kWordsInBuffer; ++i) EXPECT_EQ(random.bits64(), kUsed);
  for (int i = 0; i < 3; ++i) EXPECT_THROW(random.bits64(), RandomnessUnavailable);
}

TEST(Csprng, FillsRequestsOfEverySize) {
  CsprngSource source;
  source.fill({});
  for (const std::size_t size : {1U, 1024U, 65536U, 65537U, 200000U}) {
    std::vector<std::byte> bytes(size + 16, std::byte{0});
    const std::span requested(bytes.begin() + 8, size);
    source.fill(requested);
    EXPECT_FALSE(contains(requested, 0)) << "probability below 2^-46";
    EXPECT_TRUE(contains(std::span(bytes).first(8), 0)) << "wrote before the request";
    EXPECT_TRUE(contains(std::span(bytes).last(8), 0)) << "wrote beyond the request";
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int give_nothing(unsigned char*, int) {
  return 0;
}
int give_unsupported(unsigned char*, int) {
  return -1;
}

// Replaces OpenSSL's generator through its old interface, the only way to make it fail.
class ReplacedOpensslGenerator {
 public:
  explicit ReplacedOpensslGenerator(int (*bytes)(unsigned char*, int)) {
    method_.bytes = bytes;
    RAND_set_rand_method(&method_);
  }
  ~ReplacedOpensslGenerator() { RAND_set_rand_method(nullptr); }
  ReplacedOpensslGenerator(const ReplacedOpensslGenerator&) = delete;
  ReplacedOpensslGenerator& operator=(const ReplacedOpensslGenerator&) = delete;

 private:
  RAND_METHOD method_{};
};

#pragma GCC diagnostic pop

TEST(Csprng, ThrowsUnlessOpensslReportsSuccess) {
  CsprngSource source;
  std::array<std::byte, 16> bytes{};
  for (const auto failure : {give_nothing, give_unsupported}) {
    const ReplacedOpensslGenerator replaced(failure);
    EXPECT_THROW(source.fill(bytes), RandomnessUnavailable);
  }
  EXPECT_NO_THROW(source.fill(bytes));
}

}  // namespace
}  // namespace dpquantile
