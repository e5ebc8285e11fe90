#include <algorithm>
#include <cmath>

#include "adversary/checks.hpp"
#include "adversary/laplace_law.hpp"
#include "core/noisy_histogram/bin_bounds.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/noisy_histogram/modal_bin.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/noise_table.hpp"
#include "support/confidence.hpp"

// Noise on integers, histograms and learned bounds: docs/privacy.md, "Noise samplers", "Histograms"
// and "Learned bounds".
namespace dpquantile::adversary {

namespace {

double gaussian_below(double variance, double y) {
  const double sigma = std::sqrt(variance);
  // The error of the continuous law is of the order of 1 / sigma^2, far below what so few draws
  // see.
  if (sigma > 3000) return 0.5 * std::erfc(-(y + 0.5) / sigma / std::sqrt(2.0));
  const double far = std::ceil(12 * sigma) + 2;
  long double below = 0;
  long double all = 0;
  for (double k = -far; k <= far; ++k) {
    const long double weight = std::exp(-static_cast<long double>(k * k) / (2 * variance));
    all += weight;
    if (k <= y) below += weight;
  }
  return static_cast<double>(below / all);
}

// How many of the draws are at most y, against the law.
template <class Below>
void compare_noise(Search& search, std::span<const std::int64_t> drawn, double spread, Below below,
                   const std::string& what) {
  const double at =
      std::round(search.pick({0.0, -1.0, 1.0, search.uniform(-4, 4)}) * search.pick({1.0, spread}));
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(
      drawn, [&](std::int64_t noise) { return static_cast<double>(noise) <= at; }));
  const double p = std::clamp(below(at), 0.0, 1.0);
  if (test::binomial_p_value(count, drawn.size(), p) > search.next_false_alarm()) return;
  search.report(what + text(": %llu of %zu draws are up to %g, with a probability of %.9g",
                            static_cast<unsigned long long>(count), drawn.size(), at, p));
}

// By itself, from a table, and from a table for many, where the number of low bits changes.
template <class Direct>
std::vector<std::int64_t> draw_noise(Search& search, const NoiseTable& table, Direct direct,
                                     std::string& what) {
  std::vector<std::int64_t> drawn(400);
  const std::uint64_t way = search.below(3);
  if (way == 0) {
    what = "directly";
    for (std::int64_t& noise : drawn) noise = direct();
  } else if (way == 1) {
    what = "from a table";
    for (std::int64_t& noise : drawn) noise = table.draw(search.noise());
  } else {
    what = "from a table, in batches";
    drawn.resize(search.pick({1, 3, 63, 64, 65, 1000}));
    table.draw(drawn, search.noise());
  }
  return drawn;
}

Rational draw_rational(Search& search, double low, double high) {
  const double around = std::exp2(std::round(std::log2(search.log_uniform(low, high))));
  const double value = search.chance(0.5) ? around * search.pick({1.0, 1 - 1e-3, 1 + 1e-3})
                                          : search.log_uniform(low, high);
  if (value > 1e9) return {static_cast<std::uint64_t>(value), 1};
  const std::uint64_t denominator = 1000000;
  return {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(value * 1e6)), denominator};
}

double value_of(const Rational& rational) {
  return static_cast<double>(rational.numerator) / static_cast<double>(rational.denominator);
}

void compare_laplace(Search& search) {
  const Rational scale = draw_rational(search, 1e-3, 3e16);
  const NoiseTable table = NoiseTable::laplace(scale);
  std::string way;
  const auto draw = [&] { return discrete_laplace(search.noise(), scale); };
  const auto drawn = draw_noise(search, table, draw, way);
  const double value = value_of(scale);
  compare_noise(
      search, drawn, value, [&](double y) { return laplace_below(value, y); },
      text("Laplace noise of scale %.9g %s", value, way.c_str()));
}

void compare_gaussian(Search& search) {
  const Rational variance = draw_rational(search, 1e-3, 1e18);
  const NoiseTable table = NoiseTable::gaussian(variance);
  std::string way;
  const auto draw = [&] { return discrete_gaussian(search.noise(), variance); };
  const auto drawn = draw_noise(search, table, draw, way);
  const double value = value_of(variance);
  compare_noise(
      search, drawn, std::sqrt(value), [&](double y) { return gaussian_below(value, y); },
      text("Gaussian noise of sigma^2 %.9g %s", value, way.c_str()));
}

