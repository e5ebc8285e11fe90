// Accuracy of dp_iqr beside two other methods, for independent draws from four distributions. The
// figures are how often there is no answer, and the relative error |answer/IQR - 1| of the answers.
// IQR is the sample's, and in the column "(population)" the distribution's.
//
//   dp_iqr     method 'propose-test-release', the default. It knows no bounds.
//   paper      algorithm S of Dwork and Lei 2009 at the same epsilon and delta. It takes the number
//              of rows as public and protects only against replacing one.
//   quantiles  method 'quantiles' on the default value grid, delta = 0. It protects against adding
//              or removing one row. The bounds are those that an analyst can know for such data (6
//              standard deviations of a normal distribution, all of a uniform one, all except e^-20
//              of an exponential or a Laplace one), and 1000 times as far out ("wide").
//
// The data come from a seeded generator, the mechanisms' noise from the CSPRNG. A figure is from
// several datasets with many draws each. Larger datasets are fewer.
//
// usage: iqr_accuracy TRIALS [DELTA]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numbers>
#include <optional>
#include <random>
#include <vector>

#include "bench_figures.hpp"
#include "core/histogram/value_grid.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"

namespace {

using namespace dpquantile;
using bench::Claim;

constexpr std::size_t kRows[] = {1'000, 10'000, 100'000, 1'000'000};
constexpr double kEpsilons[] = {0.5, 1, 3};
constexpr double kTooWide = 1000;
// Without the finer scale an error falls only by a sixth with ten times the rows. It takes many
// draws to see that.
constexpr int kDrawsPerTrial = 5;
constexpr int kTrialsPerQuantilesDraw = 4;  // the draws are slow and the errors far apart
constexpr double kLeastAnswered = 0.1;      // the least share of answers for a figure

using Generator = std::mt19937_64;

struct Law {
  const char* name;
  double lower;
  double upper;
  double iqr;
  double (*draw)(Generator&);
};

double draw_normal(Generator& generator) {
  return std::normal_distribution<double>()(generator);
}

double draw_exponential(Generator& generator) {
  return std::exponential_distribution<double>()(generator);
}

double draw_uniform(Generator& generator) {
  return std::uniform_real_distribution<double>()(generator);
}

double draw_laplace(Generator& generator) {
  return draw_exponential(generator) - draw_exponential(generator);
}

const Law kLaws[] = {{"normal", -6, 6, 1.3489795003921634, draw_normal},
                     {"exponential", 0, 20, std::log(3), draw_exponential},
                     {"uniform", 0, 1, 0.5, draw_uniform},
                     {"Laplace", -20, 20, 2 * std::numbers::ln2, draw_laplace}};

double quantile(std::vector<double> values, double q) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The answers of one mechanism.
class Answers {
 public:
  void add(std::optional<double> answer, double sample_iqr, double population_iqr) {
    ++draws_;
    if (!answer) return;
    of_sample_.push_back(std::abs(*answer / sample_iqr - 1));
    of_population_.push_back(std::abs(*answer / population_iqr - 1));
  }
  double declined() const {
    return 1 - static_cast<double>(of_sample_.size()) / static_cast<double>(draws_);
  }
  bool enough() const { return declined() <= 1 - kLeastAnswered; }
  double error(double q) const { return quantile(of_sample_, q); }
  double population_error(double q) const { return quantile(of_population_, q); }

 private:
  std::size_t draws_ = 0;
  std::vector<double> of_sample_;
  std::vector<double> of_population_;
};

// The answers for one distribution, number of rows and epsilon.
struct Cell {
  Answers test;
  Answers paper;
  Answers quantiles;
  Answers wide;
};

std::vector<double> draw_rows(const Law& law, std::size_t n, Generator& generator) {
  std::vector<double> rows(n);
  for (double& row : rows) row = law.draw(generator);
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Like interquartile_range, but does not sort again.
std::optional<double> by_test(const OrderStatistics& rows, double epsilon, double delta,
                              RandomStream& random) {
  CancelPoll cancel(nullptr);
  const std::uint64_t count = noisy_count(rows.records(), iqr_count_epsilon(epsilon), random);
  const IqrPlan plan(count, epsilon, delta);
  return interquartile_range_by(plan.stages(), rows,
                                {random, cancel, std::pmr::new_delete_resource()});
}

// Two tests, for bins half a unit apart, and the release spend a third of epsilon each. A test errs
// with a probability of at most delta/2.
std::optional<double> by_paper(const OrderStatistics& rows, double epsilon, double delta,
                               RandomStream& random) {
  CancelPoll cancel(nullptr);
  const auto [numerator, denominator] = rational_epsilon(epsilon / 3);
  const auto margin = static_cast<std::int64_t>(std::ceil(-std::log(delta) / (epsilon / 3)));
  const LogGrid grid(rows.records());
  const double iqr = rows.interquartile_range();
  for (const int discretisation : {0, kDiscretisations / 2}) {
    const IqrBin bin = grid.bin_of(iqr, discretisation);
    const auto distance = static_cast<std::int64_t>(distance_to_instability(bin, rows, cancel));
    if (distance + discrete_laplace(random, {denominator, numerator}) <= 1 + margin) continue;
    const std::int64_t exponent =
        discrete_laplace(random, {denominator * LogGrid::kStepsPerUnit, numerator});
    return iqr * grid.value(std::clamp(exponent, -grid.last(), grid.last()));
  }
  return std::nullopt;
}

// Method 'quantiles' with given bounds.
class ByQuantiles {
 public:
  ByQuantiles(const std::vector<double>& rows, double lower, double upper)
      : grid_(ValueGrid::create(lower, upper, std::nullopt)), data_(count(rows, grid_)) {}

  double draw(double epsilon, RandomStream& random) const {
    CancelPoll cancel(nullptr);
    auto* const memory = std::pmr::new_delete_resource();
    return IqrByQuantiles(grid_, epsilon, memory).release(data_, {random, cancel, memory});
  }

 private:
  static Histogram count(const std::vector<double>& rows, const ValueGrid& grid) {
    std::vector<std::uint32_t> cells;
    for (const double row : rows) cells.push_back(grid.cell_of(row));
    CancelPoll cancel(nullptr);
    return {cells, grid.cells, {cancel, std::pmr::new_delete_resource()}};
  }

  ValueGrid grid_;
  Histogram data_;
};

int data_sets(std::size_t n) {
  return static_cast<int>(std::clamp<std::size_t>(10'000'000 / n, 10, 100));
}

int draws_each(int draws, std::size_t n) {
  return (draws + data_sets(n) - 1) / data_sets(n);
}

// Returns a cell for each epsilon.
std::vector<Cell> measure(const Law& law, std::size_t n, int trials, double delta,
                          Generator& generator, RandomStream& random) {
  std::vector<Cell> cells(std::size(kEpsilons));
  for (int set = 0; set < data_sets(n); ++set) {
    const std::vector<double> rows = draw_rows(law, n, generator);
    const OrderStatistics ordered(rows);
    const double iqr = ordered.interquartile_range();
    const ByQuantiles quantiles(rows, law.lower, law.upper);
    const ByQuantiles wide(rows, kTooWide * law.lower, kTooWide * law.upper);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double epsilon = kEpsilons[i];
      for (int draw = 0; draw < draws_each(kDrawsPerTrial * trials, n); ++draw) {
        cells[i].test.add(by_test(ordered, epsilon, delta, random), iqr, law.iqr);
        cells[i].paper.add(by_paper(ordered, epsilon, delta, random), iqr, law.iqr);
      }
      for (int draw = 0; draw < draws_each(trials / kTrialsPerQuantilesDraw, n); ++draw) {
        cells[i].quantiles.add(quantiles.draw(epsilon, random), iqr, law.iqr);
        cells[i].wide.add(wide.draw(epsilon, random), iqr, law.iqr);
      }
    }
  }
  return cells;
}

void print_head(int trials, double delta) {
  std::printf("Relative error of the interquartile range in %%, delta = %g.\n", delta);
  for (const std::size_t n : kRows) {
    std::printf("%8zu rows: %3d datasets, on each %d draws of dp_iqr and paper, %d of quantiles\n",
                n, data_sets(n), draws_each(kDrawsPerTrial * trials, n),
                draws_each(trials / kTrialsPerQuantilesDraw, n));
  }
  for (const double epsilon : kEpsilons) {
    std::printf("dp_iqr_min_rows(%g, %g) = %llu\n", epsilon, delta,
                static_cast<unsigned long long>(iqr_min_records(epsilon, delta)));
  }
  std::printf("%-11s %7s %7s  %-30s  %-21s  %-13s  %-13s\n", "", "", "", "dp_iqr", "paper",
              "quantiles", "quantiles wide");
  std::printf("%-11s %7s %7s", "data", "rows", "epsilon");
  std::printf("  %7s %6s %6s %12s", "none %", "median", "90 %", "(population)");
  std::printf("  %7s %6s %6s", "none %", "median", "90 %");
  for (int i = 0; i < 2; ++i) std::printf("  %6s %6s", "median", "90 %");
  std::printf("\n");
}

void print_errors(const Answers& answers) {
  if (answers.enough()) {
    std::printf(" %6.2f %6.2f", 100 * answers.error(0.5), 100 * answers.error(0.9));
  } else {
    std::printf(" %6s %6s", "-", "-");
  }
}

void print_row(const Law& law, std::size_t n, double epsilon, const Cell& cell) {
  std::printf("%-11s %7zu %7g  %7.2f", law.name, n, epsilon, 100 * cell.test.declined());
  print_errors(cell.test);
  if (cell.test.enough()) {
    std::printf(" %12.2f", 100 * cell.test.population_error(0.5));
  } else {
    std::printf(" %12s", "-");
  }
  std::printf("  %7.2f", 100 * cell.paper.declined());
  print_errors(cell.paper);
  for (const Answers* answers : {&cell.quantiles, &cell.wide}) {
    std::printf(" ");
    print_errors(*answers);
  }
  std::printf("\n");
}

struct Claims {
  Claim rarer;
  Claim smaller;
  Claim answers_more_than_paper;
  Claim closer_than_paper;
};

bool never_rises(const std::vector<double>& values) {
  return std::is_sorted(values.rbegin(), values.rend());
}

bool falls_always(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::less_equal<>()) == values.end();
}

// `column` has the cells of one distribution and epsilon, with the number of rows ascending.
void check_column(const std::vector<const Cell*>& column, Claims& claims) {
  std::vector<double> declined;
  std::vector<double> errors;
  for (const Cell* cell : column) {
    declined.push_back(cell->test.declined());
    if (cell->test.enough()) errors.push_back(cell->test.error(0.5));
    claims.answers_more_than_paper.check(cell->test.declined() <= cell->paper.declined());
    if (cell->test.enough() && cell->paper.enough()) {
      claims.closer_than_paper.check(cell->test.error(0.5) < cell->paper.error(0.5));
    }
  }
  claims.rarer.check(never_rises(declined) &&
                     (declined.back() < declined.front() || declined.front() == 0));
  if (errors.size() > 1) claims.smaller.check(falls_always(errors));
}

void measure_law(const Law& law, int trials, double delta, Generator& generator,
                 RandomStream& random, Claims& claims) {
  std::vector<std::vector<Cell>> table;
  for (const std::size_t n : kRows) {
    table.push_back(measure(law, n, trials, delta, generator, random));
    for (std::size_t i = 0; i < std::size(kEpsilons); ++i)
      print_row(law, n, kEpsilons[i], table.back()[i]);
    std::fflush(stdout);
  }
  for (std::size_t i = 0; i < std::size(kEpsilons); ++i) {
    std::vector<const Cell*> column;
    for (const auto& cells : table) column.push_back(&cells[i]);
    check_column(column, claims);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 400;
  const double delta = argc > 2 ? std::atof(argv[2]) : 1e-6;
  if (trials < 20) {
    std::fprintf(stderr, "usage: iqr_accuracy TRIALS [DELTA] (at least 20 trials)\n");
    return 1;
  }
  CsprngSource source;
  RandomStream random(source);
  Generator generator(1);
  print_head(trials, delta);
  Claims claims;
  for (const Law& law : kLaws) measure_law(law, trials, delta, generator, random, claims);
  claims.rarer.print(
      "The rate of no answer falls with more rows (or is 0): in each (data, epsilon)");
  claims.smaller.print("The median error falls with more rows: in each (data, epsilon)");
  claims.answers_more_than_paper.print("Answers at least as often as the paper: in each row");
  claims.closer_than_paper.print("A smaller median error than the paper: in each row with both");
  return 0;
}
