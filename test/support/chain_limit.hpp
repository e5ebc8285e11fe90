#pragma once

#include <cstddef>
#include <span>
#include <vector>

// Below which errors no epsilon-differentially private mechanism can release one number
// (docs/experiments.md, "The limits").
namespace dpquantile::test {

// A chain of data sets, each the neighbour of the next, whose true answers ascend. For every
// mechanism the mean absolute error, over its draws and over all data sets of the chain, is at
// least this. O(size^2) time. Throws std::invalid_argument unless there is an answer, they ascend
// and epsilon > 0.
double chain_limit(std::span<const double> answers, double epsilon);

// For a number of rows: the error of the geometric mechanism, 1 / sinh(epsilon), which every
// mechanism has at least on long chains. No mechanism is better for all data (Ghosh, Roughgarden,
// Sundararajan 2009; Gupte, Sundararajan 2010).
double count_limit(double epsilon);

// For a sum of real numbers of absolute value at most `largest`: the error of the staircase
// mechanism (Geng, Viswanath 2016), largest / (2 sinh(epsilon / 2)). No mechanism is better for all
// data.
double sum_limit(double largest, double epsilon);

// For the mean of numbers in [lower, upper], of which a data set has `rows` with mean `mean`: the
// best chain_limit() of chains that begin with these data and add rows at one of the bounds.
double mean_limit(double mean, double rows, double lower, double upper, double epsilon);

// For the mean of all rows, where all values of one user may be replaced: the best chain_limit() of
// chains in which the rows of some users move by `distance`, one user after the other.
struct MovedUsersLimit {
  double error;
  std::vector<std::size_t> order;  // of the users that move
};
// `shares` are the shares of the users in the rows, in descending order.
MovedUsersLimit moved_users_limit(std::span<const double> shares, double distance, double epsilon);

}  // namespace dpquantile::test
