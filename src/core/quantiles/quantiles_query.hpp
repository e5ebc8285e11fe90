#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// How quantiles are drawn. The numbers are stored in aggregate states.
enum class QuantilesMethod : std::uint8_t {
  kApproximate = 1,  // ApproximateQuantiles: level by level, one in each interval
  kJoint = 2,        // all at once by one exponential mechanism
  kIndependent = 3,  // each by itself
  kTree = 4,         // read off noisy counts on a tree
  kAuto = 5,         // whichever is most accurate by public parameters
};

inline constexpr std::size_t kMaxQuantiles = 4096;

// What is asked of a data set; the parameters are public.
struct QuantilesQuery {
  QuantilesMethod method;
  PrivacyParameter privacy;
  std::uint64_t cells;                // of the grid that the data are counted on
  std::span<const double> quantiles;  // in any order; one that repeats is drawn once
};

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

// A synthetic sample of a data set: its quantiles i / (size + 1), i = 1 .. size, which say of every
// interval how many records lie in it (the sanitization of Kaplan, Schnapp and Stemmer 2022,
// Corollary 3.6). Drawing them costs what drawing any quantiles does.

// Quantile i of 0 .. size - 1.
inline double uniform_quantile(std::size_t i, std::size_t size) {
  return static_cast<double>(i + 1) / static_cast<double>(size + 1);
}

// Throws ParameterError unless 1 <= size <= kMaxQuantiles.
void check_synthesis_size(std::int64_t size);

}  // namespace dpquantile
