#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/privacy/privacy_parameter.hpp"
#include "core/tree/level_tree.hpp"

namespace dpquantile {

// The methods that measure the bins of a CDF. The numbers are stored inside aggregate states.
enum class CdfMethod : std::uint8_t {
  kTree = 1,           // a level-uniform tree with the branchings and budgets of least error
  kBinary = 2,         // a binary tree with equal budgets (Manohar's poster)
  kHistogram = 3,      // every bin by itself
  kFactorization = 4,  // no tree: a PrefixFactorization, for zCDP only
};

// The name of a method in options, in the ledger and in the text of a dp_cdf. Null for a number
// that belongs to no method.
constexpr const char* cdf_method_name(CdfMethod method) {
  switch (method) {
    case CdfMethod::kTree:
      return "tree";
    case CdfMethod::kBinary:
      return "binary";
    case CdfMethod::kHistogram:
      return "histogram";
    case CdfMethod::kFactorization:
      return "factorization";
  }
  return nullptr;
}

// A level-uniform tree, and the part of the budget (epsilon or rho) of each level.
struct CdfTree {
  std::vector<std::uint32_t> branching;  // by level, the top level first
  std::vector<double> shares;            // by level; positive, they sum to 1
};

// The tree with which a method measures the bins. It depends on the method, the number of bins and
// the measure only. Requires 1 <= bins <= LevelTree::kMaxBins and a method other than
// kFactorization.
//
// For kTree it minimises the average variance of a prefix count after the least-squares step, for
// noise of variance 2 / epsilon_i^2 (pure) or 1 / (2 rho_i) (zCDP) on level i. The search goes over
// the number of levels, integer branchings and shares. It descends coordinate by coordinate from
// equal branchings, which takes milliseconds for any number of bins;
// test/unit/cdf/cdf_tree_test.cpp compares it with all trees where these can be enumerated.
// Cormode, Kulkarni, Srivastava 2019 optimise the error before that step.
CdfTree choose_cdf_tree(CdfMethod method, std::uint32_t bins, PrivacyMeasure measure);

// The precision of each level's measurements, given the levels' budgets: epsilon^2 / 2 for Laplace
// noise, 2 rho for Gaussian noise. These are the precisions of the continuous laws; those of the
// discrete laws are a little larger.
std::vector<double> level_weights(PrivacyMeasure measure, std::span<const double> budgets);

// The shares of least average prefix variance for given branchings, by fixed-point iteration.
std::vector<double> best_shares(const LevelTree& tree, PrivacyMeasure measure);

}  // namespace dpquantile
