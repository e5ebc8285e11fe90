#pragma once

#include <cstdint>

#include "core/contributions/contribution_bound.hpp"

// What a user-level mean or variance is asked for, and how many rows of a user it keeps.
// Sources: Rameshwar et al. 2024a, "Mean Estimation with User-Level Privacy for Spatio-Temporal IoT
// Datasets" (arXiv:2401.15906); Levy et al. 2021 and Amin et al. 2019 for the clipped array means.
// docs/privacy.md, "User-level means and variances".
namespace dpquantile {

enum class UserMethod : std::uint8_t {
  kBaseline = 1,          // mean of all rows
  kArray = 2,             // mean of at most m_UB rows of each user
  kLevy = 3,              // the same, array means clipped to the interval of Levy et al. 2021
  kQuantile = 4,          // clipped to private 1/10 and 9/10 quantiles
  kQuantileAdaptive = 5,  // clipped to private quantiles that depend on epsilon
  kBounded = 6,           // noisy sum by noisy count; nothing about the users is public
};

// kLevy and the kQuantile methods, which clip array means to a private interval.
bool clips_array_means(UserMethod method);

// How the most rows of a user that are kept, m_UB, are found.
enum class ContributionRule : std::uint8_t {
  kOptimal = 0,  // least_mean_error_bound; array_concentration_bound where array means are clipped
  kMedian = 1,   // the median m_l
  kFixed = 2,    // max_contributions
};

struct UserQuery {
  UserMethod method = UserMethod::kArray;
  ContributionRule rule = ContributionRule::kOptimal;
  std::uint64_t max_contributions = 0;  // with ContributionRule::kFixed: 1 .. 2^32 - 1
  double epsilon = 0;
};

// Throws ParameterError unless check_epsilon accepts epsilon, a fixed max_contributions is in
// range, and 'bounded' has one ('optimal' and 'median' would look at what it protects).
void check_user_query(const UserQuery& query);

// The m_UB that the query uses for the mean: a function of public figures. It never exceeds the
// most rows of a user, except for 'bounded', whose max_contributions is taken as it is. 0 without
// users.
std::uint64_t mean_contribution_bound(const UserQuery& query, const RowsPerUser& counts);

}  // namespace dpquantile