// The noise of a guarantee costs what the guarantee says, for each sensitivity.
void add_up_noise(Search& search) {
  const bool is_zcdp = search.chance(0.5);
  const double value =
      is_zcdp ? search.log_uniform(kMinRho, kMaxRho) : search.log_uniform(kMinEpsilon, kMaxEpsilon);
  const PrivacyParameter privacy = is_zcdp ? zcdp(value) : pure(value);
  std::uint64_t sensitivity = search.chance(0.3) ? 1 : 1 + search.below(1ULL << 31);
  if (is_zcdp && sensitivity > 1) {
    sensitivity = (std::uint64_t{1} << gaussian_sensitivity_bits(value, 31)) + 2;
  }
  const long double spread = IntegerNoise(privacy, sensitivity).spread();
  const auto moved = static_cast<long double>(sensitivity);
  const long double cost = is_zcdp ? moved * moved / (2 * spread * spread) : moved / spread;
  if (cost <= value * (1 + 0x1p-45L)) return;
  search.report(text("%s %.17g, sensitivity %llu: the noise costs %.18Lg",
                     parameter_name(privacy.measure), value,
                     static_cast<unsigned long long>(sensitivity), cost));
}

void compare_histogram(Search& search) {
  const bool is_zcdp = search.chance(0.5);
  const PrivacyParameter privacy =
      is_zcdp ? zcdp(search.log_uniform(1e-6, 4)) : pure(search.log_uniform(1e-4, 20));
  const std::size_t bins = search.pick({1, 2, 3, 64, 127, 128, 129, 400});
  const std::uint64_t exact = search.pick({0ULL, 1ULL, 1ULL << 40});
  std::vector<std::uint64_t> counts(bins, exact);
  const auto released = release_histogram(counts, privacy, search.context());
  const double spread = is_zcdp ? std::sqrt(1 / (2 * privacy.value)) : 1 / privacy.value;
  std::vector<std::int64_t> noise;
  for (const std::int64_t count : released) {
    noise.push_back(count - static_cast<std::int64_t>(exact));
  }
  compare_noise(
      search, noise, spread,
      [&](double y) {
        if (y < -static_cast<double>(exact)) return 0.0;
        return is_zcdp ? gaussian_below(spread * spread, y) : laplace_below(spread, y);
      },
      text("histogram of %zu bins, %s %.17g", bins, parameter_name(privacy.measure),
           privacy.value));
}

// Of bins of which all but one have as many records, the other one is taken with a probability that
// is known: permute-and-flip, by its formula. One record more in the other one is a neighbour.
void compare_modal_bin(Search& search) {
  const double epsilon = search.log_uniform(1e-4, 20);
  const std::size_t bins = search.pick({2, 3, 17, 1000});
  const std::uint64_t most = search.pick({0ULL, 1ULL, 1ULL << 20, 1ULL << 50});
  // Where the one bin is as likely as all others.
  const double balance = std::log(static_cast<double>(bins)) / epsilon;
  const auto apart = static_cast<std::uint64_t>(std::max(
      0.0, std::min(static_cast<double>(most), balance + search.uniform(-2, 2) / epsilon)));
  const bool is_fullest = search.chance(0.5);
  std::vector<std::uint64_t> counts(bins, is_fullest ? most - apart : most);
  const std::size_t one = search.below(bins);
  counts[one] = is_fullest ? most : most - apart;
  const double p = std::exp(-epsilon * static_cast<double>(apart));
  const auto others = static_cast<double>(bins - 1);
  // Integrals of (1 - t p)^(k - 1), and of p (1 - t)^(k - 1).
  const double chance = is_fullest ? -std::expm1((others + 1) * std::log1p(-p)) / (p * (others + 1))
                                   : p / (others + 1);
  constexpr std::uint64_t kRuns = 400;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    taken += draw_modal_bin(counts, epsilon, search.context()) == one;
  }
  if (test::binomial_p_value(taken, kRuns, std::clamp(chance, 0.0, 1.0)) >
      search.next_false_alarm()) {
    return;
  }
  search.report(
      text("epsilon %.17g, %zu bins: the one that is %llu records %s was taken in %llu of "
           "%llu runs, with a probability of %.9g",
           epsilon, bins, static_cast<unsigned long long>(apart), is_fullest ? "above" : "below",
           static_cast<unsigned long long>(taken), static_cast<unsigned long long>(kRuns), chance));
}

