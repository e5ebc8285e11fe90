#pragma once

#include <cstdint>

#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

inline constexpr double kMinSelectionDelta = 1e-290;
inline constexpr double kMaxSelectionDelta = 0.5;

// Whether a group may be shown: the way that keeps every group with the largest probability that
// (epsilon, delta)-differential privacy allows (Desfontaines, Voss, Gipson, Mandayam 2020,
// "Differentially private partition selection"). With pi(0) = 0,
//
//   pi(n + 1) = min(e^epsilon pi(n) + delta, 1 - e^-epsilon (1 - pi(n) - delta), 1).
//
// A group of one row (or user) is kept with probability delta; from rows_always_kept() on every
// group is kept.
//
// The law is that for (1 - 2^-20) epsilon and (1 - 2^-20) delta, which pays for rounding and for
// charging shortest decimals. An epsilon above 16 counts as 16. With users who may be in up to k
// groups (bounded_groups.hpp), each group gets epsilon / k and delta / k.
//
// Privacy: the decisions about all groups together are (epsilon, delta)-differentially private for
// adding or removing one row, or one user who is in at most groups_per_user groups
// (docs/privacy.md, "Which groups may be shown"), and cost what selection_cost() says.
class GroupSelection {
 public:
  // Throws ParameterError unless kMinEpsilon <= epsilon / groups_per_user, epsilon <= kMaxEpsilon,
  // groups_per_user >= 1, kMinSelectionDelta <= delta / groups_per_user and delta <=
  // kMaxSelectionDelta.
  GroupSelection(double epsilon, double delta, std::uint64_t groups_per_user = 1);

  // The exact law of one decision: with this probability, a double that no rounding changes, the
  // outcome is `kept`, else the other one.
  struct Odds {
    double probability;
    bool kept;
  };
  Odds odds(std::uint64_t rows) const;

  // The probability that a group of `rows` rows (or users) is kept. Takes constant time.
  double keep_probability(std::uint64_t rows) const;

  // Draws the decision. Throws RandomnessUnavailable.
  bool draw_keep(std::uint64_t rows, RandomStream& random) const;

  // The least number of rows (or users) of a group that is kept with probability 1/2 or more, and
  // of one that is always kept.
  std::uint64_t rows_kept_half_the_time() const;
  std::uint64_t rows_always_kept() const;

 private:
  double epsilon_;
  double delta_;
  std::uint64_t rising_;  // up to this number of rows pi grows by the first branch
  double top_;            // the keep probability there
};

// What the decisions cost, for adding or removing one row, or one user: epsilon and delta, and rho
// = epsilon tanh(epsilon / 2 groups_per_user) of delta-approximate zCDP. It is less than that of
// any (epsilon, delta)-differentially private mechanism, because the parts of the groups are
// independent (Theorem Z5). Requires epsilon >= 0, groups_per_user >= 1.
PrivacyCost selection_cost(double epsilon, double delta, std::uint64_t groups_per_user = 1);

}  // namespace dpquantile
