// Mean gap of dp_quantiles' method 'approximate' in the experiment of Kaplan, Schnapp and Stemmer
// 2022, figure 4: 1000 rows drawn with replacement, range [-100, 100], epsilon = 1, m uniform
// quantiles. The gap of an answer is the number of rows strictly between it and the true quantile.
// Then the rank errors of all methods beside the limits for every mechanism.
//
// usage: accuracy TRIALS [DATA_DIRECTORY [REFERENCE_CSV]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/histogram/value_grid.hpp"
#include "core/quantiles/quantiles.hpp"
#include "quantile_limits.hpp"

namespace {

using dpquantile::CancelPoll;
using dpquantile::CsprngSource;
using dpquantile::Histogram;
using dpquantile::RandomStream;
using dpquantile::ValueGrid;

constexpr std::size_t kRows = 1000;
constexpr double kLower = -100;
constexpr double kUpper = 100;
constexpr double kEpsilon = 1;
constexpr int kQuantileCounts[] = {1, 2, 3, 5, 7, 10, 15, 20, 35, 50, 80, 120};

// A population to draw rows from: real values, or a law.
struct Dataset {
  std::string name;
  double granularity;
  std::vector<double> population;
  double (*draw)(RandomStream&);
};

double draw_uniform(RandomStream& random) {
  return -5 + 10 * random.unit_real();
}

double draw_gaussian(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit_real()));
  return 5 * radius * std::cos(2 * std::numbers::pi * random.unit_real());
}

std::vector<double> read_values(const std::string& path) {
  std::ifstream file(path);
  std::vector<double> values;
  for (std::string line; std::getline(file, line);) {
    char* end = nullptr;
    const double value = std::strtod(line.c_str(), &end);
    if (end != line.c_str()) values.push_back(value);
  }
  return values;
}

std::vector<Dataset> datasets(const std::string& directory) {
  std::vector<Dataset> all;
  for (const auto& [name, granularity] : {std::pair{"adult_age", 1.0},
                                          {"adult_hours", 1.0},
                                          {"goodreads_rating", 0.01},
                                          {"goodreads_pages", 0.01}}) {
    std::vector<double> values;
    if (!directory.empty()) values = read_values(directory + "/" + name + ".csv");
    if (values.empty()) {
      std::printf("notice: %s skipped: no %s/%s.csv (set BENCH_DATA=directory)\n", name,
                  directory.empty() ? "BENCH_DATA" : directory.c_str(), name);
      continue;
    }
    all.push_back({name, granularity, std::move(values), nullptr});
  }
  const double fine = (kUpper - kLower) / 16777216;
  all.push_back({"uniform", fine, {}, draw_uniform});
  all.push_back({"gaussian", fine, {}, draw_gaussian});
  return all;
}

