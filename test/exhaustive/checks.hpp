#pragma once

#include <string_view>
#include <vector>

#include "exhaustive/comparison.hpp"

namespace dpquantile::exhaustive {

struct Check {
  std::string_view name;
  void (*run)(Report& report);
};

// ---- The files ----
std::vector<Check> noise_checks();
std::vector<Check> quantile_checks();
std::vector<Check> cdf_checks();
std::vector<Check> iqr_checks();
std::vector<Check> moment_checks();
std::vector<Check> user_checks();
std::vector<Check> group_checks();
std::vector<Check> replay_checks();

}  // namespace dpquantile::exhaustive
