#include "quantile_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "bench_figures.hpp"
#include "core/histogram/histogram.hpp"
#include "core/quantiles/quantiles.hpp"
#include "support/quantile_limit.hpp"

namespace dpquantile::bench {

namespace {

constexpr std::uint32_t kCells = std::uint32_t{1} << 20;
constexpr std::uint32_t kRows = 1000;
constexpr int kQuantileCounts[] = {1, 3, 9, 19};
constexpr int kMostAdded = 100;
constexpr int kMostJoint = 10;  // a joint draw of more takes long

struct NamedMethod {
  const char* name;
  QuantilesMethod method;
};
constexpr NamedMethod kMethods[] = {{"approximate", QuantilesMethod::kApproximate},
                                    {"blocks", QuantilesMethod::kBlocks},
                                    {"auto", QuantilesMethod::kAuto},
                                    {"joint", QuantilesMethod::kJoint},
                                    {"tree", QuantilesMethod::kTree}};

using Cells = std::vector<std::uint32_t>;

Cells spread_rows(RandomStream& random) {
  Cells rows(kRows);
  for (std::uint32_t& row : rows) row = static_cast<std::uint32_t>(random.uniform_below(kCells));
  return rows;
}

// The cells from one background row to the next, of which there are m + 1.
std::uint32_t run_width(int m) {
  return (kCells - 1) / static_cast<std::uint32_t>(m);
}

// HardQuantileLimit: quantile i / (m + 1) is the middle of the filling in a cell of run i.
Cells hard_rows(int m, std::uint64_t filling, RandomStream& random) {
  const auto runs = static_cast<std::uint32_t>(m);
  const std::uint32_t width = run_width(m);
  Cells rows;
  for (std::uint32_t i = 0; i <= runs; ++i) {
    const std::uint64_t beside = i == 0 || i == runs ? filling / 2 : filling;
    rows.insert(rows.end(), kRows / (runs + 1) - beside, i * width);
    if (i == runs) continue;
    const auto cell = static_cast<std::uint32_t>(random.uniform_below(width - 1));
    rows.insert(rows.end(), filling, i * width + 1 + cell);
  }
  return rows;
}

double rank_error(const Cells& sorted, std::uint32_t answer, double q) {
  const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), answer);
  const auto twice_below = static_cast<double>((first - sorted.begin()) + (last - sorted.begin()));
  return twice_below / 2 - q * static_cast<double>(sorted.size());
}

struct Errors {
  Average absolute;
  Average squares;
  double root() const { return std::sqrt(squares.mean()); }
};

template <class Rows>
Errors measure(QuantilesMethod method, int m, const PrivacyParameter& privacy, int draws,
               RandomStream& random, Rows draw_rows) {
  const auto count = static_cast<std::size_t>(m);
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < count; ++i) quantiles.push_back(uniform_quantile(i, count));
  CancelPoll cancel(nullptr);
  const MechanismContext context(random, cancel, std::pmr::new_delete_resource());
  const QuantilesMechanism mechanism({method, privacy, kCells, quantiles},
                                     std::pmr::new_delete_resource());
  Errors errors;
  for (int draw = 0; draw < draws; ++draw) {
    Cells rows = draw_rows();
    std::ranges::sort(rows);
    const Histogram data(rows, kCells, context);
    const auto answers = mechanism.release(data, context);
    for (std::size_t i = 0; i < count; ++i) {
      const double error = rank_error(rows, answers[i], quantiles[i]);
      errors.absolute.add(std::abs(error));
      errors.squares.add(error * error);
    }
  }
  return errors;
}

// The largest mean error for several fillings, up to one that the method mostly finds. The limit is
// for the filling of which it says most, and so for the one that is hardest for a method.
double hardest_error(QuantilesMethod method, int m, const PrivacyParameter& privacy,
                     std::uint64_t filling, int draws, RandomStream& random) {
  const std::uint64_t most = kRows / static_cast<std::uint32_t>(m + 1);
  double largest = 0;
  bool is_found = false;
  for (std::uint64_t tried = filling; tried <= most && !is_found; tried += 2 * (1 + tried / 12)) {
    const Errors errors =
        measure(method, m, privacy, draws, random, [&] { return hard_rows(m, tried, random); });
    const double error = errors.absolute.mean();
    is_found = error < static_cast<double>(tried) / 16;
    largest = std::max(largest, error);
  }
  return largest;
}

void print_ratio(double error, double limit) {
  limit > 0 ? std::printf(" %8.2f %6.2f %6.2f", error, limit, error / limit)
            : std::printf(" %8.2f %6s %6s", error, "-", "-");
}

void print_methods(int m, const PrivacyParameter& privacy, int draws, RandomStream& random) {
  const bool is_pure = privacy.measure == PrivacyMeasure::kPure;
  const double of_mean =
      m == 1 && is_pure ? test::spread_quantile_limit(0.5, kMostAdded, privacy.value) : 0;
  const double of_root = test::spread_quantiles_limit(m, privacy);
  const test::HardQuantileLimit hard = test::hard_quantile_limit(
      run_width(m) - 1, kRows / static_cast<std::uint32_t>(m + 1), privacy);
  for (const NamedMethod& method : kMethods) {
    if (method.method == QuantilesMethod::kJoint && m > kMostJoint) continue;
    const Errors spread =
        measure(method.method, m, privacy, draws, random, [&] { return spread_rows(random); });
    const double found = hardest_error(method.method, m, privacy, hard.filling, draws, random);
    std::printf("%4d %-12s", m, method.name);
    print_ratio(spread.absolute.mean(), of_mean);
    print_ratio(spread.root(), of_root);
    print_ratio(found, hard.error);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

void print_quantile_limits(int draws, RandomStream& random) {
  std::printf("Rank errors beside the limits for every mechanism: %u rows, %u cells, %d draws.\n",
              kRows, kCells, draws);
  for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
    std::printf("%s = %g\n%4s %-12s %22s %22s %22s\n", parameter_name(privacy.measure),
                privacy.value, "m", "method", "spread rows, mean", "spread rows, RMS",
                "hard to find, mean");
    std::printf("%17s", "");
    for (int i = 0; i < 3; ++i) std::printf(" %8s %6s %6s", "error", "limit", "ratio");
    std::printf("\n");
    for (const int m : kQuantileCounts) print_methods(m, privacy, draws, random);
  }
}

}  // namespace dpquantile::bench
