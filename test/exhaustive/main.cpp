// run [FILTER [EFFORT]]: runs the checks whose names contain FILTER. The last line is "N passed, N
// failed".

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "exhaustive/checks.hpp"

namespace {

using namespace dpquantile::exhaustive;

std::vector<Check> checks() {
  std::vector<Check> all;
  for (const auto& some : {noise_checks(), quantile_checks(), cdf_checks(), iqr_checks(),
                           moment_checks(), user_checks(), group_checks(), replay_checks()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// Returns whether nothing was found.
bool run(const Check& check, int effort) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Report report(effort);
  try {
    check.run(report);
  } catch (const std::exception& error) {
    report.finding(std::string("it throws: ") + error.what());
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const bool passed = report.number_of_findings() == 0;
  std::printf("%-36.*s %7zu laws, %8zu pairs, lost %7.1e, %6.2f s%s\n",
              static_cast<int>(check.name.size()), check.name.data(), report.laws(), report.pairs(),
              report.most_lost(), seconds, passed ? "" : ": REFUTED");
  for (const std::string& finding : report.findings()) std::printf("  %s\n", finding.c_str());
  if (report.number_of_findings() > report.findings().size()) {
    std::printf("  and %zu more\n", report.number_of_findings() - report.findings().size());
  }
  std::fflush(stdout);
  return passed;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view filter = count > 1 ? arguments[1] : "";
  const int effort = count > 2 ? std::atoi(arguments[2]) : 1;
  int passed = 0;
  int failed = 0;
  for (const Check& check : checks()) {
    if (check.name.find(filter) == std::string_view::npos) continue;
    ++(run(check, effort) ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
