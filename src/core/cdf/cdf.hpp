#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "core/cdf/cdf_plan.hpp"
#include "core/cdf/prepared_cdf.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/privacy_parameter.hpp"

// A differentially private cumulative distribution. Either noisy counts on a level-uniform tree
// over the bins, made consistent: Manohar 2014 ("Privately Releasing Quantiles"), with the tree and
// the budgets of least error. Or, under zCDP, noisy sums by a factorization of the prefix sums.
// Both are made monotone. Statement and proofs: docs/privacy.md, "CDF".
namespace dpquantile {

// Releases, for each bin, the number of records in it and in all bins before it: non-decreasing and
// at least 0. The last is the released number of records. `counts` holds the number of records in
// each bin.
//
// Privacy: epsilon-differentially private (or rho-zCDP) for adding or removing one record. The
// noise is exact; a record is counted by one node on each level (docs/privacy.md, Theorem 6), or
// changes the sums of a factorization by one of its columns (Theorem 27). All that follows is
// post-processing.
//
// Throws RandomnessUnavailable, Cancelled, std::bad_alloc. O(bins) memory and time, apart from the
// noise.
std::pmr::vector<std::int64_t> release_cdf(std::span<const std::uint64_t> counts,
                                           const PreparedCdf& cdf, const MechanismContext& context);

// The same release before it is rounded to whole rows.
//
// Privacy: that of release_cdf(), as post-processing of the same noisy counts. Throws what
// release_cdf() throws.
std::pmr::vector<double> release_unrounded_cdf(std::span<const std::uint64_t> counts,
                                               const PreparedCdf& cdf,
                                               const MechanismContext& context);

// What release_cdf() costs. A record that is replaced changes two counts of a level by 1, or the
// values of a factorization by the difference of two columns, which have no entry below 0.
inline ReleaseCosts costs_of_cdf(const CdfPlan& plan) {
  return vector_noise_costs(cost_with_rho(plan.privacy, rho_of_cdf(plan)));
}

// release_cdf() as a mechanism, with the same privacy. Not thread-safe.
class CdfMechanism final : public Mechanism {
 public:
  explicit CdfMechanism(const CdfPlan& plan) : Mechanism(costs_of_cdf(plan)), plan_(plan) {}

  const CdfPlan& plan() const { return plan_; }
  std::pmr::vector<std::int64_t> release(std::span<const std::uint64_t> counts,
                                         const MechanismContext& context) const {
    if (!prepared_) prepared_.emplace(plan_);
    return release_cdf(counts, *prepared_, context);
  }

 private:
  CdfPlan plan_;
  mutable std::optional<PreparedCdf> prepared_;  // by the first release
};

// What release_cdf() measures, with noise: the counts of the nodes in the layout of LevelTree, or
// the values of PrefixFactorization::measure(), one for each bin. They are whole numbers.
//
// Privacy: that of release_cdf(). Throws what release_cdf() throws.
std::pmr::vector<double> noisy_measurements(std::span<const std::uint64_t> counts,
                                            const PreparedCdf& cdf,
                                            const MechanismContext& context);

// The post-processing of release_cdf(): turns noisy_measurements() into its result. Overwrites the
// measurements. Throws std::bad_alloc.
std::pmr::vector<std::int64_t> cumulative_from_measurements(const PreparedCdf& cdf,
                                                            std::span<double> measurements,
                                                            std::pmr::memory_resource* memory);

}  // namespace dpquantile