std::vector<double> draw_rows(const Dataset& dataset, RandomStream& random) {
  std::vector<double> rows(kRows);
  for (double& row : rows) {
    row = dataset.draw != nullptr
              ? dataset.draw(random)
              : dataset.population[random.uniform_below(dataset.population.size())];
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

double gap(const std::vector<double>& sorted, double answer, double q) {
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  const double truth = sorted[std::min(rank, sorted.size() - 1)];
  const auto [low, high] = std::minmax(answer, truth);
  const auto first = std::upper_bound(sorted.begin(), sorted.end(), low);
  const auto last = std::lower_bound(sorted.begin(), sorted.end(), high);
  return static_cast<double>(std::max<std::ptrdiff_t>(last - first, 0));
}

double mean_gap_of_trial(const Dataset& dataset, const ValueGrid& grid,
                         const std::vector<double>& quantiles, RandomStream& random) {
  const std::vector<double> rows = draw_rows(dataset, random);
  std::vector<std::uint32_t> cells;
  for (const double row : rows) cells.push_back(grid.cell_of(row));
  CancelPoll cancel(nullptr);
  const dpquantile::MechanismContext context(random, cancel, std::pmr::new_delete_resource());
  const Histogram data(cells, grid.cells, context);
  const auto answers =
      dpquantile::draw_quantiles(data,
                                 {dpquantile::QuantilesMethod::kApproximate,
                                  dpquantile::pure(kEpsilon), grid.cells, quantiles},
                                 context);
  double sum = 0;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    sum += gap(rows, grid.value_of(answers[i]), quantiles[i]);
  }
  return sum / static_cast<double>(quantiles.size());
}

struct Estimate {
  double mean;
  double standard_error;
};

Estimate estimate_gap(const Dataset& dataset, int m, int trials, RandomStream& random) {
  const ValueGrid grid = ValueGrid::create(kLower, kUpper, dataset.granularity);
  std::vector<double> quantiles;
  for (int i = 1; i <= m; ++i) quantiles.push_back(static_cast<double>(i) / (m + 1));
  double sum = 0;
  double squares = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const double mean_gap = mean_gap_of_trial(dataset, grid, quantiles, random);
    sum += mean_gap;
    squares += mean_gap * mean_gap;
  }
  const double mean = sum / trials;
  return {mean, std::sqrt(std::max(squares / trials - mean * mean, 0.0) / (trials - 1))};
}

struct Reference {
  double mean_gap;
  double trials;
};

// dataset/m -> the prototype's figure (columns dataset, granularity, privacy, m, mean_gap, trials).
std::map<std::string, Reference> read_reference(const std::string& path) {
  std::map<std::string, Reference> reference;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::vector<std::string> field(6);
    for (std::string& text : field) std::getline(fields, text, ',');
    if (field[2] != "pure") continue;
    reference[field[0] + "/" + field[3]] = {std::stod(field[4]), std::stod(field[5])};
  }
  return reference;
}

// Returns by how many standard errors the gap exceeds the reference.
double print_row(const Dataset& dataset, int m, const Estimate& ours, int trials,
                 const std::map<std::string, Reference>& reference) {
  std::printf("%-17s %4d %9.3f %7.3f", dataset.name.c_str(), m, ours.mean, ours.standard_error);
  const auto found = reference.find(dataset.name + "/" + std::to_string(m));
  double excess = 0;
  if (found != reference.end()) {
    const double both =
        ours.standard_error * std::sqrt(1 + static_cast<double>(trials) / found->second.trials);
    const double difference = ours.mean - found->second.mean_gap;
    excess = both > 0 ? difference / both : 0;
    std::printf(" %9.3f %9.1f", found->second.mean_gap, excess);
  }
  std::printf("\n");
  std::fflush(stdout);
  return excess;
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::string directory = argc > 2 ? argv[2] : "";
  const std::map<std::string, Reference> reference = read_reference(argc > 3 ? argv[3] : "");
  if (trials < 2) {
    std::fprintf(stderr, "usage: accuracy TRIALS [DATA_DIRECTORY [REFERENCE_CSV]]\n");
    return 1;
  }
  CsprngSource source;
  RandomStream random(source);
  std::printf("Mean gap, epsilon = 1, 1000 rows, range [-100, 100], %d trials.\n", trials);
  if (reference.empty())
    std::printf("notice: no reference figures (set BENCH_REFERENCE=file.csv)\n");
  std::printf("%-17s %4s %9s %7s %9s %9s\n", "dataset", "m", "mean gap", "+-", "reference",
              "excess/se");
  double worst = 0;
  for (const Dataset& dataset : datasets(directory)) {
    for (const int m : kQuantileCounts) {
      const Estimate ours = estimate_gap(dataset, m, trials, random);
      worst = std::max(worst, print_row(dataset, m, ours, trials, reference));
    }
  }
  if (!reference.empty()) std::printf("largest excess over the reference: %.1f se\n", worst);
  std::printf("\n");
  dpquantile::bench::print_quantile_limits(trials, random);
  return 0;
}
