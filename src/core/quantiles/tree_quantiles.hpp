#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/histogram/histogram.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles_query.hpp"

// Differentially private quantiles read off one noisy tree of counts: AggTree of Kaplan, Schnapp
// and Stemmer 2022, with the tree, the least-squares step and the monotone curve of dp_cdf. The
// error hardly depends on the number of quantiles. Statement and proof: docs/privacy.md, "CDF".
namespace dpquantile {

// The number of leaves into which the cells of the value grid are counted: one for each cell, but
// at most 2^14 (pure) or 2^16 (zCDP). The widths of leaves differ by at most one cell. More leaves
// add noise, for a resolution that only very many rows would show (docs/privacy.md has figures).
// Under zCDP the noise grows more slowly with the number of leaves.
std::uint32_t tree_quantiles_leaves(std::uint64_t cells, PrivacyMeasure measure);

// The plan of the noise for a value grid of `cells` cells, 1 .. 2^32. It is public and the same for
// all data. Choosing it takes some 10 ms, as long as a release. Throws ParameterError as
// check_privacy_parameter(privacy) does, std::bad_alloc.
CdfPlan tree_quantiles_plan(std::uint64_t cells, const PrivacyParameter& privacy,
                            CdfPlanChooser choose = choose_cdf_plan);

// Releases a cell for each quantile, in the order given: the cell where the released curve, a
// straight line within each leaf, reaches that fraction of the released total. Quantiles 0 and 1
// are the middles of the first and the last row. The answers are monotone in the quantile; equal
// quantiles get equal answers. If the released total is 0, the whole curve is 0, and quantile q is
// the cell at fraction q of the value grid. `data` holds counts on a value grid of `cells` cells.
// `cdf` is tree_quantiles_plan() for the same `cells`, prepared.
//
// Privacy: as release_cdf(), epsilon-differentially private (or rho-zCDP) for adding
// or removing one record, for all quantiles together. Reading the curve is post-processing
// (docs/privacy.md, Theorem 6 for quantiles).
//
// Throws ParameterError (quantiles), RandomnessUnavailable, Cancelled, std::bad_alloc. O(leaves)
// memory and time, apart from the noise: one draw for each node.
std::pmr::vector<std::uint32_t> tree_quantiles(const Histogram& data, std::uint64_t cells,
                                               std::span<const double> quantiles,
                                               const PreparedCdf& cdf,
                                               const MechanismContext& context);

}  // namespace dpquantile
