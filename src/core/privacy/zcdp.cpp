#include "core/privacy/zcdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace dpquantile {

namespace {

// A relative margin that exceeds the rounding errors of the few operations in a formula.
constexpr double kRounding = 0x1p-44;

double rounded_up(double value) {
  return value + std::abs(value) * kRounding;
}
double rounded_down(double value) {
  return value - std::abs(value) * kRounding;
}

// The bound on epsilon for one alpha = 1 + excess. Its terms may cancel, so each term is rounded up
// separately.
double epsilon_at(double rho, double log_inverse_delta, double excess) {
  const double alpha = 1 + excess;
  // ln(1 - 1/alpha) <= 0, in the form that loses no digits: a large alpha multiplies its error.
  const double log_share = excess < 1 ? std::log(excess / alpha) : std::log1p(-1 / alpha);
  const double log_ratio = rounded_up(alpha * log_share);
  const double log_excess = rounded_up(-std::log(excess));
  return rounded_up(alpha * rho) +
         rounded_up((rounded_up(log_inverse_delta) + log_ratio + log_excess) / excess) +
         kRounding * (std::abs(log_ratio) + std::abs(log_excess)) / excess;
}

void check_delta(double delta) {
  if (delta > 0 && delta < 1) return;
  throw std::invalid_argument("delta must be between 0 and 1");
}

// The minimum of a function of ln(excess) that first falls and then rises, by golden-section
// search.
template <class Function>
double least_value(Function function) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr int kSteps = 100;
  double low = -40;
  double high = 60;
  double inner_low = high - kGolden * (high - low);
  double inner_high = low + kGolden * (high - low);
  double at_low = function(inner_low);
  double at_high = function(inner_high);
  for (int step = 0; step < kSteps; ++step) {
    if (at_low < at_high) {
      high = inner_high;
      inner_high = inner_low;
      at_high = at_low;
      inner_low = high - kGolden * (high - low);
      at_low = function(inner_low);
    } else {
      low = inner_low;
      inner_low = inner_high;
      at_low = at_high;
      inner_high = low + kGolden * (high - low);
      at_high = function(inner_high);
    }
  }
  return std::min(at_low, at_high);
}

}  // namespace

double rho_of_pure(double epsilon) {
  return rounded_up(epsilon * std::tanh(epsilon / 2));
}

double rho_of_laplace(double epsilon, double sensitivity) {
  // The difference would lose the digits of a small epsilon. The terms of the series alternate.
  constexpr double kSmall = 0.01;
  const double square = epsilon * epsilon;
  const double of_reals = epsilon < kSmall
                              ? square / 2 - square * epsilon / 6 + square * square / 24
                              : epsilon + std::expm1(-epsilon);
  const double step = epsilon / sensitivity;
  return rounded_up(of_reals + std::min(epsilon, 1.0) * step * step / 6);
}

double rho_of_bounded_range(double epsilon) {
  return rounded_up(epsilon * epsilon / 8);
}

double bounded_range_of_rho(double rho) {
  return rounded_down(std::sqrt(8 * rho));
}

double epsilon_of_zcdp(double rho, double delta) {
  check_delta(delta);
  if (!(rho >= 0)) throw std::invalid_argument("rho must not be negative");
  const double log_inverse_delta = -std::log(delta);
  const double least = least_value(
      [&](double log_excess) { return epsilon_at(rho, log_inverse_delta, std::exp(log_excess)); });
  return std::max(least, 0.0);
}

double rho_within(double epsilon, double delta) {
  check_delta(delta);
  if (!(epsilon >= 0)) throw std::invalid_argument("epsilon must not be negative");
  constexpr double kMostEpsilon = 1e9;
  epsilon = std::min(epsilon, kMostEpsilon);
  double low = 0;
  // rho-zCDP never implies less than about rho, because of the term alpha * rho with alpha > 1.
  double high = std::max(2 * epsilon, std::numeric_limits<double>::min());
  while (epsilon_of_zcdp(high, delta) <= epsilon) high *= 2;
  constexpr int kSteps = 80;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = low + (high - low) / 2;
    (epsilon_of_zcdp(middle, delta) <= epsilon ? low : high) = middle;
  }
  return low;
}

}  // namespace dpquantile
