#include "core/cdf/cdf_encoding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/cdf_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::cdf_curve;
using test::Cumulative;
using test::heap;

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kMostRows = std::int64_t{1} << 53;

Bytes encoded(const CdfCurve& curve) {
  const auto bytes = encode_cdf(curve, heap());
  return {bytes.begin(), bytes.end()};
}

CdfCurve decoded(std::span<const std::byte> bytes) {
  return decode_cdf(bytes, heap());
}

void expect_equal(const CdfCurve& one, const CdfCurve& other) {
  EXPECT_EQ(one.domain().lower, other.domain().lower);
  EXPECT_EQ(one.domain().upper, other.domain().upper);
  EXPECT_EQ(one.domain().granularity, other.domain().granularity);
  EXPECT_EQ(one.domain().bins, other.domain().bins);
  EXPECT_EQ(one.domain().value_type, other.domain().value_type);
  EXPECT_EQ(one.plan(), other.plan());
  EXPECT_TRUE(std::ranges::equal(one.cumulative(), other.cumulative()));
}

CdfCurve curve_of(const CdfDomain& domain, CdfMethod method, const PrivacyParameter& privacy,
                  const Cumulative& cumulative) {
  return cdf_curve(domain, choose_cdf_plan(method, domain.bins, privacy), cumulative);
}

