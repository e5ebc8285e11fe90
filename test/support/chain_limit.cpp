#include "support/chain_limit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <stdexcept>
#include <vector>

namespace dpquantile::test {

namespace {

// Whether an answer lies above a threshold: a probability p on a data set is at least this on its
// neighbours.
double least_beside(double p, double alpha) {
  return std::max(alpha * p, 1 - (1 - p) / alpha);
}

// The sums p + f(p) + f(f(p)) + ... of so many terms.
double sum_beside(double p, std::size_t terms, double alpha) {
  double sum = 0;
  for (; terms > 0; --terms, p = least_beside(p, alpha)) sum += p;
  return sum;
}

// The least sum, over all data sets of the chain, of the probabilities that an answer lies on the
// wrong side of a threshold, with so many true answers below it and above it. The sum is convex in
// the probability of the last data set below.
double least_wrong(std::size_t below, std::size_t above, double alpha) {
  const auto wrong = [&](double p) {
    return sum_beside(p, below, alpha) + sum_beside(least_beside(1 - p, alpha), above, alpha);
  };
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double third = (high - low) / 3;
    if (wrong(low + third) < wrong(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return wrong((low + high) / 2);
}

}  // namespace

// |y - t| is the integral of [the threshold lies between y and t] over all thresholds.
double chain_limit(std::span<const double> answers, double epsilon) {
  if (answers.empty() || !std::ranges::is_sorted(answers) || !(epsilon > 0)) {
    throw std::invalid_argument("the chain has no limit");
  }
  const std::size_t size = answers.size();
  const double alpha = std::exp(-epsilon);
  double sum = 0;
  for (std::size_t below = 1; below < size; ++below) {
    const double step = answers[below] - answers[below - 1];
    if (step > 0) sum += step * least_wrong(below, size - below, alpha);
  }
  return sum / static_cast<double>(size);
}

double count_limit(double epsilon) {
  return 1 / std::sinh(epsilon);
}

double sum_limit(double largest, double epsilon) {
  return largest / (2 * std::sinh(epsilon / 2));
}

double mean_limit(double mean, double rows, double lower, double upper, double epsilon) {
  const double far = std::max(upper - mean, mean - lower);
  double best = 0;
  for (double added = 1; added <= 40 / epsilon; added = std::ceil(added * 1.25)) {
    std::vector<double> means;
    for (double k = 0; k <= added; ++k) means.push_back(far * k / (rows + k));
    best = std::max(best, chain_limit(means, epsilon));
  }
  return best;
}

// The middle of a chain counts most, so the users with the largest shares move there.
MovedUsersLimit moved_users_limit(std::span<const double> shares, double distance, double epsilon) {
  MovedUsersLimit best{0, {}};
  for (std::size_t moved = 1; moved <= shares.size() && moved <= 512; moved *= 2) {
    std::deque<std::size_t> order;
    for (std::size_t i = 0; i < moved; ++i) i % 2 == 0 ? order.push_back(i) : order.push_front(i);
    std::vector<double> means{0};
    for (const std::size_t user : order) means.push_back(means.back() + shares[user] * distance);
    const double error = chain_limit(means, epsilon);
    if (error > best.error) best = {error, {order.begin(), order.end()}};
  }
  return best;
}

}  // namespace dpquantile::test
