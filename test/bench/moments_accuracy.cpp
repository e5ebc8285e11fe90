// Accuracy of count, sum, mean, variance and standard deviation beside two published ways, as mean
// absolute errors over many releases, for the first rows of real data.
//
//   count, sum  a count alone, a sum alone
//   degree 1    Moments of degree 1: count, sum and mean together
//   degree 2    Moments of degree 2: count, sum, mean, variance, standard deviation together
//   Google      the way of Google's differential-privacy library. BoundedMean: epsilon / 2 for the
//               count, epsilon / 2 for the sum about the middle of the bounds. BoundedVariance:
//               epsilon / 3 each for the count and for sum and sum of squares of the values scaled
//               to [-1, 1] and [0, 1] about the middle.
//   SmartNoise  epsilon / 2 for the count, epsilon / 2 for the sum with sensitivity
//               max(|lower|, |upper|); for a variance epsilon / 3 each for count, sum and sum of
//               squares, with sensitivities max(|lower|, |upper|) and its square.
//
//   limit       no mechanism has a smaller error for all data (docs/experiments.md, "The limits");
//               the ratios below it are of the figures of ours
//
// The other ways are clipped to possible values as ours are. Noise is Laplace noise from a seeded
// generator for the others, and from the CSPRNG for ours.
//
// usage: moments_accuracy TRIALS [DIRECTORY with adult_age.csv, adult_hours.csv,
// goodreads_pages.csv]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "core/moments/moments.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "support/chain_limit.hpp"

