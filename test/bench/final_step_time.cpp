// Time of the final step in the core alone: from the state of uniform rows on the default value
// grid of 2^20 cells to nine quantiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/histogram/growing_histogram.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/quantiles/quantiles.hpp"

namespace {

using namespace dpquantile;

constexpr std::uint64_t kRows[] = {100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
constexpr int kCalls = 15;
constexpr double kNinths[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};

double milliseconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

GrowingHistogram state_of(std::uint64_t rows, std::uint64_t cells, RandomStream& random) {
  CancelPoll cancel(nullptr);
  GrowingHistogram state(cells, std::pmr::new_delete_resource());
  for (std::uint64_t i = 0; i < rows; ++i) {
    if (state.full()) state.make_room(cancel);
    state.add(static_cast<std::uint32_t>(random.uniform_below(cells)));
  }
  return state;
}

// The median of several calls. The median excludes what a state does only once, in the first call.
double median_milliseconds(GrowingHistogram& state, std::uint64_t cells, RandomStream& random) {
  const QuantilesQuery query{QuantilesMethod::kApproximate, pure(1), cells, kNinths};
  CancelPoll cancel(nullptr);
  const MechanismContext context(random, cancel, std::pmr::new_delete_resource());
  std::vector<double> times;
  for (int call = 0; call < kCalls; ++call) {
    const double start = milliseconds();
    const Histogram data = state.histogram(context);
    draw_quantiles(data, query, context);
    times.push_back(milliseconds() - start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  CsprngSource source;
  RandomStream random(source);
  std::printf(
      "Final step: from the state to nine quantiles, core alone, 2^20 cells, median of %d calls\n"
      "  %-12s %10s\n",
      kCalls, "rows", "ms");
  for (const std::uint64_t rows : kRows) {
    GrowingHistogram state = state_of(rows, ValueGrid::kDefaultCells, random);
    std::printf("  %-12llu %10.3f\n", static_cast<unsigned long long>(rows),
                median_milliseconds(state, ValueGrid::kDefaultCells, random));
    std::fflush(stdout);
  }
  return 0;
}
