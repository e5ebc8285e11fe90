#pragma once

#include <cstdint>

#include "core/contributions/contribution_bound.hpp"
#include "core/privacy/privacy_parameter.hpp"

// The parameters of a user-level mean or variance, and how many rows of a user it keeps. Sources:
// Rameshwar et al. 2024a, "Mean Estimation with User-Level Privacy for Spatio-Temporal IoT
// Datasets" (arXiv:2401.15906); Levy et al. 2021 and Amin et al. 2019 for the clipped array means.
// Statement and proofs: docs/privacy.md, "User-level means and variances".
namespace dpquantile {

enum class UserMethod : std::uint8_t {
  kBaseline = 1,          // mean of all rows
  kArray = 2,             // mean of at most m_UB rows of each user
  kLevy = 3,              // array means clipped to the interval of Levy et al. 2021
  kQuantile = 4,          // array means clipped to an interval between two private quantiles
  kQuantileAdaptive = 5,  // the same, with fewer array means clipped
  kBounded = 6,           // noisy sum over noisy count; nothing about the users is public
  kAuto = 7,              // kArray or kQuantile, by the figures that are public: auto_method.hpp
};

// Whether the method clips array means to a private interval: kLevy and the kQuantile methods do.
bool clips_array_means(UserMethod method);

// How m_UB, the most rows of a user that are kept, is chosen.
enum class ContributionRule : std::uint8_t {
  // The least worst-case error: least_mean_error_bound, least_variance_error_bound; for the methods
  // that clip array means, array_concentration_bound; for 'auto' the least regret of its models.
  kOptimal = 0,
  kMedian = 1,  // the median m_l
  kFixed = 2,   // max_contributions
};

struct UserQuery {
  UserMethod method = UserMethod::kArray;
  ContributionRule rule = ContributionRule::kOptimal;
  std::uint64_t max_contributions = 0;  // with ContributionRule::kFixed: 1 .. 2^32 - 1
  PrivacyParameter privacy = pure(0);
};

// Throws ParameterError unless check_privacy_parameter() accepts the guarantee, a fixed
// max_contributions is in range, and 'bounded' has one ('optimal' and 'median' would look at what
// 'bounded' protects).
void check_user_query(const UserQuery& query);

// The m_UB that the query uses for the mean: a function of public figures, at most the most rows of
// a user, and 0 without users. For 'bounded' it is always max_contributions. Not for 'auto', which
// chosen_mean_query() replaces.
std::uint64_t mean_contribution_bound(const UserQuery& query, const RowsPerUser& counts);

}  // namespace dpquantile
