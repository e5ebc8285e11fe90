// Processor time of m uniform quantiles of 1000 rows in the core alone, without a server and
// without reading rows. The time includes sorting the rows into cells. The data are U(-5, 5) on
// 2^24 cells, as in paper.sql.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "core/base/error.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/quantiles/quantiles.hpp"

namespace {

using namespace dpquantile;

constexpr std::size_t kRows = 1000;
constexpr int kQuantileCounts[] = {1, 7, 20, 50, 120};
constexpr double kSecondsForEach = 0.5;
constexpr int kMostCalls = 201;

struct Method {
  QuantilesMethod method;
  const char* name;
};
constexpr Method kMethods[] = {{QuantilesMethod::kAuto, "auto"},
                               {QuantilesMethod::kApproximate, "approximate"},
                               {QuantilesMethod::kJoint, "joint"},
                               {QuantilesMethod::kTree, "tree"},
                               {QuantilesMethod::kIndependent, "independent"}};

double seconds_of_call(const std::vector<std::uint32_t>& cells, const QuantilesQuery& query,
                       RandomStream& random) {
  const std::clock_t start = std::clock();
  CancelPoll cancel(nullptr);
  const MechanismContext context(random, cancel, std::pmr::new_delete_resource());
  std::vector<std::uint32_t> own = cells;
  const Histogram data(own, query.cells, context);
  draw_quantiles(data, query, context);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The median of several calls.
double median_seconds(const std::vector<std::uint32_t>& cells, const QuantilesQuery& query,
                      RandomStream& random) {
  std::vector<double> seconds;
  double sum = 0;
  while (seconds.empty() || (sum < kSecondsForEach && seconds.size() < kMostCalls)) {
    seconds.push_back(seconds_of_call(cells, query, random));
    sum += seconds.back();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

int main() {
  CsprngSource source;
  RandomStream random(source);
  const ValueGrid grid = ValueGrid::create(-100, 100, 200.0 / 16777216);
  std::vector<std::uint32_t> cells(kRows);
  for (std::uint32_t& cell : cells) cell = grid.cell_of(-5 + 10 * random.unit_real());

  std::printf(
      "Milliseconds of processor time in the core for m quantiles of 1000 rows, median of "
      "calls.\n%-12s",
      "epsilon = 1");
  for (const int m : kQuantileCounts) std::printf("  m = %-5d", m);
  std::printf("\n");
  for (const Method& method : kMethods) {
    std::printf("%-12s", method.name);
    for (const int m : kQuantileCounts) {
      std::vector<double> quantiles;
      for (int i = 1; i <= m; ++i) quantiles.push_back(static_cast<double>(i) / (m + 1));
      std::printf(
          "  %9.3f",
          1000 * median_seconds(cells, {method.method, pure(1), grid.cells, quantiles}, random));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return 0;
}
