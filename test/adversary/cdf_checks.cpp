#include <algorithm>
#include <cmath>

#include "adversary/checks.hpp"
#include "adversary/neighbours.hpp"
#include "core/cdf/cdf.hpp"
#include "core/privacy/noise_parameter.hpp"

// Curves: docs/privacy.md, "CDF" and "Factorization of the prefix sums".
namespace dpquantile::adversary {

namespace {

using test::heap;

// Where trees and runs of steps begin to differ.
std::uint32_t draw_bins(Search& search, std::uint32_t most) {
  const std::uint32_t around = std::uint32_t{1} << search.below(21);
  const std::uint32_t bins = around + static_cast<std::uint32_t>(search.below(3)) - 1;
  return std::clamp<std::uint32_t>(
      search.chance(0.3) ? 1 + static_cast<std::uint32_t>(search.below(9)) : bins, 1, most);
}

PrivacyParameter draw_privacy(Search& search, bool is_zcdp) {
  const double extreme = search.pick({0.0, 1.0, 1000.0});
  if (is_zcdp) return zcdp(extreme > 0 ? extreme : search.log_uniform(kMinRho, kMaxRho));
  return pure(extreme > 0 ? extreme : search.log_uniform(kMinEpsilon, kMaxEpsilon));
}

CdfMethod draw_tree_method(Search& search) {
  return search.pick({CdfMethod::kTree, CdfMethod::kBinary, CdfMethod::kHistogram});
}

// The levels together spend what is told: the noise that is drawn has these spreads.
void add_up_levels(Search& search) {
  const bool is_zcdp = search.chance(0.5);
  const CdfMethod method = draw_tree_method(search);
  const std::uint32_t bins = draw_bins(search, method == CdfMethod::kTree ? 4097 : 1U << 17);
  const PrivacyParameter privacy = draw_privacy(search, is_zcdp);
  const PreparedCdf cdf(choose_cdf_plan(method, bins, privacy));
  long double spent = 0;
  for (const NoiseTable& noise : cdf.noise()) {
    const long double spread = noise.spread();
    spent += is_zcdp ? 1 / (2 * spread * spread) : 1 / spread;
  }
  // The spreads are rounded to doubles.
  if (spent > privacy.value * (1 + 0x1p-45L) || cdf.noise().size() != cdf.plan().levels) {
    search.report(text("method %d, %u bins: the levels spend %.18Lg of %s %.17g",
                       static_cast<int>(method), bins, spent, parameter_name(privacy.measure),
                       privacy.value));
  }
}

std::vector<std::uint64_t> draw_counts(Search& search, std::uint32_t bins) {
  std::vector<std::uint64_t> counts(bins);
  for (int i = 0; i < 4; ++i) {
    counts[search.below(bins)] += search.pick({0ULL, 1ULL, 2ULL, 1ULL << 28});
  }
  return counts;
}

// With the largest epsilon noise is 0 except with a probability below 10^-9 in all. One record more
// then changes one count of each level by 1.
void count_changed_nodes(Search& search) {
  const CdfMethod method = draw_tree_method(search);
  const std::uint32_t bins = draw_bins(search, 1500);
  const PreparedCdf cdf(choose_cdf_plan(method, bins, pure(kMaxEpsilon)));
  std::vector<std::uint64_t> counts = draw_counts(search, bins);
  const auto before = noisy_measurements(counts, cdf, search.context());
  const std::uint32_t added =
      search.pick({0U, bins - 1, bins / 2, static_cast<std::uint32_t>(search.below(bins))});
  ++counts[added];
  const auto after = noisy_measurements(counts, cdf, search.context());
  double changes = 0;
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    changes += std::abs(after[i] - before[i]);
    largest = std::max(largest, std::abs(after[i] - before[i]));
  }
  if (changes != cdf.plan().levels || largest > 1) {
    search.report(
        text("method %d, %u bins: a record in bin %u changes the measurements by %g in "
             "all, one by %g, on %u levels",
             static_cast<int>(method), bins, added, changes, largest, cdf.plan().levels));
  }
}

// No column is longer than what is told, and the noise is for that length.
void measure_columns(Search& search) {
  const bool is_large = search.chance(0.05);
  const std::uint32_t bins =
      is_large ? PrefixFactorization::kMaxBins - static_cast<std::uint32_t>(search.below(2))
               : draw_bins(search, 5000);
  const PrefixFactorization factorization(bins, heap());
  const auto told = static_cast<long double>(factorization.sensitivity());
  std::vector<std::uint64_t> counts = draw_counts(search, bins);
  const auto before = factorization.measure(counts, heap());
  for (int i = 0; i < (is_large ? 3 : 8); ++i) {
    const std::uint32_t edge = std::uint32_t{1} << search.below(20);
    const std::uint32_t bin = std::min(
        search.pick({0U, edge, edge - 1, bins - 1, static_cast<std::uint32_t>(search.below(bins))}),
        bins - 1);
    ++counts[bin];
    const auto after = factorization.measure(counts, heap());
    --counts[bin];
    long double squares = 0;
    for (std::size_t k = 0; k < before.size(); ++k) {
      const auto change = static_cast<long double>(static_cast<std::int64_t>(after[k] - before[k]));
      squares += change * change;
    }
    if (squares > told * told) {
      search.report(text("%u bins: a record in bin %u has a norm of %.12Lg, %.0Lf is told", bins,
                         bin, std::sqrt(squares), told));
      return;
    }
  }
  const PrivacyParameter rho = draw_privacy(search, true);
  const auto variance =
      static_cast<long double>(vector_noise_variance(rho.value, factorization.sensitivity()));
  if (told * told / (2 * variance) > rho.value) {
    search.report(
        text("%u bins, rho %.17g: the noise has a sigma^2 of %.18Lg", bins, rho.value, variance));
  }
}

// Whether each number of the curve is above the exact one of the smaller data.
Events compare_curve(std::span<const std::int64_t> curve, std::span<const std::uint64_t> counts) {
  Events events(1);
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    exact += static_cast<std::int64_t>(counts[i]);
    const char sign = curve[i] > exact ? '+' : '-';
    events[0] += sign;
    events.push_back(text("%zu%c", i, sign));
  }
  return events;
}

