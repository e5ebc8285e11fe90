// Accuracy of a mean whose bounds are learned beside one with public bounds and the published way
// of Google's differential-privacy library, as mean absolute errors. Rows are drawn with
// replacement from real data and from log-normal salaries, anew in each trial.
//
//   public      dp_avg with good public bounds, at epsilon 1
//   learned     dp_avg at epsilon 1 with bounds that dp_learn_bounds has found at epsilon 1. They
//               are paid once, and serve all later queries
//   Google      epsilon 1 for one query: 1/2 for ApproxBounds, powers of two whose noisy counts are
//               above a threshold for a success probability of 1 - 1e-9, and BoundedMean with 1/2
//   goal        what learned bounds are to reach
//
// `largest` is how much wider the learned bounds of any trial are than the values of that trial.
//
// usage: bounds_accuracy TRIALS [DIRECTORY with adult_age.csv, adult_hours.csv,
// goodreads_pages.csv]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "core/moments/moments.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "support/context_testing.hpp"

namespace {

using namespace dpquantile;
using bench::Average;
using Values = std::vector<double>;

constexpr OrdinalGrid kGrid(3, -123, 1024);

struct Source {
  const char* name;
  Values values;
  LearnedBounds known;
};

struct Case {
  const char* source;
  std::size_t rows;
  double goal;  // 0: one and a half times the error with public bounds
};
constexpr Case kCases[] = {{"adult_age", 1000, 0.15},      {"adult_hours", 1000, 0.12},
                           {"goodreads_pages", 1000, 4.2}, {"salaries", 1000, 700},
                           {"adult_age", 10'000, 0.012},   {"adult_hours", 10'000, 0},
                           {"goodreads_pages", 10'000, 0}, {"salaries", 10'000, 70}};

double mean_of(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double private_mean(const Values& values, const LearnedBounds& bounds, RandomStream& random) {
  const FixedPoint scale = FixedPoint::create(bounds.lower, bounds.upper);
  ValueSums sums;
  for (const double value : values) sums.add(value_units(scale, value));
  return release_moments(sums, scale, MomentsDegree::kMean, pure(1), random).mean().value;
}

std::optional<LearnedBounds> find_bounds(const Values& values, const MechanismContext& context) {
  std::vector<std::uint64_t> counts(kGrid.cells());
  for (const double value : values) ++counts[kGrid.cell_of(value)];
  return learn_bounds(kGrid, counts, pure(1), context);
}

// --- Google --------------------------------------------------------------------------------------

class Noise {
 public:
  double operator()(double scale) { return scale * (draw_(generator_) - draw_(generator_)); }

 private:
  std::mt19937_64 generator_{1};
  std::exponential_distribution<double> draw_;
};

// Of values that are not negative: bin i has the values up to 2^i, bin 0 those up to 1.
LearnedBounds google_bounds(const Values& values, double epsilon, Noise& noise) {
  constexpr int kBins = 1024;
  std::vector<double> counts(2 * kBins);
  for (const double value : values) {
    ++counts[static_cast<std::size_t>(
        kBins + (value <= 1 ? 0 : static_cast<int>(std::ceil(std::log2(value)))))];
  }
  for (double& count : counts) count += noise(1 / epsilon);
  const double success = std::pow(1 - 1e-9, 1.0 / (2 * kBins - 1));
  const double threshold = -std::log(2 - 2 * success) / epsilon;
  const auto above = [&](double count) { return count >= threshold; };
  const auto first = std::ranges::find_if(counts, above) - counts.begin();
  const auto last = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), above) - 1;
  const auto edge = [&](std::ptrdiff_t bin) {
    return bin < kBins ? -std::ldexp(1, static_cast<int>(kBins - 1 - bin))
                       : std::ldexp(1, static_cast<int>(bin - kBins));
  };
  return {first <= kBins ? 0 : edge(first - 1), edge(last)};
}

double google_mean(const Values& values, Noise& noise) {
  const auto [lower, upper] = google_bounds(values, 0.5, noise);
  const double middle = (lower + upper) / 2;
  double about = 0;
  for (const double value : values) about += std::clamp(value, lower, upper) - middle;
  const double count = static_cast<double>(values.size()) + noise(4);
  return std::clamp((about + noise(4 * (upper - lower) / 2)) / std::max(count, 1.0) + middle, lower,
                    upper);
}

// --- The table -----------------------------------------------------------------------------------

void compare(const Case& wanted, const Source& source, int trials) {
  const test::TestContext context;
  Noise noise;
  std::mt19937_64 generator(1);
  std::uniform_int_distribution<std::size_t> draw(0, source.values.size() - 1);
  Average known;
  Average learned;
  Average google;
  double largest = 0;
  int without = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Values values(wanted.rows);
    for (double& value : values) value = source.values[draw(generator)];
    const double exact = mean_of(values);
    known.add(std::abs(private_mean(values, source.known, context.random) - exact));
    google.add(std::abs(google_mean(values, noise) - exact));
    const auto bounds = find_bounds(values, context);
    if (!bounds) {
      ++without;
      continue;
    }
    learned.add(std::abs(private_mean(values, *bounds, context.random) - exact));
    const auto [least, most] = std::ranges::minmax(values);
    largest = std::max(largest, (bounds->upper - bounds->lower) / (most - least));
  }
  const double goal = wanted.goal > 0 ? wanted.goal : 1.5 * known.mean();
  std::printf(
      "%-16s %6zu rows: public %9.4g  learned %9.4g +- %.2g  Google %9.4g  goal %8.4g %s  "
      "largest %.2f  without bounds %d\n",
      source.name, wanted.rows, known.mean(), learned.mean(), learned.standard_error(),
      google.mean(), goal, learned.mean() <= goal ? "reached" : "missed", largest, without);
}

Values read_values(const std::string& path, double factor) {
  std::ifstream file(path);
  Values values;
  for (double value; file >> value;) values.push_back(value * factor);
  return values;
}

Values make_salaries() {
  std::mt19937_64 generator(1);
  std::lognormal_distribution<double> salary(std::log(50'000), 0.5);
  Values salaries(200'000);
  for (double& value : salaries) value = salary(generator);
  return salaries;
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 400;
  std::vector<Source> sources = {{"salaries", make_salaries(), {0, 500'000}}};
  if (argc > 2) {
    const std::string data = argv[2];
    sources.push_back({"adult_age", read_values(data + "/adult_age.csv", 1), {0, 120}});
    sources.push_back({"adult_hours", read_values(data + "/adult_hours.csv", 1), {0, 100}});
    sources.push_back(
        {"goodreads_pages", read_values(data + "/goodreads_pages.csv", 100), {0, 10'000}});
  }
  std::printf(
      "Mean absolute error of a mean with bounds that are public, learned, or found by Google's "
      "way\n");
  for (const Case& wanted : kCases) {
    for (const Source& source : sources) {
      if (source.name == std::string(wanted.source) && !source.values.empty()) {
        compare(wanted, source, trials);
      }
    }
  }
}
