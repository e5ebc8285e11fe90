#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

namespace dpquantile {

// A joint draw leaves out so many bits less at each lattice point than in all (kTailBits).
inline constexpr double kLatticeBits = 13;

// By how much rounding changes the logarithm of a weight of a joint draw at most.
inline constexpr double kLogRounding = 0x1p-20;

// The negative utility of joint quantiles. n_k is the number of records between neighbouring
// quantiles, and d_k = q_{k+1} - q_k is the share of the records that is expected there. Then
//
//   F = min over s of sum over k of |n_k - d_k s|,  s on the lattice {0, step, 2 step, ..}.
//
// Adding or removing a record moves F by at most 1: for each s it changes the terms of the sum by
// at most 1 in total (docs/privacy.md, Lemma 3).
class JointUtility {
 public:
  // `quantiles` are ascending and in [0, 1]; `lambda` is that of draw_joint_positions().
  JointUtility(std::span<const double> quantiles, double lambda, std::pmr::memory_resource* memory);

  std::size_t quantiles() const { return shares_.size() - 1; }
  double lambda() const { return lambda_; }

  // The distance between neighbouring lattice points. It depends on lambda and the number of
  // quantiles only.
  double lattice_step() const { return lattice_step_; }
  double lattice_point(std::uint64_t index) const {
    return static_cast<double>(index) * lattice_step_;
  }

  // The expected number of records between quantiles k and k + 1, k = 0 .. quantiles(), if there
  // are s records in all.
  double expected(std::size_t k, double s) const { return shares_[k] * s; }
  // The expected number of records before quantile k, k = 1 .. quantiles(), and behind it.
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