template <CdfMethod method>
void refute_curve(Search& search) {
  const bool is_zcdp = method == CdfMethod::kFactorization || search.chance(0.4);
  const std::uint32_t bins = 1 + static_cast<std::uint32_t>(search.below(6));
  const PrivacyParameter privacy =
      is_zcdp ? zcdp(search.log_uniform(0.05, 3)) : pure(search.log_uniform(0.3, 6));
  const CdfMechanism mechanism(choose_cdf_plan(method, bins, privacy));
  std::vector<std::uint64_t> counts(bins);
  for (std::uint64_t& count : counts) count = search.pick({0ULL, 0ULL, 5ULL, 1000ULL});
  std::vector<std::uint64_t> larger = counts;
  ++larger[search.below(bins)];
  // A value replaced: out of one bin, into another one.
  const bool replaces = !is_zcdp && search.chance(0.3);
  std::vector<std::uint64_t> start = counts;
  if (replaces) ++start[search.below(bins)];
  test::Claim claim = test::claim_of(privacy);
  if (replaces) claim.epsilon = *mechanism.costs().replacing.epsilon;
  const auto draw_of = [&](const std::vector<std::uint64_t>& data) -> DrawEvents {
    return [&] { return compare_curve(mechanism.release(data, search.context()), counts); };
  };
  const std::string refuted =
      refute_claim(search, draw_of(start), draw_of(larger), claim, 200, 4000);
  if (!refuted.empty()) {
    search.report(refuted + text(": cdf method %d, %u bins, %s %.17g%s", static_cast<int>(method),
                                 bins, parameter_name(privacy.measure), privacy.value,
                                 replaces ? ", a value replaced" : ""));
  }
}

}  // namespace

std::vector<Check> cdf_checks() {
  const std::vector<Mechanism> trees = {Mechanism::kTreeCdf, Mechanism::kBinaryCdf,
                                        Mechanism::kHistogramCdf, Mechanism::kTreeQuantiles};
  return {{"cdf, budget of the levels", trees, add_up_levels, 20},
          {"cdf, a record on each level", trees, count_changed_nodes, 10},
          {"cdf, columns of the factorization", {Mechanism::kFactorizedCdf}, measure_columns, 12},
          {"cdf, tree", {Mechanism::kTreeCdf}, refute_curve<CdfMethod::kTree>, 4},
          {"cdf, binary", {Mechanism::kBinaryCdf}, refute_curve<CdfMethod::kBinary>, 4},
          {"cdf, histogram", {Mechanism::kHistogramCdf}, refute_curve<CdfMethod::kHistogram>, 4},
          {"cdf, factorization",
           {Mechanism::kFactorizedCdf},
           refute_curve<CdfMethod::kFactorization>,
           4}};
}

}  // namespace dpquantile::adversary
