#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/histogram/histogram.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles_query.hpp"

// Differentially private quantiles read off one noisy tree of counts: AggTree of Kaplan, Schnapp
// and Stemmer 2022, with the tree, the least-squares step and the monotone curve of dp_cdf. The
// error hardly depends on how many quantiles are asked for. Statement and proof: docs/privacy.md,
// "CDF".
namespace dpquantile {

// How the grid is aggregated: all its cells, at most 2^14 (pure) or 2^16 (zCDP) leaves of equal
// width up to one cell. More leaves add noise, for a resolution that only very many rows would show
// (docs/privacy.md has figures); under zCDP noise grows more slowly with them.
std::uint32_t tree_quantiles_leaves(std::uint64_t cells, PrivacyMeasure measure);

// The plan of the noise for a grid of this many cells, 1 .. 2^32; check_privacy_parameter(privacy).
// It is public and the same for all data; choosing it takes some 10 ms, as long as a release.
CdfPlan tree_quantiles_plan(std::uint64_t cells, const PrivacyParameter& privacy,
                            CdfPlanChooser choose = choose_cdf_plan);

// For each quantile, in the order asked, a cell of the grid of `cells` that `data` is counted on:
// where the released curve, a straight line within each leaf, reaches that fraction of the released
// total; 0 and 1 are the middles of the first and the last row. The answers are monotone in the
// quantile and equal for equal ones. If the released total is 0, and so the whole curve, quantile q
// is the cell at fraction q of the grid. `plan` is tree_quantiles_plan() of the same cells.
//
// Privacy: as release_cdf() with this plan, epsilon-differentially private (or rho-zCDP) for adding
// or removing one record, for all quantiles together. Reading the curve is post-processing.
//
// Throws ParameterError (privacy, quantiles), RandomnessUnavailable, Cancelled, std::bad_alloc.
// O(leaves) memory and time but for the noise, a draw a node.
std::pmr::vector<std::uint32_t> tree_quantiles(const Histogram& data, std::uint64_t cells,
                                               std::span<const double> quantiles,
                                               const CdfPlan& plan,
                                               const MechanismContext& context);

}  // namespace dpquantile
