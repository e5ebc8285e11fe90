#pragma once

#include <cstdint>
#include <memory_resource>
#include <variant>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/histogram/histogram.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "core/quantiles/recursion_plan.hpp"

// Differentially private quantiles on a value grid: the methods of Kaplan, Schnapp and Stemmer
// 2022, "Differentially Private Approximate Quantiles", on smeared cells instead of distinct
// points. Statement and proofs: docs/privacy.md, "Quantiles".
namespace dpquantile {

// A query with its plan: how the quantiles are drawn, by public parameters alone.
//
// Throws ParameterError as check_quantiles_query, std::bad_alloc.
class QuantilesMechanism final : public Mechanism {
 public:
  // Copies the quantiles into `memory`. `choose` makes the plan where counts on a tree are drawn;
  // choosing it takes some 10 ms, so a caller may keep plans.
  QuantilesMechanism(const QuantilesQuery& query, std::pmr::memory_resource* memory,
                     CdfPlanChooser choose = choose_cdf_plan);

  // For each requested quantile, in the order asked, the cell released for it; the answers are
  // monotone in the quantile. Empty data are answered like any other. `data` is counted on a grid
  // of as many cells as the query's.
  //
  // Privacy: query.privacy for adding or removing one record, for all quantiles together (Theorem
  // 4, and where a tree is read Theorem 6 for quantiles). The law is exact up to what
  // docs/privacy.md, "Floating point", says.
  //
  // Throws RandomnessUnavailable, Cancelled, std::bad_alloc, and std::length_error beyond
  // kMaxJointRecords where quantiles are drawn jointly.
  std::pmr::vector<std::uint32_t> draw(const Histogram& data,
                                       const MechanismContext& context) const;

 private:
  // Each quantile by itself, with its part of this guarantee.
  struct IndependentPlan {
    PrivacyParameter privacy;
  };
  using Plan = std::variant<RecursionPlan, IndependentPlan, CdfPlan>;

  QuantilesMechanism(const QuantilesQuery& query, std::pmr::vector<double> distinct,
                     CdfPlanChooser choose);
  QuantilesMechanism(const QuantilesQuery& query, std::pmr::vector<double> distinct, Plan plan);
  static Plan make_plan(const QuantilesQuery& query, std::size_t distinct, CdfPlanChooser choose);
  static PrivacyCost cost_of(const QuantilesQuery& query, std::size_t distinct, const Plan& plan);
  std::pmr::vector<std::uint32_t> draw_distinct(const Histogram& data,
                                                const MechanismContext& context) const;

  std::uint64_t cells_;
  std::pmr::vector<double> quantiles_;
  std::pmr::vector<double> distinct_;
  Plan plan_;
};

// The zCDP of a query's answers together, rounded upwards. Throws as QuantilesMechanism.
double rho_of_quantiles(const QuantilesQuery& query);

// A release of QuantilesMechanism(query), with its privacy. Throws as its constructor and draw().
std::pmr::vector<std::uint32_t> draw_quantiles(const Histogram& data, const QuantilesQuery& query,
                                               const MechanismContext& context);

}  // namespace dpquantile
