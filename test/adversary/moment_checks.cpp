#include <cfloat>
#include <cmath>

#include "adversary/checks.hpp"
#include "adversary/neighbours.hpp"
#include "core/base/int128.hpp"
#include "core/distinct/distinct_hashes.hpp"
#include "core/moments/bernstein_pairs.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"

// Counts, sums and moments: docs/privacy.md, "Moments".
namespace dpquantile::adversary {

namespace {

using test::heap;

PrivacyParameter draw_privacy(Search& search) {
  if (search.chance(0.5)) {
    return zcdp(search.chance(0.2) ? search.pick({kMinRho, kMaxRho})
                                   : search.log_uniform(kMinRho, kMaxRho));
  }
  return pure(search.chance(0.2) ? search.pick({kMinEpsilon, kMaxEpsilon})
                                 : search.log_uniform(kMinEpsilon, kMaxEpsilon));
}

std::uint32_t draw_units(Search& search) {
  constexpr std::uint32_t kOne = FixedPoint::kOne;
  return search.pick({0U, 1U, kOne, kOne - 1, kOne / 2, kOne / 2 + 1,
                      static_cast<std::uint32_t>(search.below(kOne + 1ULL))});
}

// Up to some 2^60 rows, which no memory holds.
ValueSums draw_sums(Search& search) {
  ValueSums sums;
  for (std::uint64_t i = search.below(5); i > 0; --i) sums.add(draw_units(search));
  for (std::uint64_t i = search.chance(0.3) ? search.below(57) : 0; i > 0; --i) {
    const ValueSums copy = sums;
    sums.add(copy);
  }
  return sums;
}

template <MomentsDegree degree>
void compare_bernstein_sums(Search& search) {
  const PrivacyParameter privacy = draw_privacy(search);
  const BernsteinUnits units = bernstein_units(degree, privacy);
  const ValueSums sums = draw_sums(search);
  ValueSums larger = sums;
  const std::uint32_t added = draw_units(search);
  larger.add(added);
  const auto before = bernstein_sums(sums, units);
  const auto after = bernstein_sums(larger, units);
  const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
  long double norm = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bernstein_parts(degree)); ++i) {
    const auto change = static_cast<long double>(static_cast<int128_t>(after[i] - before[i]));
    norm += is_zcdp ? change * change : std::abs(change);
  }
  if (is_zcdp) norm = std::sqrt(norm);
  if (norm <= static_cast<long double>(units.sensitivity)) return;
  search.report(
      text("degree %d, %s %.17g: a row of %u units moves the sums by %.12Lg, %llu is told",
           static_cast<int>(degree), parameter_name(privacy.measure), privacy.value, added, norm,
           static_cast<unsigned long long>(units.sensitivity)));
}

PairDegrees draw_degrees(Search& search) {
  return {search.pick({MomentsDegree::kMean, MomentsDegree::kVariance}),
          search.pick({MomentsDegree::kMean, MomentsDegree::kVariance})};
}

// Up to some 2^59 rows.
PairSums draw_pairs(Search& search) {
  PairSums sums;
  for (std::uint64_t i = search.below(5); i > 0; --i) {
    const std::uint32_t value = draw_units(search);
    sums.add(value, draw_units(search));
  }
  for (std::uint64_t i = search.chance(0.3) ? search.below(57) : 0; i > 0; --i) {
    const PairSums copy = sums;
    sums.add(copy);
  }
  return sums;
}

void compare_pairs(Search& search) {
  const PrivacyParameter privacy = draw_privacy(search);
  const PairUnits units = pair_units(draw_degrees(search), privacy);
  const PairSums sums = draw_pairs(search);
  PairSums larger = sums;
  const std::uint32_t value = draw_units(search);
  const std::uint32_t x = draw_units(search);
  larger.add(value, x);
  const auto before = pair_sums(sums, units);
  const auto after = pair_sums(larger, units);
  const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
  long double norm = 0;
  for (std::size_t k = 0; k < kPairWeights; ++k) {
    const auto change = static_cast<long double>(static_cast<int128_t>(after[k] - before[k]));
    norm += is_zcdp ? change * change : std::abs(change);
  }
  if (is_zcdp) norm = std::sqrt(norm);
  if (larger.are_possible() && norm <= static_cast<long double>(units.sensitivity)) return;
  search.report(
      text("%d products, %s %.17g: a row of %u and %u units moves the sums by %.12Lg, "
           "%llu is told",
           pair_parts(units.degrees), parameter_name(privacy.measure), privacy.value, value, x,
           norm, static_cast<unsigned long long>(units.sensitivity)));
}