// A value is in one bin at most, the one that has it.
void place_in_bins(Search& search) {
  std::vector<double> bounds;
  for (int i = 0; i < 8; ++i) {
    const double bound =
        search.pick({0.0, 1.0, -1.0, 4.9e-324, -HUGE_VAL, HUGE_VAL, 1e308, 2.0, 1 + 0x1p-52});
    bounds.push_back(bound == 0 ? 0.0 : bound);
  }
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  if (bounds.size() < 2) return;
  const double bound = bounds[search.below(bounds.size())];
  const double value = search.pick({bound, std::nextafter(bound, -HUGE_VAL),
                                    std::nextafter(bound, HUGE_VAL), -0.0, std::nan("")});
  const auto bin = bin_of(bounds, value);
  std::size_t expected = bounds.size();
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const bool is_last = i + 2 == bounds.size();
    if (bounds[i] <= value && (value < bounds[i + 1] || (is_last && value == bounds[i + 1]))) {
      expected = i;
    }
  }
  if (bin.value_or(bounds.size()) == expected) return;
  search.report(text("value %.17g is in bin %zu of %zu, not in %zu", value,
                     bin.value_or(bounds.size()), bounds.size() - 1, expected));
}

// With two cells, of which each is a block, there are no bounds if no noisy count is 30
// spreads of Laplace noise or more, or sqrt(60) of Gaussian noise. So the law is known.
void compare_bounds(Search& search) {
  const bool is_zcdp = search.chance(0.5);
  const PrivacyParameter privacy =
      is_zcdp ? zcdp(search.log_uniform(1e-4, 4)) : pure(search.log_uniform(1e-3, 20));
  const double spread = is_zcdp ? std::sqrt(1 / (2 * privacy.value)) : 1 / privacy.value;
  const double threshold = (is_zcdp ? std::sqrt(60) : 30) * spread;
  std::uint64_t counts[2];
  for (std::uint64_t& count : counts) {
    count = static_cast<std::uint64_t>(
        search.chance(0.3) ? 0.0 : std::max(0.0, threshold + search.uniform(-2, 2) * spread));
  }
  // Whether a count is above the threshold must not depend on the rounding of the threshold.
  const double at = std::floor(threshold);
  if (threshold - at < 1e-6 || threshold - at > 1 - 1e-6) return;
  double none = 1;
  for (const std::uint64_t count : counts) {
    const double noise = at - static_cast<double>(count);
    none *= is_zcdp ? gaussian_below(spread * spread, noise) : laplace_below(spread, noise);
  }
  constexpr std::uint64_t kRuns = 200;
  std::uint64_t without = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    without += !learn_bounds(OrdinalGrid(0, 0, 0), counts, privacy, search.context());
  }
  if (test::binomial_p_value(without, kRuns, std::clamp(none, 0.0, 1.0)) >
      search.next_false_alarm())
    return;
  search.report(
      text("%s %.17g, %llu and %llu values: no bounds in %llu of %llu runs, with a "
           "probability of %.9g",
           parameter_name(privacy.measure), privacy.value,
           static_cast<unsigned long long>(counts[0]), static_cast<unsigned long long>(counts[1]),
           static_cast<unsigned long long>(without), static_cast<unsigned long long>(kRuns), none));
}

