#include "core/exponential/joint_utility.hpp"

#include <algorithm>
#include <cmath>

namespace dpquantile {

namespace {

// The lattice step in units of 1 / lambda. It is so fine that the least departure on the lattice is
// close to the least over all s. For many gaps a coarser lattice suffices, because the difference
// is spread over them.
double step_for(std::size_t gaps) {
  const auto count = static_cast<double>(gaps);
  return count * std::min(1.0, count / 10);
}

}  // namespace

JointUtility::JointUtility(std::span<const double> quantiles, double lambda,
                           std::pmr::memory_resource* memory)
    : lambda_(lambda),
      lattice_step_(step_for(quantiles.size() + 1) / lambda),
      shares_(memory),
      before_(quantiles.begin(), quantiles.end(), memory) {
  shares_.reserve(quantiles.size() + 1);
  double previous = 0;
  for (const double quantile : quantiles) {
    shares_.push_back(quantile - previous);
    previous = quantile;
  }
  shares_.push_back(1 - previous);
}

double JointUtility::departure(std::span<const double> gaps, double s) const {
  double sum = 0;
  for (std::size_t k = 0; k < gaps.size(); ++k) sum += std::abs(gaps[k] - expected(k, s));
  return sum;
}

}  // namespace dpquantile
