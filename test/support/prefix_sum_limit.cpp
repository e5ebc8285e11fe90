#include "support/prefix_sum_limit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace dpquantile::test {

namespace {

using Weights = std::vector<double>;

// The trapezoidal rule has a relative error of 4 exp(-pi^2 / kStep). What it leaves out is below
// exp(-kTail), and positive.
constexpr double kStep = 0.35;
constexpr double kTail = 28;

// The squares of a lower bidiagonal matrix: its diagonal, and the entries left of it.
struct Bidiagonal {
  std::vector<double> diagonal;
  std::vector<double> left;
};

// The inverse of B = diag(u)^(1/2) A diag(v)^(1/2): A^(-1) takes differences.
Bidiagonal inverse_of(const Weights& u, const Weights& v) {
  Bidiagonal inverse{std::vector<double>(u.size()), std::vector<double>(u.size())};
  for (std::size_t k = 0; k < u.size(); ++k) {
    inverse.diagonal[k] = 1 / (v[k] * u[k]);
    if (k > 0) inverse.left[k] = 1 / (v[k] * u[k - 1]);
  }
  return inverse;
}

// Adds weight * (N N' + shift)^(-1)_kk. Nothing is subtracted, so all digits are right.
void add_inverse(const Bidiagonal& n, double shift, double weight, std::vector<double>& sums) {
  const std::size_t size = sums.size();
  std::vector<double> before(size);
  for (std::size_t k = 1; k < size; ++k) {
    const double above = shift + before[k - 1];
    before[k] = n.left[k] * above / (n.diagonal[k - 1] + above);
  }
  double ratio = 1;
  for (std::size_t k = size; k-- > 0;) {
    const double after = shift + n.diagonal[k] * ratio;
    sums[k] += weight / (before[k] + after);
    ratio = after / (n.left[k] + after);
  }
}

// The diagonal of (B' B)^(1/2) = (N N')^(-1/2), N the inverse of B. It sums up to the nuclear norm
// of B. It is 2 / pi * the integral of e^x (N N' + e^(2 x))^(-1) over all x. B has no singular
// value above its Frobenius norm, and that is at most 1.
std::vector<double> root_diagonal(const Weights& u, const Weights& v) {
  const Bidiagonal n = inverse_of(u, v);
  const double squares =
      std::reduce(n.diagonal.begin(), n.diagonal.end()) + std::reduce(n.left.begin(), n.left.end());
  const double end = std::log(squares) / 2 + kTail;
  std::vector<double> diagonal(u.size());
  for (double x = -kTail; x < end; x += kStep) {
    add_inverse(n, std::exp(2 * x), 2 * kStep / std::numbers::pi * std::exp(x), diagonal);
  }
  return diagonal;
}

double nuclear_norm(const std::vector<double>& diagonal) {
  return std::reduce(diagonal.begin(), diagonal.end());
}

Weights normalised(std::vector<double> diagonal) {
  const double sum = nuclear_norm(diagonal);
  for (double& weight : diagonal) weight /= sum;
  return diagonal;
}

// The diagonal of (B B')^(1/2): B' with its rows and columns reversed has the form of B.
std::vector<double> left_root_diagonal(const Weights& u, const Weights& v) {
  auto diagonal = root_diagonal({v.rbegin(), v.rend()}, {u.rbegin(), u.rend()});
  std::ranges::reverse(diagonal);
  return diagonal;
}

Weights equal_weights(std::uint32_t bins) {
  if (bins < 1) throw std::invalid_argument("there must be a bin");
  return Weights(bins, 1.0 / bins);
}

}  // namespace

// The step of the iterations is that of Denisov et al. 2022, for the rows as well as the columns.
double mean_variance_limit(std::uint32_t bins, int iterations) {
  const Weights equal = equal_weights(bins);
  std::vector<double> diagonal = root_diagonal(equal, equal);
  for (; iterations > 0; --iterations) diagonal = root_diagonal(equal, normalised(diagonal));
  return std::pow(nuclear_norm(diagonal), 2);
}

double worst_variance_limit(std::uint32_t bins, int iterations) {
  Weights rows = equal_weights(bins);
  Weights columns = rows;
  for (; iterations > 0; --iterations) {
    rows = normalised(left_root_diagonal(rows, columns));
    columns = normalised(root_diagonal(rows, columns));
  }
  return std::pow(nuclear_norm(root_diagonal(rows, columns)), 2);
}

double equal_weights_limit(std::uint32_t bins) {
  double sum = 0;
  for (double i = 1; i <= bins; ++i) {
    sum += 1 / (2 * std::sin((2 * i - 1) * std::numbers::pi / (4.0 * bins + 2)));
  }
  return std::pow(sum / bins, 2);
}

double chi_square_of_epsilon(double epsilon) {
  return std::pow(2 * std::sinh(epsilon / 2), 2);
}

double chi_square_of_rho(double rho) {
  return std::expm1(2 * rho);
}

}  // namespace dpquantile::test
