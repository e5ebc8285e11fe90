#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

namespace dpquantile {

// The utility of joint quantiles, but for its sign. For the numbers n_k of records between
// neighbouring quantiles and the shares d_k = q_{k+1} - q_k that they ought to have, it is
//
//   F = min over s of sum over k of |n_k - d_k s|,  s on the lattice {0, step, 2 step, ..}.
//
// A record that is added or removed moves F by at most 1: for each s it changes one term by 1.
class JointUtility {
 public:
  // Of ascending quantiles in [0, 1] and the lambda of draw_joint_positions.
  JointUtility(std::span<const double> quantiles, double lambda, std::pmr::memory_resource* memory);

  std::size_t quantiles() const { return shares_.size() - 1; }
  double lambda() const { return lambda_; }

  // The distance of lattice points; it depends on lambda and the number of quantiles alone.
  double lattice_step() const { return lattice_step_; }
  double lattice_point(std::uint64_t index) const {
    return static_cast<double>(index) * lattice_step_;
  }

  // The records between quantiles k and k + 1 if there are s in all; k = 0 .. quantiles().
  double expected(std::size_t k, double s) const { return shares_[k] * s; }
  // The records before quantile k, 1 .. quantiles(), and those behind it.
  double expected_before(std::size_t k, double s) const { return before_[k - 1] * s; }
  double expected_behind(std::size_t k, double s) const { return (1 - before_[k - 1]) * s; }

  // The sum over k of |gaps[k] - expected(k, s)|.
  double departure(std::span<const double> gaps, double s) const;

 private:
  double lambda_;
  double lattice_step_;
  std::pmr::vector<double> shares_;
  std::pmr::vector<double> before_;  // the quantiles
};

}  // namespace dpquantile
