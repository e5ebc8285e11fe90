#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/histogram/histogram.hpp"
#include "core/privacy/mechanism_context.hpp"
#include "core/quantiles/quantiles_query.hpp"

// Differentially private quantiles on a grid: the methods of Kaplan, Schnapp and Stemmer 2022,
// "Differentially Private Approximate Quantiles", on smeared grid cells instead of distinct points.
// Statement and proofs: docs/privacy.md, "Quantiles".
namespace dpquantile {

inline constexpr std::size_t kMaxQuantiles = 4096;

// The quantiles in ascending order, each once.
std::pmr::vector<double> sorted_distinct(std::span<const double> quantiles,
                                         std::pmr::memory_resource* memory);

// Throws ParameterError unless there are 1 .. kMaxQuantiles quantiles, each in [0, 1].
void check_quantiles(std::span<const double> quantiles);
// Throws ParameterError unless quantiles and privacy parameter are in range, and the quantiles few
// enough for the method.
void check_quantiles_query(const QuantilesQuery& query);

// The method that answers a query, by public parameters. It is the query's own unless that is
// kAuto: then kTree for many quantiles on a small grid under pure privacy, else kAuto, which stands
// for best_plan(). docs/experiments.md has the figures on which the choice rests.
QuantilesMethod resolved_method(const QuantilesQuery& query);

// The zCDP of a query's answers together, rounded upwards.
double rho_of_quantiles(const QuantilesQuery& query);

// For each requested quantile, in the order asked, the grid cell released for it; the answers are
// monotone in the quantile. Empty data are answered like any other.
//
// Privacy: query.privacy for adding or removing one record, for all quantiles together (Theorem 4,
// and where a tree is read Theorem 6 for quantiles). The law is exact up to what docs/privacy.md,
// "Floating point", says.
//
// Throws ParameterError as check_quantiles_query, RandomnessUnavailable, Cancelled,
// std::bad_alloc, and std::length_error beyond kMaxJointRecords where quantiles are drawn jointly.
std::pmr::vector<std::uint32_t> draw_quantiles(const Histogram& data, const QuantilesQuery& query,
                                               const MechanismContext& context);

}  // namespace dpquantile
