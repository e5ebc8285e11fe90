#include "adversary/mechanisms.hpp"

#include <stdexcept>

namespace dpquantile::adversary {

namespace {

constexpr auto kQuantileMethods = {Mechanism::kApproximateQuantiles, Mechanism::kJointQuantiles,
                                   Mechanism::kIndependentQuantiles, Mechanism::kTreeQuantiles,
                                   Mechanism::kAutoQuantiles,        Mechanism::kBlocksOfQuantiles,
                                   Mechanism::kDefaultQuantiles};
constexpr auto kCdfMethods = {Mechanism::kTreeCdf, Mechanism::kBinaryCdf, Mechanism::kHistogramCdf,
                              Mechanism::kFactorizedCdf};
constexpr auto kIqrMethods = {Mechanism::kIqrByTest, Mechanism::kIqrByQuantiles};
constexpr auto kUserMeans = {Mechanism::kBaselineOfUsers, Mechanism::kArrayOfUsers,
                             Mechanism::kLevyOfUsers,     Mechanism::kQuantileOfUsers,
                             Mechanism::kBoundedUsers,    Mechanism::kAdaptiveQuantileOfUsers,
                             Mechanism::kAutoOfUsers};
constexpr auto kUserVariances = {Mechanism::kBaselineOfUsers, Mechanism::kArrayOfUsers,
                                 Mechanism::kBoundedUsers};
constexpr auto kGrids = {Mechanism::kGridsOfUsers};
constexpr auto kCounts = {Mechanism::kCount, Mechanism::kIntegerNoise, Mechanism::kLimitedRows};
constexpr auto kDistinctCounts = {Mechanism::kDistinct};
constexpr auto kSums = {Mechanism::kSum};
constexpr auto kMeans = {Mechanism::kMean};
constexpr auto kVariances = {Mechanism::kVariance};
constexpr auto kPairs = {Mechanism::kPairs};
constexpr auto kHistograms = {Mechanism::kHistogram};
constexpr auto kModalBins = {Mechanism::kModalBin};
constexpr auto kBounds = {Mechanism::kLearnedBounds};
constexpr auto kGroups = {Mechanism::kGroupsOfRows};
constexpr auto kUserGroups = {Mechanism::kGroupsOfUsers};

constexpr FamilyMechanisms kFamilies[] = {{"kQuantiles", kQuantileMethods},
                                          {"kCdf", kCdfMethods},
                                          {"kIqr", kIqrMethods},
                                          {"kUserMean", kUserMeans},
                                          {"kUserVariance", kUserVariances},
                                          {"kUserGrids", kGrids},
                                          {"kSynthesis", kQuantileMethods},
                                          {"kCount", kCounts},
                                          {"kValueCount", kCounts},
                                          {"kDistinct", kDistinctCounts},
                                          {"kSum", kSums},
                                          {"kMean", kMeans},
                                          {"kMoments", kVariances},
                                          {"kKeepGroup", kGroups},
                                          {"kHistogram", kHistograms},
                                          {"kModalBin", kModalBins},
                                          {"kLearnedBounds", kBounds},
                                          {"kKeepUserGroup", kUserGroups},
                                          {"kCovariance", kPairs},
                                          {"kRegression", kPairs}};

[[noreturn]] void unknown() {
  throw std::invalid_argument("this number belongs to no method");
}

}  // namespace

Mechanism mechanism_of(QuantilesMethod method) {
  switch (method) {
    case QuantilesMethod::kApproximate:
      return Mechanism::kApproximateQuantiles;
    case QuantilesMethod::kJoint:
      return Mechanism::kJointQuantiles;
    case QuantilesMethod::kIndependent:
      return Mechanism::kIndependentQuantiles;
    case QuantilesMethod::kTree:
      return Mechanism::kTreeQuantiles;
    case QuantilesMethod::kAuto:
      return Mechanism::kAutoQuantiles;
    case QuantilesMethod::kBlocks:
      return Mechanism::kBlocksOfQuantiles;
    case QuantilesMethod::kDefault:
      return Mechanism::kDefaultQuantiles;
  }
  unknown();
}

Mechanism mechanism_of(CdfMethod method) {
  switch (method) {
    case CdfMethod::kTree:
      return Mechanism::kTreeCdf;
    case CdfMethod::kBinary:
      return Mechanism::kBinaryCdf;
    case CdfMethod::kHistogram:
      return Mechanism::kHistogramCdf;
    case CdfMethod::kFactorization:
      return Mechanism::kFactorizedCdf;
  }
  unknown();
}

Mechanism mechanism_of(IqrMethod method) {
  switch (method) {
    case IqrMethod::kProposeTestRelease:
      return Mechanism::kIqrByTest;
    case IqrMethod::kQuantiles:
      return Mechanism::kIqrByQuantiles;
  }
  unknown();
}

Mechanism mechanism_of(UserMethod method) {
  switch (method) {
    case UserMethod::kBaseline:
      return Mechanism::kBaselineOfUsers;
    case UserMethod::kArray:
      return Mechanism::kArrayOfUsers;
    case UserMethod::kLevy:
      return Mechanism::kLevyOfUsers;
    case UserMethod::kQuantile:
      return Mechanism::kQuantileOfUsers;
    case UserMethod::kQuantileAdaptive:
      return Mechanism::kAdaptiveQuantileOfUsers;
    case UserMethod::kBounded:
      return Mechanism::kBoundedUsers;
    case UserMethod::kAuto:
      return Mechanism::kAutoOfUsers;
  }
  unknown();
}

Mechanism mechanism_of(MomentsDegree degree) {
  switch (degree) {
    case MomentsDegree::kMean:
      return Mechanism::kMean;
    case MomentsDegree::kVariance:
      return Mechanism::kVariance;
  }
  unknown();
}

std::span<const FamilyMechanisms> mechanisms_of_families() {
  return kFamilies;
}

}  // namespace dpquantile::adversary
