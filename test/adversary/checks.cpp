#include "adversary/checks.hpp"

#include <iterator>

namespace dpquantile::adversary {

std::span<const Check> checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> joined;
    for (const auto& of_file :
         {joint_checks(), quantile_checks(), cdf_checks(), iqr_checks(), user_checks(),
          moment_checks(), group_checks(), noise_checks(), look_checks()}) {
      joined.insert(joined.end(), of_file.begin(), of_file.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace dpquantile::adversary
