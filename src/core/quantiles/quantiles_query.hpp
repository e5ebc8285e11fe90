#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// The methods for quantiles. The numbers are stored inside aggregate states.
enum class QuantilesMethod : std::uint8_t {
  kApproximate = 1,  // ApproximateQuantiles: level by level, one quantile in each interval
  kJoint = 2,        // all at once by one exponential mechanism
  kIndependent = 3,  // each by itself
  kTree = 4,         // read off noisy counts on a tree
  kAuto = 5,         // the most accurate method for the public parameters
  kBlocks = 6,       // level by level, up to four quantiles together in each interval
  kDefault = 7,      // of a call that names no method: default_method() says which one answers it
};

inline constexpr std::size_t kMaxQuantiles = 4096;

// A query for quantiles. All its parameters are public.
struct QuantilesQuery {
  QuantilesMethod method;
  PrivacyParameter privacy;
  std::uint64_t cells;                // of the value grid
  std::span<const double> quantiles;  // in any order; equal quantiles are drawn once
};

// The quantiles in ascending order, without duplicates. Throws std::bad_alloc.
std::pmr::vector<double> sorted_distinct(std::span<const double> quantiles,
                                         std::pmr::memory_resource* memory);

// Throws ParameterError unless there are 1 .. kMaxQuantiles quantiles, each in [0, 1].
void check_quantiles(std::span<const double> quantiles);
// Throws ParameterError unless the quantiles and the privacy parameter are in range, the quantiles
// are few enough for the method, and the privacy parameter is large enough for each of them. Does
// not check the cells.
void check_quantiles_query(const QuantilesQuery& query);

// The method that answers a query. It depends on public parameters only. It is the query's method
// unless that is kAuto or kDefault. For kDefault it is kBlocks; a caller that knows the terms of
// the budget asks default_method() before. For kAuto it is kTree for many quantiles on a small
// value grid under pure privacy, otherwise kAuto, which uses best_plan(). docs/experiments.md has
// the figures behind the choice.
QuantilesMethod resolved_method(const QuantilesQuery& query);

// A synthetic sample of a data set consists of its quantiles i / (size + 1), i = 1 .. size. They
// tell for every interval about how many records lie in it (the sanitization of Kaplan, Schnapp and
// Stemmer 2022, Corollary 3.6). They cost as much as any quantiles.

// Quantile i of the sample; i = 0 .. size - 1.
inline double uniform_quantile(std::size_t i, std::size_t size) {
  return static_cast<double>(i + 1) / static_cast<double>(size + 1);
}

// Throws ParameterError unless 1 <= size <= kMaxQuantiles.
void check_synthesis_size(std::int64_t size);

}  // namespace dpquantile
