#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "core/cdf/cdf_domain.hpp"
#include "core/cdf/cdf_plan.hpp"

namespace dpquantile {

// One point of a released curve with its simultaneous band. probability, low and high are fractions
// of the rows, from 0 to 1; each is non-decreasing in x, and low <= probability <= high. If the
// release has no rows, the probability is NaN at every point and the band is 0 to 1.
struct CdfPoint {
  double x;
  double probability;
  double low;
  double high;
};

// A released CDF: everything that a dp_cdf value holds. All of it is public, so every question to
// it is post-processing and costs no privacy.
class CdfCurve {
 public:
  static constexpr std::int64_t kMostRows = std::int64_t{1} << 53;

  // `cumulative` is what release_cdf() returns. Throws CorruptInput unless the plan is one that
  // choose_cdf_plan() could have made for the domain's bins (with any branchings and budgets for
  // which noise can be drawn) and the counts are non-decreasing from 0 to 2^53.
  CdfCurve(const CdfDomain& domain, const CdfPlan& plan, std::pmr::vector<std::int64_t> cumulative);

  const CdfDomain& domain() const { return domain_; }
  const CdfPlan& plan() const { return plan_; }
  std::span<const std::int64_t> cumulative() const { return cumulative_; }

  // The released number of rows, n^.
  std::int64_t rows() const { return cumulative_.back(); }

  // The number of rows with values from `from` to `to`; a discrete curve includes both ends. Throws
  // ParameterError for NaN and for from > to.
  double count(double from, double to) const;

  // The fraction of rows with values up to x (discrete) or below x (continuous); empty if the
  // release has no rows. Throws ParameterError for NaN.
  std::optional<double> probability(double x) const;

  // The least value up to which the fraction of the rows is positive and at least q; empty if the
  // release has no rows. Throws ParameterError unless 0 <= q <= 1.
  std::optional<double> quantile(double q) const;

  // How far quantile(q) is at most from the least value up to which the fraction of the rows is at
  // least q, if the fraction at that value's point and at the point before it are off by at most
  // error_rows / rows(): then that point is between the quantiles of q - error_rows / rows() and q
  // + error_rows / rows(), or in the bin beside them. The value itself is at most half a
  // granularity from its point. Empty if the release has no rows. Throws as quantile().
  std::optional<double> quantile_error(double q, double error_rows) const;

  // The curve's points with the band of +- band_rows / rows() around them (no band where the
  // fraction is 0 or 1 by definition). A continuous curve has bins + 1 points (the edges), a
  // discrete one has `bins` points (the values).
  std::pmr::vector<CdfPoint> points(double band_rows, std::pmr::memory_resource* memory) const;

 private:
  double rows_up_to(double x) const;
  double rows_before(double x) const;

  CdfDomain domain_;
  CdfPlan plan_;
  std::pmr::vector<std::int64_t> cumulative_;
};

}  // namespace dpquantile
