#include "core/privacy/cell_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>
#include <vector>

#include "core/privacy/noise_parameter.hpp"
#include "support/random_testing.hpp"

// A table is exact if its words are: every test here is certain.
namespace dpquantile {
namespace {

using boost::multiprecision::cpp_bin_float_100;
using boost::multiprecision::cpp_int;
using test::FailingSource;
using test::ScriptedSource;
using Real = cpp_bin_float_100;

Fraction inverse_epsilon_rate(double epsilon, unsigned low_bits) {
  const Rational rational = rational_epsilon(epsilon);
  return {uint128_t{rational.numerator} << low_bits, rational.denominator};
}

const std::vector<CellLaw> kLaws = {
    {NoiseShape::kLaplace, {1, 3}, 30, true},
    {NoiseShape::kLaplace, {1, 31}, 310, true},
    {NoiseShape::kLaplace, {1, 1}, 1, true},
    {NoiseShape::kLaplace, {1, 17}, 5, false},
    {NoiseShape::kLaplace, {700, 1}, 1, true},
    {NoiseShape::kLaplace, inverse_epsilon_rate(1.0 / 3, 0), 30, true},
    {NoiseShape::kLaplace, inverse_epsilon_rate(1e-6, 15), 306, false},
    {NoiseShape::kGaussian, {1, 20}, 14, true},
    {NoiseShape::kGaussian, {1, 2}, 5, true},
    {NoiseShape::kGaussian, {9, 1}, 2, true},
    {NoiseShape::kGaussian, {1, 2048}, 144, false},
    {NoiseShape::kGaussian, {uint128_t{1} << 98, (uint128_t{1} << 110) - 1}, 288, false},
};

// 2^63 P[cell < h] for h = 0 .. cells, by the definition.
std::vector<Real> scaled_law(const CellLaw& law) {
  const Real rate = Real(cpp_int(law.rate.numerator)) / Real(cpp_int(law.rate.denominator));
  const auto exponent = [&](std::uint32_t h) {
    return law.shape == NoiseShape::kLaplace ? Real(rate * h) : Real(rate * h * h);
  };
  std::vector<Real> below = {0};
  for (std::uint32_t h = 0; h < law.cells; ++h) {
    const Real weight = h == 0 && law.halves_zero ? Real(0.5) : Real(exp(-exponent(h)));
    below.push_back(below.back() + weight);
  }
  const Real first = law.shape == NoiseShape::kLaplace ? rate : Real(2 * rate * law.cells);
  const Real total = below.back() + exp(-exponent(law.cells)) / (1 - exp(-first));
  for (Real& sum : below) sum *= ldexp(Real(1), 63) / total;
  return below;
}

TEST(CellTable, BoundsItsLawByTwoWords) {
  for (const CellLaw& law : kLaws) {
    const CellTable table(law);
    const std::vector<Real> expected = scaled_law(law);
    ASSERT_EQ(table.bounds().size(), expected.size());
    for (std::size_t h = 0; h < expected.size(); ++h) {
      ASSERT_LE(Real(table.bounds()[h]), expected[h]) << h << " of " << law.cells;
      ASSERT_LT(expected[h], Real(table.bounds()[h] + CellTable::kUndecided)) << h;
    }
  }
}

// The script is empty: a word that decides needs no other.
TEST(CellTable, FindsTheCellOfEachWordThatDecides) {
  for (const CellLaw& law : kLaws) {
    const CellTable table(law);
    FailingSource source;
    RandomStream random(source);
    const auto bounds = table.bounds();
    for (std::uint32_t h = 0; h < bounds.size(); ++h) {
      const std::uint64_t end = h < law.cells ? bounds[h + 1] : std::uint64_t{1} << 63;
      const std::uint64_t begin = bounds[h] + CellTable::kUndecided;
      if (begin >= end) continue;
      ASSERT_EQ(table.draw(begin, random), h);
      ASSERT_EQ(table.draw(begin + (end - begin) / 2, random), h);
      ASSERT_EQ(table.draw(end - 1, random), h);
    }
  }
}

std::uint32_t cell_of(const CellTable& table, std::uint64_t word,
                      const std::vector<std::uint64_t>& more) {
  ScriptedSource source(more);
  RandomStream random(source);
  return table.draw(word, random);
}

// The half words around each bound, with other halves that decide and that do not.
TEST(CellTable, FindsTheSameCellFromTheHalfOfAWord) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << CellTable::kHalfBits) - 1;
  constexpr std::uint64_t kThird = 0x5555555555555555;
  for (const CellLaw& law : kLaws) {
    const CellTable table(law);
    const auto bounds = table.bounds();
    for (std::uint32_t h = 0; h < bounds.size(); h += 1 + h / 7) {
      const std::uint64_t bound = bounds[h] >> 32;
      for (std::uint64_t half = bound - std::min(bound, std::uint64_t{3});
           half <= std::min(bound + 4, kLast); ++half) {
        for (const std::uint64_t other : {bounds[h] & 0xffffffff, std::uint64_t{0},
                                          std::uint64_t{0x80000000}, std::uint64_t{0xffffffff}}) {
          ScriptedSource source({other << 32, kThird});
          RandomStream random(source);
          ASSERT_EQ(table.draw_from_half(static_cast<std::uint32_t>(half), random),
                    cell_of(table, half << 32 | other, {kThird}))
              << h << " of " << law.cells;
        }
      }
    }
  }
}

TEST(CellTable, NeedsNoOtherHalfWhereTheFirstOneDecides) {
  FailingSource source;
  RandomStream random(source);
  const CellTable table(kLaws.front());
  for (std::uint32_t h = 0; h < kLaws.front().cells; ++h) {
    const auto bound = static_cast<std::uint32_t>(table.bounds()[h] >> 32);
    ASSERT_EQ(table.draw_from_half(bound + CellTable::kUndecided, random), h);
  }
}

// The digits of 2^63 P[cell < h] in base 2^64: before the point, and two after it.
struct Digits {
  std::uint64_t word;
  std::uint64_t first;
  std::uint64_t second;
};

Digits digits_of(Real value) {
  Digits digits{};
  for (std::uint64_t* digit : {&digits.word, &digits.first, &digits.second}) {
    const Real whole = floor(value);
    *digit = static_cast<std::uint64_t>(whole);
    value = ldexp(Real(value - whole), 64);
  }
  return digits;
}

TEST(CellTable, ComparesMoreBitsWhereTheWordDoesNotDecide) {
  for (const CellLaw& law : kLaws) {
    const CellTable table(law);
    const std::vector<Real> expected = scaled_law(law);
    for (std::uint32_t h = 1; h <= law.cells; h += 1 + law.cells / 7) {
      const auto [word, first, second] = digits_of(expected[h]);
      // Beyond the digits of 100 decimals, and where cells are closer than a word, nothing is
      // known here.
      if (expected[h] - expected[h - 1] < 4 || ldexp(Real(1), 63) - expected[h] < 4) continue;
      ASSERT_EQ(cell_of(table, word, {first - 1}), h - 1) << h;
      ASSERT_EQ(cell_of(table, word, {first + 1}), h) << h;
      ASSERT_EQ(cell_of(table, word, {first, second - 1}), h - 1) << h;
      ASSERT_EQ(cell_of(table, word, {first, second + 1}), h) << h;
    }
  }
}

TEST(CellTable, ThrowsWhenTheSourceFailsBeforeItHasDecided) {
  const CellTable table(kLaws.front());
  FailingSource source;
  RandomStream random(source);
  EXPECT_THROW(table.draw(table.bounds()[3], random), RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
