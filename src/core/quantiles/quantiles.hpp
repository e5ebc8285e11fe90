#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <variant>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/histogram/histogram.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "core/quantiles/recursion_plan.hpp"

// Differentially private quantiles on a value grid: the methods of Kaplan, Schnapp and Stemmer
// 2022, "Differentially Private Approximate Quantiles", on smeared cells instead of distinct
// points. Statement and proofs: docs/privacy.md, "Quantiles".
namespace dpquantile {

// A query with its plan. The plan says how the quantiles are drawn and depends on public parameters
// alone. Not thread-safe.
class QuantilesMechanism final : public Mechanism {
 public:
  // Copies the quantiles into `memory`. `choose` makes the plan of method tree; this takes some
  // 10 ms, so a caller may keep plans. Throws ParameterError as check_quantiles_query does,
  // std::bad_alloc.
  QuantilesMechanism(const QuantilesQuery& query, std::pmr::memory_resource* memory,
                     CdfPlanChooser choose = choose_cdf_plan);

  // Releases a cell for each quantile, in the order of the query. The answers are monotone in the
  // quantile. Empty data get answers like any other data. `data` holds counts on a value grid of
  // query.cells cells.
  //
  // Privacy: query.privacy for adding or removing one record, for all quantiles together
  // (docs/privacy.md, Theorem 4; Theorem 6 for quantiles if they are read off a tree). The law is
  // exact up to what docs/privacy.md, "Floating point", says.
  //
  // Throws RandomnessUnavailable, Cancelled, std::bad_alloc. Throws std::length_error above
  // kMaxJointRecords if quantiles are drawn jointly.
  std::pmr::vector<std::uint32_t> release(const Histogram& data,
                                          const MechanismContext& context) const;

 private:
  // Each quantile is drawn by itself, with an equal part of this guarantee.
  struct IndependentPlan {
    PrivacyParameter privacy;
  };
  using Plan = std::variant<RecursionPlan, IndependentPlan, CdfPlan>;

  QuantilesMechanism(const QuantilesQuery& query, std::pmr::vector<double>&& distinct,
                     CdfPlanChooser choose);
  QuantilesMechanism(const QuantilesQuery& query, std::pmr::vector<double>&& distinct, Plan plan);
  static Plan make_plan(const QuantilesQuery& query, std::size_t distinct, CdfPlanChooser choose);
  static ReleaseCosts costs_of(const QuantilesQuery& query, std::span<const double> distinct,
                               const Plan& plan);
  std::pmr::vector<std::uint32_t> release_distinct(const Histogram& data,
                                                   const MechanismContext& context) const;

  std::uint64_t cells_;
  std::pmr::vector<double> quantiles_;
  std::pmr::vector<double> distinct_;
  Plan plan_;
  mutable std::optional<PreparedCdf> tree_;  // by the first release of a CdfPlan
};

// The rho for which all answers to a query together are rho-zCDP, rounded upwards. Throws what the
// constructor of QuantilesMechanism throws.
double rho_of_quantiles(const QuantilesQuery& query);

// One release of QuantilesMechanism(query).
//
// Privacy: that of draw(). Throws what the constructor and draw() throw.
std::pmr::vector<std::uint32_t> draw_quantiles(const Histogram& data, const QuantilesQuery& query,
                                               const MechanismContext& context);

}  // namespace dpquantile
