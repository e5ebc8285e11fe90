// Accuracy of a mean whose bounds are learned beside one with public bounds and the published way
// of Google's differential-privacy library, as mean absolute errors. Rows are drawn with
// replacement from real data and from log-normal salaries, anew in each trial.
//
//   public      dp_avg with good public bounds, at epsilon 1
//   aggregate   dp_avg at epsilon 1 with bounds that dp_learn_bounds has found at epsilon 1. They
//               are paid once, and serve all later queries
//   domain      the same with bounds as dp_learn_domain finds them, which may look twice
//   Google      epsilon 1 for one query: 1/2 for ApproxBounds, powers of two whose noisy counts are
//               above a threshold for a success probability of 1 - 1e-9, and BoundedMean with 1/2
//   goal        what learned bounds are to reach
//
// `largest` is how much wider the learned bounds of any trial are than the values of that trial,
// `none` in how many trials no bounds were found; both of either way.
//
// usage: bounds_accuracy TRIALS [DIRECTORY with adult_age.csv, adult_hours.csv,
// goodreads_pages.csv]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench_figures.hpp"
#include "core/moments/moments.hpp"
#include "core/noisy_histogram/closer_look.hpp"
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

template <class Grid>
std::vector<std::uint64_t> counts_of(const Values& values, std::uint32_t cells, const Grid& grid) {
  std::vector<std::uint64_t> counts(cells);
  for (const double value : values) ++counts[grid.cell_of(value)];
  return counts;
}

std::optional<LearnedBounds> bounds_of_aggregate(const Values& values,
                                                 const MechanismContext& context) {
  return learn_bounds(kGrid, counts_of(values, kGrid.cells(), kGrid), pure(1), context);
}

std::optional<LearnedBounds> bounds_of_domain(const Values& values,
                                              const MechanismContext& context) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const FirstLook first = look_for_bounds(kGrid, counts_of(values, kGrid.cells(), kGrid), 1,
                                          {-kMost, kMost, 0x1p-115}, context);
  if (!first.closer) return first.bounds;
  const auto closer = counts_of(values, first.closer->grid.cells(), *first.closer);
  return look_closer(*first.closer, closer, 1, context);
}

// What comes of one way to learn bounds.
class Learned {
 public:
  void add(const Values& values, const std::optional<LearnedBounds>& bounds, double exact,
           RandomStream& random) {
    if (!bounds) {
      ++none_;
      return;
    }
    error_.add(std::abs(private_mean(values, *bounds, random) - exact));
    const auto [least, most] = std::ranges::minmax(values);
    largest_ = std::max(largest_, (bounds->upper - bounds->lower) / (most - least));
  }

  const Average& error() const { return error_; }
  double largest() const { return largest_; }
  int none() const { return none_; }

 private:
  Average error_;
  double largest_ = 0;
  int none_ = 0;
};

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
  Average google;
  Learned aggregate;
  Learned domain;
  for (int trial = 0; trial < trials; ++trial) {
    Values values(wanted.rows);
    for (double& value : values) value = source.values[draw(generator)];
    const double exact = mean_of(values);
    known.add(std::abs(private_mean(values, source.known, context.random) - exact));
    google.add(std::abs(google_mean(values, noise) - exact));
    aggregate.add(values, bounds_of_aggregate(values, context), exact, context.random);
    domain.add(values, bounds_of_domain(values, context), exact, context.random);
  }
  const double goal = wanted.goal > 0 ? wanted.goal : 1.5 * known.mean();
  const double worse = std::max(aggregate.error().mean(), domain.error().mean());
  std::printf(
      "%-16s %6zu rows: public %9.4g  aggregate %9.4g +- %.2g  domain %9.4g +- %.2g  Google "
      "%9.4g  goal %8.4g %s  largest %.2f %.2f  none %d %d\n",
      source.name, wanted.rows, known.mean(), aggregate.error().mean(),
      aggregate.error().standard_error(), domain.error().mean(), domain.error().standard_error(),
      google.mean(), goal, worse <= goal ? "reached" : "missed", aggregate.largest(),
      domain.largest(), aggregate.none(), domain.none());
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