namespace {

using namespace dpquantile;
using bench::Average;
using bench::Claim;

constexpr std::size_t kRows[] = {200, 1000, 10'000};
constexpr double kEpsilons[] = {0.1, 1};
constexpr int kReleasesPerTrial = 50;

struct Source {
  const char* name;
  double lower;
  double upper;
};
constexpr Source kSources[] = {
    {"adult_age", 0, 120}, {"adult_hours", 0, 100}, {"goodreads_pages", 0, 100}};

struct Exact {
  double count;
  double sum;
  double squares;  // the sum of the squares

  double mean() const { return sum / count; }
  double stddev() const { return std::sqrt(squares / count - mean() * mean()); }
};

struct Answers {
  double count = 0;
  double sum = 0;
  double mean = 0;
  double stddev = 0;
};

// The mean absolute errors of one way.
struct Errors {
  Average count;
  Average sum;
  Average mean;
  Average stddev;

  void add(const Answers& answers, const Exact& exact) {
    count.add(std::abs(answers.count - exact.count));
    sum.add(std::abs(answers.sum - exact.sum));
    mean.add(std::abs(answers.mean - exact.mean()));
    stddev.add(std::abs(answers.stddev - exact.stddev()));
  }
};

// --- Ours ----------------------------------------------------------------------------------------

class Ours {
 public:
  Ours(const std::vector<double>& rows, const Source& source)
      : bounds_(FixedPoint::create(source.lower, source.upper)),
        scale_(SumScale::create(source.lower, source.upper)) {
    for (const double row : rows) {
      values_.add(value_units(bounds_, row));
      shifted_.add_shifted(scale_.shifted_units(row));
    }
  }

  Answers alone(double epsilon, RandomStream& random) const {
    const NoisyCount count = release_count(values_.count, pure(epsilon), random);
    return {static_cast<double>(count.count),
            release_sum(shifted_, scale_, pure(epsilon), random).value, 0, 0};
  }
  Answers of_degree(MomentsDegree degree, double epsilon, RandomStream& random) const {
    const Moments moments = release_moments(values_, bounds_, degree, pure(epsilon), random);
    const bool second = degree == MomentsDegree::kVariance;
    return {moments.count().value, moments.sum().value, moments.mean().value,
            second ? moments.stddev().value : 0};
  }

 private:
  FixedPoint bounds_;
  SumScale scale_;
  ValueSums values_;
  ValueSums shifted_;
};

// --- The others ----------------------------------------------------------------------------------

class Noise {
 public:
  double operator()(double scale) { return scale * (draw_(generator_) - draw_(generator_)); }

 private:
  std::mt19937_64 generator_{1};
  std::exponential_distribution<double> draw_;
};

double root(double square, double most) {
  return std::sqrt(std::clamp(square, 0.0, most * most));
}

Answers google_mean(const Exact& exact, const Source& source, double epsilon, Noise& noise) {
  const double middle = (source.lower + source.upper) / 2;
  const double half = (source.upper - source.lower) / 2;
  const double count = exact.count + noise(2 / epsilon);
  const double about = exact.sum - exact.count * middle + noise(2 * half / epsilon);
  const double mean = std::clamp(about / std::max(count, 1.0) + middle, source.lower, source.upper);
  return {count, about + count * middle, mean, 0};
}

Answers google_variance(const Exact& exact, const Source& source, double epsilon, Noise& noise) {
  const double middle = (source.lower + source.upper) / 2;
  const double half = (source.upper - source.lower) / 2;
  const double count = exact.count + noise(3 / epsilon);
  const double sum = (exact.sum - exact.count * middle) / half + noise(3 / epsilon);
  // About the middle of 0 .. 1, to which the squares of the scaled values belong.
  const double squares =
      (exact.squares - 2 * middle * exact.sum + exact.count * middle * middle) / (half * half);
  const double about = squares - exact.count / 2 + noise(1.5 / epsilon);
  const double rows = std::max(count, 1.0);
  const double mean = std::clamp(sum / rows, -1.0, 1.0);
  const double mean_square = std::clamp(about / rows + 0.5, 0.0, 1.0);
  return {count, sum * half + count * middle, mean * half + middle,
          half * root(mean_square - mean * mean, 1)};
}

Answers smartnoise_mean(const Exact& exact, const Source& source, double epsilon, Noise& noise) {
  const double largest = std::max(std::abs(source.lower), std::abs(source.upper));
  const double count = exact.count + noise(2 / epsilon);
  const double sum = exact.sum + noise(2 * largest / epsilon);
  return {count, sum, std::clamp(sum / std::max(count, 1.0), source.lower, source.upper), 0};
}

Answers smartnoise_variance(const Exact& exact, const Source& source, double epsilon,
                            Noise& noise) {
  const double largest = std::max(std::abs(source.lower), std::abs(source.upper));
  const double count = exact.count + noise(3 / epsilon);
  const double sum = exact.sum + noise(3 * largest / epsilon);
  const double squares = exact.squares + noise(3 * largest * largest / epsilon);
  const double rows = std::max(count, 1.0);
  const double mean = std::clamp(sum / rows, source.lower, source.upper);
  return {count, sum, mean, root(squares / rows - mean * mean, (source.upper - source.lower) / 2)};
}

// --- The table -----------------------------------------------------------------------------------

std::vector<double> read_rows(const std::string& file, std::size_t most) {
  std::ifstream in(file);
  std::vector<double> rows;
  for (double row = 0; rows.size() < most && in >> row;) rows.push_back(row);
  return rows;
}

Exact exact_of(const std::vector<double>& rows, const Source& source) {
  Exact exact{static_cast<double>(rows.size()), 0, 0};
  for (const double row : rows) {
    const double value = std::clamp(row, source.lower, source.upper);
    exact.sum += value;
    exact.squares += value * value;
  }
  return exact;
}

struct Claims {
  Claim mean;
  Claim stddev;
  Claim sum;
};

void print_errors(const char* way, const Errors& errors, bool mean, bool stddev) {
  std::printf("    %-22s %9.2f %11.1f", way, errors.count.mean(), errors.sum.mean());
  mean ? std::printf(" %9.4f", errors.mean.mean()) : std::printf(" %9s", "-");
  stddev ? std::printf(" %9.4f\n", errors.stddev.mean()) : std::printf(" %9s\n", "-");
}

void print_ratios(const char* way, const Errors& errors, const Answers& limits, bool mean) {
  std::printf("    %-22s %9.3f %11.3f", way, errors.count.mean() / limits.count,
              errors.sum.mean() / limits.sum);
  mean ? std::printf(" %9.3f", errors.mean.mean() / limits.mean) : std::printf(" %9s", "-");
  std::printf(" %9s\n", "-");
}

// None is known for a standard deviation.
Answers limits_of(const Exact& exact, const Source& source, double epsilon) {
  const double largest = std::max(std::abs(source.lower), std::abs(source.upper));
  return {test::count_limit(epsilon), test::sum_limit(largest, epsilon),
          test::mean_limit(exact.mean(), exact.count, source.lower, source.upper, epsilon), 0};
}

void measure(const Source& source, const std::vector<double>& rows, double epsilon, int releases,
             RandomStream& random, Claims& claims) {
  const Exact exact = exact_of(rows, source);
  const Ours ours(rows, source);
  Noise noise;
  Errors alone;
  Errors first;
  Errors second;
  Errors google_first;
  Errors google_second;
  Errors smartnoise_first;
  Errors smartnoise_second;
  for (int i = 0; i < releases; ++i) {
    alone.add(ours.alone(epsilon, random), exact);
    first.add(ours.of_degree(MomentsDegree::kMean, epsilon, random), exact);
    second.add(ours.of_degree(MomentsDegree::kVariance, epsilon, random), exact);
    google_first.add(google_mean(exact, source, epsilon, noise), exact);
    google_second.add(google_variance(exact, source, epsilon, noise), exact);
    smartnoise_first.add(smartnoise_mean(exact, source, epsilon, noise), exact);
    smartnoise_second.add(smartnoise_variance(exact, source, epsilon, noise), exact);
  }
  std::printf("%s on [%g, %g], %zu rows, epsilon %g\n", source.name, source.lower, source.upper,
              rows.size(), epsilon);
  print_errors("count, sum alone", alone, false, false);
  print_errors("degree 1", first, true, false);
  print_errors("Google, mean", google_first, true, false);
  print_errors("SmartNoise, mean", smartnoise_first, true, false);
  print_errors("degree 2", second, true, true);
  print_errors("Google, variance", google_second, true, true);
  print_errors("SmartNoise, variance", smartnoise_second, true, true);
  const Answers limits = limits_of(exact, source, epsilon);
  std::printf("    %-22s %9.2f %11.1f %9.4f %9s\n", "limit", limits.count, limits.sum, limits.mean,
              "-");
  print_ratios("ratio: alone", alone, limits, false);
  print_ratios("ratio: degree 1", first, limits, true);
  print_ratios("ratio: degree 2", second, limits, true);
  std::fflush(stdout);
  for (const Errors* other : {&google_first, &smartnoise_first}) {
    claims.mean.check(bench::not_above(first.mean, other->mean));
    claims.sum.check(bench::not_above(alone.sum, other->sum));
  }
  for (const Errors* other : {&google_second, &smartnoise_second}) {
    claims.mean.check(bench::not_above(second.mean, other->mean));
    claims.stddev.check(bench::not_above(second.stddev, other->stddev));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 400;
  const std::string directory = argc > 2 ? argv[2] : "";
  if (trials < 1) {
    std::fprintf(stderr, "usage: moments_accuracy TRIALS [DIRECTORY]\n");
    return 1;
  }
  const int releases = kReleasesPerTrial * trials;
  CsprngSource bytes;
  RandomStream random(bytes);
  Claims claims;
  std::printf(
      "Mean absolute errors of count, sum, mean and standard deviation, %d releases each.\n",
      releases);
  std::printf("    %-22s %9s %11s %9s %9s\n", "", "count", "sum", "mean", "stddev");
  for (const Source& source : kSources) {
    for (const std::size_t n : kRows) {
      const std::vector<double> rows = read_rows(directory + "/" + source.name + ".csv", n);
      if (rows.size() < n) {
        std::printf("%s: no %zu rows, skipped\n", source.name, n);
        continue;
      }
      for (const double epsilon : kEpsilons) {
        measure(source, rows, epsilon, releases, random, claims);
      }
    }
  }
  claims.mean.print("Means are at least as accurate as by the other ways: in each case");
  claims.stddev.print("Standard deviations are at least as accurate as by the other ways: in each");
  claims.sum.print("A sum alone is at least as accurate as by the other ways: in each");
  return 0;
}
