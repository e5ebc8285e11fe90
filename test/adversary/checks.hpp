#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "adversary/mechanisms.hpp"
#include "adversary/search.hpp"

namespace dpquantile::adversary {

// A check draws a shape that is hard for some mechanisms, and neighbours, and reports to the search
// what refutes their statement.
struct Check {
  std::string_view name;
  std::vector<Mechanism> mechanisms;
  void (*try_one)(Search& search);
  // How many shapes the privacy tests try, with a fixed seed.
  int in_tests;
};

// The checks of all files, in their order.
std::span<const Check> checks();

// ---- The files ----
std::vector<Check> joint_checks();
std::vector<Check> quantile_checks();
std::vector<Check> cdf_checks();
std::vector<Check> iqr_checks();
std::vector<Check> user_checks();
std::vector<Check> moment_checks();
std::vector<Check> group_checks();
std::vector<Check> noise_checks();
std::vector<Check> look_checks();

}  // namespace dpquantile::adversary