// No bound is more than six octaves beyond all values: Theorem 25c with D = 40. Of data that are
// far apart, alone, or just as many as noise may have.
void reach_of_bounds(Search& search) {
  const OrdinalGrid grid(3, -123, 1024);
  constexpr std::uint32_t kBeyond = 8 + 40;
  constexpr double kMostLikely = 3e-8;  // 2 (8 * 1.3 e^-24 + 7 C e^-30)
  const bool is_zcdp = search.chance(0.3);
  const PrivacyParameter privacy =
      is_zcdp ? zcdp(search.log_uniform(1e-3, 4)) : pure(search.log_uniform(1e-2, 20));
  const double spread = is_zcdp ? std::sqrt(1 / (2 * privacy.value)) : 1 / privacy.value;
  std::vector<std::uint64_t> counts(grid.cells());
  std::uint32_t first = grid.cells();
  std::uint32_t last = 0;
  for (std::uint64_t clusters = search.below(5); clusters > 0; --clusters) {
    const auto begin = static_cast<std::uint32_t>(search.below(grid.cells()));
    const auto end =
        std::min(grid.cells(), begin + 1 + static_cast<std::uint32_t>(search.below(80)));
    const double records = spread * search.pick({0.5, 2.0, 5.0, 29.0, 31.0, 100.0, 1e4});
    for (std::uint32_t i = begin; i < end; ++i)
      counts[i] += static_cast<std::uint64_t>(records) + 1;
    first = std::min(first, begin);
    last = std::max(last, end - 1);
  }
  const double least = grid.edge(std::max(first, kBeyond) - kBeyond);
  const double most = grid.edge(std::min(last + 1 + kBeyond, grid.cells()));
  constexpr std::uint64_t kRuns = 250;
  std::uint64_t absurd = 0;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    const auto bounds = learn_bounds(grid, counts, privacy, search.context());
    if (!bounds) continue;
    const double rounding =
        std::ldexp(std::max(std::abs(bounds->lower), std::abs(bounds->upper)), -11);
    absurd += last < first || bounds->upper - rounding > most || bounds->lower + rounding < least;
  }
  if (test::binomial_p_value(absurd, kRuns, kMostLikely) > search.next_false_alarm()) return;
  search.report(text("%s %.17g: %llu of %llu bounds are far beyond cells %u to %u",
                     parameter_name(privacy.measure), privacy.value,
                     static_cast<unsigned long long>(absurd),
                     static_cast<unsigned long long>(kRuns), first, last));
}

// A value is in one cell, the one that has it.
void place_on_ordinal_grid(Search& search) {
  const int digits = static_cast<int>(search.below(7));
  const int least = static_cast<int>(search.pick({-1000, -123, 0, 13, 49}));
  const OrdinalGrid grid(digits, least, least + static_cast<int>(search.pick({0, 1, 14, 24})));
  const double edge = grid.edge(static_cast<std::uint32_t>(search.below(grid.cells() + 1)));
  const double value = search.pick({edge, std::nextafter(edge, -HUGE_VAL),
                                    std::nextafter(edge, HUGE_VAL), -0.0, 4.9e-324, HUGE_VAL});
  const std::uint32_t cell = grid.cell_of(value);
  const double inside = std::clamp(value, grid.edge(0), grid.edge(grid.cells()));
  if (cell < grid.cells() && grid.edge(cell) <= inside && inside <= grid.edge(cell + 1)) return;
  search.report(text("value %.17g is in cell %u, from %.17g on", value, cell, grid.edge(cell)));
}

}  // namespace

std::vector<Check> noise_checks() {
  const std::vector<Mechanism> all = {Mechanism::kIntegerNoise};
  return {{"noise, Laplace", all, compare_laplace, 30},
          {"noise, Gaussian", all, compare_gaussian, 30},
          {"noise, cost", all, add_up_noise, 1000},
          {"histogram, law", {Mechanism::kHistogram}, compare_histogram, 20},
          {"histogram, bins", {Mechanism::kHistogram}, place_in_bins, 1000},
          {"fullest bin, law", {Mechanism::kModalBin}, compare_modal_bin, 20},
          {"learned bounds, law", {Mechanism::kLearnedBounds}, compare_bounds, 20},
          {"learned bounds, reach", {Mechanism::kLearnedBounds}, reach_of_bounds, 2},
          {"learned bounds, cells", {Mechanism::kLearnedBounds}, place_on_ordinal_grid, 1000}};
}

}  // namespace dpquantile::adversary