// Any row counts up to the larger bound, and no replaced one more than is told.
void compare_sums(Search& search) {
  const double bounds[] = {0,         1,       -1,     3,     -7,     0.1,         4.9e-324,
                           -4.9e-324, DBL_MIN, 1e-300, 1e308, -1e308, DBL_MAX / 2, -DBL_MAX / 2};
  double lower = bounds[search.below(std::size(bounds))];
  double upper = bounds[search.below(std::size(bounds))];
  if (lower > upper) std::swap(lower, upper);
  SumScale scale{};
  try {
    scale = SumScale::create(lower, upper);
  } catch (const std::exception&) {
    return;  // bounds that are refused
  }
  const auto value = [&] {
    return search.pick({lower, upper, HUGE_VAL, -HUGE_VAL, 0.0, -0.0, DBL_MAX, -DBL_MAX,
                        lower + (upper - lower) * search.uniform(0, 1)});
  };
  const double one = value();
  const double other = value();
  const auto shifted = [&](double x) {
    return static_cast<long double>(scale.shifted_units(x)) -
           static_cast<long double>(SumScale::kSumOne);
  };
  const auto unit = static_cast<long double>(SumScale::kSumOne);
  const PrivacyParameter privacy = draw_privacy(search);
  // One unit of rounding on either side.
  const long double most = largest_change_of_sum(scale, privacy) * unit + 2;
  if (std::abs(shifted(one)) <= unit && std::abs(shifted(one) - shifted(other)) <= most) return;
  search.report(text("bounds %g to %g: values %.17g and %.17g count %.0Lf and %.0Lf units", lower,
                     upper, one, other, shifted(one), shifted(other)));
}

Events sign_of(double answer, double exact) {
  return {answer > exact ? "above" : "not above", answer < exact ? "below" : "not below"};
}

void refute_sum(Search& search) {
  const PrivacyParameter privacy =
      search.chance(0.5) ? pure(search.log_uniform(0.3, 6)) : zcdp(search.log_uniform(0.05, 3));
  const double upper = search.pick({1.0, 1e-3, 1e300});
  const SumScale scale = SumScale::create(search.pick({0.0, -upper, -upper / 3}), upper);
  ValueSums sums;
  for (int i = 0; i < 5; ++i) sums.add_shifted(scale.shifted_units(upper));
  ValueSums larger = sums;
  larger.add_shifted(scale.shifted_units(HUGE_VAL));
  const auto draw_of = [&](const ValueSums& data) -> DrawEvents {
    return [&] {
      return sign_of(release_sum(data, scale, privacy, search.noise()).value, 5.5 * upper);
    };
  };
  const std::string refuted =
      refute_claim(search, draw_of(sums), draw_of(larger), test::claim_of(privacy), 300, 6000);
  if (!refuted.empty()) search.report("sum: " + refuted);
}

void refute_moments(Search& search) {
  const PrivacyParameter privacy =
      search.chance(0.5) ? pure(search.log_uniform(0.3, 6)) : zcdp(search.log_uniform(0.05, 3));
  const MomentsDegree degree = search.pick({MomentsDegree::kMean, MomentsDegree::kVariance});
  ValueSums sums;
  for (std::uint64_t i = search.below(3); i > 0; --i) sums.add(draw_units(search));
  ValueSums larger = sums;
  larger.add(draw_units(search));
  const NoisyBernsteinSums middle = [&] {
    const BernsteinUnits units = bernstein_units(degree, privacy);
    const auto before = bernstein_sums(sums, units);
    const auto after = bernstein_sums(larger, units);
    NoisyBernsteinSums halfway{};
    for (std::size_t i = 0; i < kMostBernsteinParts; ++i) {
      halfway.part[i] = std::ldexp(static_cast<double>(before[i] + after[i]) / 2, -units.bits);
    }
    if (units.stretched) halfway.part[1] *= 128.0 / 239;
    return halfway;
  }();
  const auto draw_of = [&](const ValueSums& data) -> DrawEvents {
    return [&] {
      const auto noisy = release_bernstein_sums(data, degree, privacy, search.noise());
      Events events(1);
      for (std::size_t i = 0; i < static_cast<std::size_t>(noisy.parts()); ++i) {
        events[0] += noisy.part[i] > middle.part[i] ? '+' : '-';
      }
      return events;
    };
  };
  const std::string refuted =
      refute_claim(search, draw_of(sums), draw_of(larger), test::claim_of(privacy), 300, 6000);
  if (!refuted.empty()) search.report(text("degree %d: ", static_cast<int>(degree)) + refuted);
}

