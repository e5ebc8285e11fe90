#pragma once

#include <cstdint>

// Below which variances nobody can release the prefix sums of a histogram.
namespace dpquantile::test {

// The variance of a prefix by the best factorization A = L R of the K x K matrix A of prefix sums,
// for noise of variance 1 on each row and columns of R with norms of at most 1. Divided by 2 rho it
// is a limit for every mechanism that adds Gaussian noise, divided by chi_square_of_rho() or
// chi_square_of_epsilon() for every mechanism (docs/experiments.md, "The limits").
//
// Both are values of the dual problem, for weights u and v of the rows and the columns, each with
// sum 1: the squared nuclear norm of diag(u)^(1/2) A diag(v)^(1/2). They are true limits for any
// weights, and iterations improve the weights. Without an iteration both are the squared mean of
// A's singular values. O(bins * iterations) time, some 10 microseconds a bin and iteration. They
// throw std::invalid_argument unless bins >= 1.
double mean_variance_limit(std::uint32_t bins, int iterations);
double worst_variance_limit(std::uint32_t bins, int iterations);

// The squared mean of A's singular values in O(bins) time.
double equal_weights_limit(std::uint32_t bins);

// How far the law of a mechanism can move between neighbours: the largest chi-square divergence
// under epsilon, about epsilon^2 if that is small, and under rho, about 2 rho.
double chi_square_of_epsilon(double epsilon);
double chi_square_of_rho(double rho);

}  // namespace dpquantile::test