std::vector<CdfCurve> small_curves() {
  return {
      curve_of({-1.5, 3, 0, 5}, CdfMethod::kBinary, pure(0.1), {0, 0, 127, 128, 300}),
      curve_of({0, 4, 1, 5}, CdfMethod::kTree, pure(1e-6), {1, 2, 16'000, 17'000, 1'000'000}),
      curve_of({0, 1e300, 0, 1}, CdfMethod::kHistogram, pure(1000), {kMostRows}),
      curve_of({0, 1, 0, 17}, CdfMethod::kTree, pure(3), Cumulative(17)),
      curve_of({0, 1, 0, 2}, CdfMethod::kBinary, pure(3), {kMostRows, kMostRows}),
      curve_of({0, 4, 1, 5}, CdfMethod::kTree, zcdp(1e-12), {1, 2, 16'000, 17'000, 1'000'000}),
      curve_of({-1.5, 3, 0, 5}, CdfMethod::kBinary, zcdp(0.005), {0, 0, 127, 128, 300}),
      curve_of({0, 1, 0, 3}, CdfMethod::kHistogram, zcdp(1000), {0, 0, 7}),
      curve_of({8766, 8768, 1, 3, 5}, CdfMethod::kTree, pure(0.1), {0, 128, 300}),
      curve_of({-5e14, 5e14, 0, 4, 255}, CdfMethod::kTree, zcdp(0.5), {1, 2, 3, 4}),
      curve_of({0, 4, 1, 5}, CdfMethod::kFactorization, zcdp(0.5), {1, 2, 16'000, 17'000, 17'001}),
      curve_of({8766, 8768, 1, 3, 5}, CdfMethod::kFactorization, zcdp(1e-12), {0, 128, 300}),
  };
}

TEST(CdfBytes, DecodeToTheSameCurve) {
  for (const CdfCurve& curve : small_curves()) expect_equal(decoded(encoded(curve)), curve);
}

TEST(CdfBytes, DecodeToTheSameCurveForEveryMethodAndManySizes) {
  std::mt19937 random(6);
  for (const CdfMethod method : test::kCdfMethods) {
    for (const std::uint32_t bins : {1U, 2U, 3U, 100U, 1024U, 65537U}) {
      Cumulative cumulative;
      std::int64_t count = 0;
      for (std::uint32_t i = 0; i < bins; ++i) {
        cumulative.push_back(count += static_cast<std::int64_t>(random() >> random() % 32));
      }
      for (const PrivacyParameter& privacy : {pure(0.5), zcdp(0.5)}) {
        const CdfCurve curve = curve_of({0, 1, 0, bins}, method, privacy, cumulative);
        expect_equal(decoded(encoded(curve)), curve);
      }
    }
  }
}

TEST(CdfBytes, AreTwoKilobytesFor1024Bins) {
  Cumulative cumulative;
  for (std::int64_t i = 1; i <= 1024; ++i) cumulative.push_back(1000 * i);
  const Bytes bytes = encoded(curve_of({0, 1, 0, 1024}, CdfMethod::kTree, pure(0.5), cumulative));
  EXPECT_LT(bytes.size(), 2200U);
}

void expect_bytes(const Bytes& bytes, const std::vector<int>& expected) {
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
  }
}

TEST(CdfBytes, BeginWithTheVersionAndAreLittleEndian) {
  const Bytes bytes = encoded(curve_of({0, 1, 0, 3}, CdfMethod::kHistogram, pure(1), {1, 1, 301}));
  const std::vector<int> expected = {
      1,                                            // version
      0, 0,    0,    0,    0,    0,    0,    0,     // lower
      0, 0,    0,    0,    0,    0,    0xf0, 0x3f,  // upper
      0, 0,    0,    0,    0,    0,    0,    0,     // granularity
      3, 0,    0,    0,                             // bins
      3,                                            // method
      0, 0,    0,    0,    0,    0,    0xf0, 0x3f,  // epsilon
      1,                                            // levels
      3, 0,    0,    0,                             // branching
      0, 0xe0, 0xff, 0xff, 0xff, 0xff, 0xef, 0x3f,  // level epsilon: 1 - 2^-40
      1, 0,    0xac, 0x02,                          // increments
  };
  expect_bytes(bytes, expected);
}

// Method factorization has no levels.
TEST(CdfBytes, HaveNoLevelsWithoutATree) {
  const Bytes bytes =
      encoded(curve_of({0, 1, 0, 3}, CdfMethod::kFactorization, zcdp(1), {1, 1, 301}));
  const std::vector<int> expected = {
      2,                                   // version
      0, 0, 0,    0,    0, 0, 0,    0,     // lower
      0, 0, 0,    0,    0, 0, 0xf0, 0x3f,  // upper
      0, 0, 0,    0,    0, 0, 0,    0,     // granularity
      3, 0, 0,    0,                       // bins
      4,                                   // method
      0, 0, 0,    0,    0, 0, 0xf0, 0x3f,  // rho
      0,                                   // levels
      1, 0, 0xac, 0x02,                    // increments
  };
  expect_bytes(bytes, expected);
}

// Only the version states the measure.
TEST(CdfBytes, HaveAVersionOfTheirOwnUnderZcdp) {
  const auto bytes_of = [](const PrivacyParameter& privacy) {
    return encoded(curve_of({0, 1, 0, 3}, CdfMethod::kHistogram, privacy, {1, 1, 301}));
  };
  Bytes bytes = bytes_of(zcdp(1));
  EXPECT_EQ(bytes.front(), std::byte{2});
  EXPECT_EQ(decoded(bytes).plan().privacy, zcdp(1));
  bytes.front() = std::byte{1};
  EXPECT_EQ(bytes, bytes_of(pure(1)));
}

// A curve of another type has one byte more, the second one, and versions of its own.
TEST(CdfBytes, HaveVersionsOfTheirOwnForOtherTypesThanNumbers) {
  for (const PrivacyParameter& privacy : {pure(1), zcdp(1)}) {
    const auto bytes_of = [&](std::uint8_t type) {
      return encoded(curve_of({0, 2, 1, 3, type}, CdfMethod::kHistogram, privacy, {1, 1, 301}));
    };
    const Bytes of_numbers = bytes_of(0);
    Bytes bytes = bytes_of(7);
    EXPECT_EQ(bytes[0], privacy == pure(1) ? std::byte{3} : std::byte{4});
    EXPECT_EQ(bytes[1], std::byte{7});
    bytes.erase(bytes.begin() + 1);
    bytes.front() = of_numbers.front();
    EXPECT_EQ(bytes, of_numbers);
  }
}

TEST(CdfBytes, TellTheirDomain) {
  for (const CdfCurve& curve : small_curves()) {
    const CdfDomain domain = decode_cdf_domain(encoded(curve));
    EXPECT_EQ(domain.lower, curve.domain().lower);
    EXPECT_EQ(domain.upper, curve.domain().upper);
    EXPECT_EQ(domain.granularity, curve.domain().granularity);
    EXPECT_EQ(domain.bins, curve.domain().bins);
    EXPECT_EQ(domain.value_type, curve.domain().value_type);
  }
  const std::vector<Bytes> none = {{}, {std::byte{1}}, {std::byte{3}}, Bytes(100)};
  for (const Bytes& bytes : none) EXPECT_THROW(decode_cdf_domain(bytes), CorruptInput);
}

// --- Corrupt bytes -------------------------------------------------------------------------------

// Decodes, and expects either CorruptInput or a curve that encodes to the same bytes.
bool is_a_curve(std::span<const std::byte> bytes) {
  std::optional<CdfCurve> curve;
  try {
    curve.emplace(decoded(bytes));
  } catch (const CorruptInput&) {
    return false;
  }
  EXPECT_TRUE(std::ranges::equal(encoded(*curve), bytes));
  EXPECT_GE(curve->cumulative().front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(curve->cumulative()));
  EXPECT_LE(curve->rows(), kMostRows);
  EXPECT_EQ(curve->cumulative().size(), curve->domain().bins);
  const CdfPlan& plan = curve->plan();
  EXPECT_EQ(plan.levels == 0, plan.method == CdfMethod::kFactorization);
  EXPECT_TRUE(plan.levels == 0 || LevelTree::is_valid(plan.bins, plan.branching()));
  EXPECT_GE(curve->count(curve->domain().lower, curve->domain().upper), 0);
  return true;
}

TEST(CorruptCdfBytes, AreRefusedWithAnyOtherLength) {
  for (const CdfCurve& curve : small_curves()) {
    Bytes bytes = encoded(curve);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(is_a_curve(std::span(bytes).first(length))) << length;
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(is_a_curve(bytes));
  }
}

TEST(CorruptCdfBytes, AreRefusedIfNumbersHaveTheVersionOfAnotherType) {
  Bytes bytes = encoded(curve_of({0, 2, 1, 3, 7}, CdfMethod::kTree, pure(1), {1, 1, 301}));
  bytes[1] = std::byte{0};
  EXPECT_FALSE(is_a_curve(bytes));
}

TEST(CorruptCdfBytes, AreRefusedOrAnotherCurveWithOneByteChanged) {
  int curves = 0;
  int refused = 0;
  for (const CdfCurve& curve : small_curves()) {
    const Bytes bytes = encoded(curve);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        Bytes mutated = bytes;
        mutated[i] = static_cast<std::byte>(value);
        ++(is_a_curve(mutated) ? curves : refused);
      }
    }
  }
  EXPECT_GT(curves, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(CorruptCdfBytes, AreRefusedOrAnotherCurveWithManyBytesChanged) {
  constexpr int kInteresting[] = {0, 1, 2, 0x7f, 0x80, 0xf0, 0xff};
  std::mt19937 random(7);
  const std::vector<CdfCurve> curves = small_curves();
  for (int i = 0; i < 30'000; ++i) {
    Bytes bytes = encoded(curves[random() % curves.size()]);
    for (std::size_t changes = 1 + random() % 6; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<std::byte>(random() % 256);
          break;
        case 1:
          bytes[at] = static_cast<std::byte>(kInteresting[random() % std::size(kInteresting)]);
          break;
        case 2:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       static_cast<std::byte>(random() % 256));
          break;
        default:
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    is_a_curve(bytes);
  }
}

TEST(CorruptCdfBytes, AreRefusedOrACurveAtRandom) {
  std::mt19937 random(8);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 256);
    if (!bytes.empty()) bytes.front() = static_cast<std::byte>(1 + i % 4);
    is_a_curve(bytes);
  }
}