void refute_count(Search& search) {
  const PrivacyParameter privacy =
      search.chance(0.5) ? pure(search.log_uniform(0.1, 8)) : zcdp(search.log_uniform(0.01, 4));
  const std::uint64_t exact = search.pick({0ULL, 1ULL, 1ULL << 32, 1ULL << 62});
  const auto draw_of = [&](std::uint64_t rows) -> DrawEvents {
    return [&search, privacy, rows, exact] {
      const std::uint64_t count = release_count(rows, privacy, search.noise()).count;
      return Events{count > exact ? "above" : "not above", count >= exact ? "from" : "below",
                    count == exact ? "equal" : "not equal"};
    };
  };
  const std::string refuted =
      refute_claim(search, draw_of(exact), draw_of(exact + 1), test::claim_of(privacy), 300, 6000);
  if (!refuted.empty()) search.report("count: " + refuted);
}

// A row changes the number of different hashes by 1 at most, in any order and divided among states
// in any way, and where one table becomes 256.
void compare_distinct(Search& search) {
  std::vector<std::uint64_t> hashes(search.pick({0, 1, 2, 40, 4095, 4096, 4097}));
  const std::uint64_t mask = search.pick({~0ULL, 7ULL, 0xff00000000000000ULL});
  for (std::uint64_t& hash : hashes)
    hash = (search.below(~0ULL) & mask) * (search.chance(0.1) ? 0 : 1);
  std::vector<std::uint64_t> more = hashes;
  more.insert(more.begin() + static_cast<std::ptrdiff_t>(search.below(more.size() + 1)),
              search.pick<std::uint64_t>({0, ~0ULL, search.below(~0ULL) & mask}));
  const auto count = [&](const std::vector<std::uint64_t>& all) {
    DistinctHashes first(heap());
    DistinctHashes second(heap());
    const std::uint64_t cut = search.below(all.size() + 1);
    for (std::size_t i = 0; i < all.size(); ++i) (i < cut ? first : second).add(all[i]);
    first.add(second);
    const DistinctHashes read(first.sorted(heap()), heap());
    return read.size() == first.size() ? first.size() : ~0ULL;
  };
  const std::uint64_t before = count(hashes);
  const std::uint64_t after = count(more);
  if (after - before <= 1) return;
  search.report(text("%zu hashes: %llu are different, and %llu with one more", hashes.size(),
                     static_cast<unsigned long long>(before),
                     static_cast<unsigned long long>(after)));
}

}  // namespace

std::vector<Check> moment_checks() {
  return {{"mean, sums of neighbours",
           {mechanism_of(MomentsDegree::kMean)},
           compare_bernstein_sums<MomentsDegree::kMean>,
           3000},
          {"variance, sums of neighbours",
           {mechanism_of(MomentsDegree::kVariance)},
           compare_bernstein_sums<MomentsDegree::kVariance>,
           3000},
          {"pairs, sums of neighbours", {Mechanism::kPairs}, compare_pairs, 3000},
          {"moments", {Mechanism::kMean, Mechanism::kVariance}, refute_moments, 4},
          {"sum, units of neighbours", {Mechanism::kSum}, compare_sums, 3000},
          {"sum", {Mechanism::kSum}, refute_sum, 4},
          {"count", {Mechanism::kCount, Mechanism::kDistinct}, refute_count, 4},
          {"distinct values", {Mechanism::kDistinct}, compare_distinct, 20}};
}

}  // namespace dpquantile::adversary
