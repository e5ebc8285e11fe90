#include "fuzz/target.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string>

namespace dpquantile::fuzz {

namespace {

std::map<std::string, Target, std::less<>>& targets() {
  static std::map<std::string, Target, std::less<>> all;
  return all;
}

Target chosen = nullptr;

}  // namespace

TargetName::TargetName(std::string_view name, Target target) {
  targets().emplace(name, target);
}

void require(bool invariant, const char* what) {
  if (invariant) return;
  std::fprintf(stderr, "INVARIANT: %s\n", what);
  std::abort();
}

double any_double(FuzzedDataProvider& input) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kUsual[] = {0,        -0.0,       1,
                               0.5,      0.1,        1e-6,
                               1e-12,    1000,       100,
                               -100,     0.01,       3,
                               0.25,     0.75,       16,
                               4096,     1e300,      -1e300,
                               1e-300,   kInfinity,  -kInfinity,
                               1e15,     0x1p53,     1e308,
                               4.9e-324, 4294967296, std::numeric_limits<double>::quiet_NaN()};
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return std::bit_cast<double>(input.ConsumeIntegral<std::uint64_t>());
    case 1:
      return input.ConsumeFloatingPointInRange(-10.0, 10.0);
    case 2:
      return static_cast<double>(input.ConsumeIntegral<std::int16_t>());
    default:
      return kUsual[input.ConsumeIntegralInRange<std::size_t>(0, std::size(kUsual) - 1)];
  }
}

}  // namespace dpquantile::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  using namespace dpquantile::fuzz;
  const std::string name = std::filesystem::path((*arguments)[0]).filename();
  const auto found = targets().find(name);
  if (found == targets().end()) {
    for (const auto& [other, target] : targets()) std::printf("%s\n", other.c_str());
    std::exit(name == "list" ? 0 : 2);
  }
  chosen = found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dpquantile::fuzz::chosen({data, size});
  return 0;
}