void expect_refused(const std::string& message, const Bytes& bytes) {
  try {
    decoded(bytes);
    ADD_FAILURE() << "no CorruptInput: " << message;
  } catch (const CorruptInput& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(CorruptCdfBytes, AreRefusedWithTheReason) {
  constexpr std::size_t kBinsAt = 25;
  constexpr std::size_t kMethodAt = 29;
  constexpr std::size_t kLevelsAt = 38;
  const Bytes bytes = encoded(curve_of({0, 1, 0, 3}, CdfMethod::kHistogram, pure(1), {1, 2, 3}));
  const auto with = [&](std::size_t at, int value) {
    Bytes mutated = bytes;
    mutated[at] = static_cast<std::byte>(value);
    return mutated;
  };
  expect_refused("the value is cut short", {});
  expect_refused("the value is cut short", {bytes.begin(), bytes.begin() + 20});
  expect_refused("unknown version", with(0, 0));
  expect_refused("unknown version", with(0, 5));
  expect_refused("unknown version", with(0, 255));
  expect_refused("more bins than bytes", with(kBinsAt, 255));
  expect_refused("the tree does not fit the bins", [&] {
    Bytes fewer = with(kBinsAt, 2);
    fewer.pop_back();
    return fewer;
  }());
  expect_refused("unknown method", with(kMethodAt, 0));
  expect_refused("unknown method", with(kMethodAt, 5));
  expect_refused("the method needs a rho", with(kMethodAt, 4));
  expect_refused("too many levels", with(kLevelsAt, 21));
  expect_refused("bytes are left over", [&] {
    Bytes more = bytes;
    more.push_back(std::byte{0});
    return more;
  }());
}

// Memory for the counts is not reserved before.
TEST(CorruptCdfBytes, AreRefusedWithMoreBinsThanTheLimit) {
  constexpr std::size_t kBinsAt = 25;
  constexpr std::uint32_t kBins = LevelTree::kMaxBins + 1;
  Bytes bytes = encoded(curve_of({0, 1, 0, 1}, CdfMethod::kHistogram, pure(1), {1}));
  for (unsigned i = 0; i < 4; ++i) {
    bytes[kBinsAt + i] = static_cast<std::byte>(kBins >> (8 * i) & 0xff);
  }
  bytes.insert(bytes.end(), kBins, std::byte{0});
  expect_refused("too many bins", bytes);
  test::CountedMemory memory;
  EXPECT_THROW(decode_cdf(bytes, &memory), CorruptInput);
  EXPECT_EQ(memory.peak(), 0U);
}

TEST(CorruptCdfBytes, AreRefusedWithACountOfTooManyDigits) {
  Bytes bytes = encoded(curve_of({0, 1, 0, 1}, CdfMethod::kHistogram, pure(1), {1}));
  bytes.pop_back();
  bytes.insert(bytes.end(), 8, std::byte{0x80});
  bytes.push_back(std::byte{1});
  expect_refused("a count has too many digits", bytes);
}

// A million increments of 2^56 must not overflow before they are refused.
TEST(CorruptCdfBytes, AreRefusedWithCountsThatOverflow) {
  constexpr std::uint32_t kBins = LevelTree::kMaxBins;
  Bytes bytes =
      encoded(curve_of({0, 1, 0, kBins}, CdfMethod::kHistogram, pure(1), Cumulative(kBins)));
  bytes.erase(bytes.end() - std::ptrdiff_t{kBins}, bytes.end());
  for (std::uint32_t i = 0; i < kBins; ++i) {
    bytes.insert(bytes.end(), 7, std::byte{0xff});
    bytes.push_back(std::byte{0x7f});
  }
  expect_refused("the counts are too large", bytes);
}

// encode_cdf() never writes more digits than needed.
TEST(CorruptCdfBytes, AreRefusedWithAnIncrementWrittenTooLong) {
  Bytes bytes = encoded(curve_of({0, 1, 0, 1}, CdfMethod::kHistogram, pure(1), {5}));
  bytes.back() = std::byte{0x85};
  bytes.push_back(std::byte{0});
  EXPECT_THROW(decoded(bytes), CorruptInput);
}

}  // namespace
}  // namespace dpquantile
