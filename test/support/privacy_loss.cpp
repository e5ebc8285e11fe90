#include "support/privacy_loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/confidence.hpp"

namespace dpquantile::test {
namespace {

using Counts = std::vector<std::uint64_t>;

std::uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// The claim P[E] <= e^epsilon P'[E] + delta, with the error rate of a confidence bound.
struct Claim {
  double epsilon;
  double bound_false_alarm;

  // A lower bound on P[E] - e^epsilon P'[E], wrong with probability 2 bound_false_alarm.
  double certain_excess(std::uint64_t seen, std::uint64_t draws, std::uint64_t neighbour_seen,
                        std::uint64_t neighbour_draws) const {
    const double least = lower_confidence_bound(seen, draws, bound_false_alarm);
    const double most = upper_confidence_bound(neighbour_seen, neighbour_draws, bound_false_alarm);
    return least - std::exp(epsilon) * most;
  }
};

double excess_of_outcomes(const Sample& sample, const Sample& neighbour, const Claim& claim) {
  const std::uint64_t draws = sum(sample.tested_on) + sum(sample.chosen_on);
  const std::uint64_t neighbour_draws = sum(neighbour.tested_on) + sum(neighbour.chosen_on);
  double excess = -1;
  for (std::size_t i = 0; i < sample.tested_on.size(); ++i) {
    const std::uint64_t seen = sample.tested_on[i] + sample.chosen_on[i];
    const std::uint64_t neighbour_seen = neighbour.tested_on[i] + neighbour.chosen_on[i];
    const double certain = claim.certain_excess(seen, draws, neighbour_seen, neighbour_draws);
    excess = std::max(excess, certain);
  }
  return excess;
}

// The outcomes in descending order of the likelihood ratio seen. The + 1 avoids a denominator of 0.
std::vector<std::size_t> by_suspicion(const Counts& seen, const Counts& neighbour_seen) {
  const auto ratio = [&](std::size_t i) {
    return static_cast<double>(seen[i]) / static_cast<double>(neighbour_seen[i] + 1);
  };
  std::vector<std::size_t> outcomes(seen.size());
  std::iota(outcomes.begin(), outcomes.end(), std::size_t{0});
  std::sort(outcomes.begin(), outcomes.end(),
            [&](std::size_t a, std::size_t b) { return ratio(a) > ratio(b); });
  return outcomes;
}

// The event that gives the largest bound on the first halves.
std::vector<std::size_t> worst_union(const Counts& seen, const Counts& neighbour_seen,
                                     const Claim& claim) {
  const std::uint64_t draws = sum(seen);
  const std::uint64_t neighbour_draws = sum(neighbour_seen);
  std::vector<std::size_t> outcomes = by_suspicion(seen, neighbour_seen);
  std::uint64_t in_event = 0;
  std::uint64_t neighbour_in_event = 0;
  double worst = -std::numeric_limits<double>::infinity();
  std::size_t size = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    in_event += seen[outcomes[i]];
    neighbour_in_event += neighbour_seen[outcomes[i]];
    const double excess =
        claim.certain_excess(in_event, draws, neighbour_in_event, neighbour_draws);
    if (excess <= worst) continue;
    worst = excess;
    size = i + 1;
  }
  outcomes.resize(size);
  return outcomes;
}

double excess_of_worst_union(const Sample& sample, const Sample& neighbour, const Claim& claim) {
  std::uint64_t in_event = 0;
  std::uint64_t neighbour_in_event = 0;
  for (const std::size_t i : worst_union(sample.chosen_on, neighbour.chosen_on, claim)) {
    in_event += sample.tested_on[i];
    neighbour_in_event += neighbour.tested_on[i];
  }
  return claim.certain_excess(in_event, sum(sample.tested_on), neighbour_in_event,
                              sum(neighbour.tested_on));
}

double one_sided_delta(const Sample& sample, const Sample& neighbour, const Claim& claim) {
  return std::max(excess_of_outcomes(sample, neighbour, claim),
                  excess_of_worst_union(sample, neighbour, claim));
}

void require_same_size(std::size_t one, std::size_t other) {
  if (one != other) throw std::invalid_argument("expected the same outcomes");
}

}  // namespace

double certain_delta(const Sample& sample, const Sample& neighbour, double epsilon,
                     double false_alarm) {
  require_same_size(sample.tested_on.size(), neighbour.tested_on.size());
  // There are two directions, all outcomes and one union for each, and two bounds for each of
  // these.
  const auto bounds = static_cast<double>(4 * (sample.tested_on.size() + 1));
  const Claim claim{epsilon, false_alarm / bounds};
  return std::max(one_sided_delta(sample, neighbour, claim),
                  one_sided_delta(neighbour, sample, claim));
}

long double exact_delta(std::span<const long double> law, std::span<const long double> neighbour,
                        long double epsilon) {
  require_same_size(law.size(), neighbour.size());
  long double forward = 0;
  long double backward = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    forward += std::max(0.0L, law[i] - std::exp(epsilon) * neighbour[i]);
    backward += std::max(0.0L, neighbour[i] - std::exp(epsilon) * law[i]);
  }
  return std::max(forward, backward);
}

long double exact_loss(std::span<const long double> law, std::span<const long double> neighbour) {
  require_same_size(law.size(), neighbour.size());
  long double loss = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    if (law[i] == 0 && neighbour[i] == 0) continue;
    loss = std::max(loss, std::fabs(std::log(law[i] / neighbour[i])));
  }
  return loss;
}

long double exact_range(std::span<const long double> law, std::span<const long double> neighbour) {
  long double least = std::log(law[0] / neighbour[0]);
  long double most = least;
  for (std::size_t i = 1; i < law.size(); ++i) {
    const long double loss = std::log(law[i] / neighbour[i]);
    least = std::min(least, loss);
    most = std::max(most, loss);
  }
  return most - least;
}

namespace {

// ln(sum of P^alpha P'^(1 - alpha)) / (alpha - 1)
long double renyi_divergence(std::span<const long double> law,
                             std::span<const long double> neighbour, long double alpha) {
  long double sum = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    sum += law[i] * std::exp((alpha - 1) * std::log(law[i] / neighbour[i]));
  }
  return std::log(sum) / (alpha - 1);
}

}  // namespace

long double exact_renyi_divergence(std::span<const long double> law,
                                   std::span<const long double> neighbour, long double alpha) {
  return std::max(renyi_divergence(law, neighbour, alpha), renyi_divergence(neighbour, law, alpha));
}

double fit_p_value(const Sample& sample, std::span<const long double> law) {
  require_same_size(sample.tested_on.size(), law.size());
  const std::uint64_t draws = sum(sample.tested_on) + sum(sample.chosen_on);
  double least = 1;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const std::uint64_t seen = sample.tested_on[i] + sample.chosen_on[i];
    least = std::min(least, binomial_p_value(seen, draws, static_cast<double>(law[i])));
  }
  return std::min(1.0, least * static_cast<double>(law.size()));
}

}  // namespace dpquantile::test
