// adversary SECONDS [SEED [FILTER]]: tries the checks whose names contain FILTER on shape after
// shape. Each gets an equal part of the time and ends with its first finding. The last line is
// "N passed, N failed".

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "adversary/checks.hpp"

namespace {

using namespace dpquantile::adversary;
using Clock = std::chrono::steady_clock;

// All statistical tests of a run together raise a false alarm with this probability at most.
constexpr double kFalseAlarm = 9e-7;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns whether there was no finding.
bool search(const Check& check, std::uint64_t seed, double seconds, double false_alarm) {
  Search search(seed, false_alarm);
  const auto start = Clock::now();
  int shapes = 0;
  do {
    search.allow_work();
    ++shapes;
    try {
      check.try_one(search);
    } catch (const std::exception& error) {
      search.report(std::string("it throws: ") + error.what());
    }
  } while (search.findings().empty() && seconds_since(start) < seconds);
  std::printf("%-44.*s %8d shapes, %7.1f s%s\n", static_cast<int>(check.name.size()),
              check.name.data(), shapes, seconds_since(start),
              search.findings().empty() ? "" : ": REFUTED");
  for (const std::string& finding : search.findings()) std::printf("  %s\n", finding.c_str());
  std::fflush(stdout);
  return search.findings().empty();
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 60;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const std::string_view filter = count > 3 ? arguments[3] : "";
  std::vector<Check> chosen;
  for (const Check& check : checks()) {
    if (check.name.find(filter) != std::string_view::npos) chosen.push_back(check);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const auto parts = static_cast<double>(chosen.size());
  int passed = 0;
  for (const Check& check : chosen) {
    passed += search(check, seed, seconds / parts, kFalseAlarm / parts) ? 1 : 0;
  }
  std::printf("%d passed, %zu failed\n", passed, chosen.size() - static_cast<std::size_t>(passed));
  return passed == static_cast<int>(chosen.size()) && passed > 0 ? 0 : 1;
}
