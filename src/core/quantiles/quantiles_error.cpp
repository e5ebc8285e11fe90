#include "core/quantiles/quantiles_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "core/base/error.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/exponential/small_joint_mechanism.hpp"
#include "core/histogram/cell_runs.hpp"
#include "core/histogram/histogram.hpp"
#include "core/quantiles/independent_quantiles.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/quantiles/quantiles_error_bound.hpp"
#include "core/quantiles/recursion_plan.hpp"

namespace dpquantile {

namespace {

constexpr double kConfidence = 0.95;

// On a grid of more cells than this no more records than this are simulated: the noise reaches over
// many cells, and more records make no difference. On a coarser grid they make cells that hold more
// records than the noise reaches over, and cost no time.
constexpr std::uint64_t kMostSimulatedRuns = std::uint64_t{1} << 17;

// On a coarse grid so many records over epsilon make each cell hold 256 times the scale of the
// noise, and more make no difference. With more, joint draws would need numbers wider than doubles.
constexpr double kMostCoarseRecords = 0x1p25;
constexpr double kLargestCoarseEpsilon = 16;  // that a joint draw can use

// A figure is taken so many standard errors higher, so that it holds.
constexpr double kStandardErrors = 3;

// Noise that reaches over more than a few thousand records is simulated on fewer records, each of
// which stands for several.
constexpr double kFinestEpsilon = 0x1p-10;

// On a fine grid so many that a draw of this epsilon, whose noise is some ten records, is coarse
// enough. Its noise should be a twentieth of the way to the nearer end of the simulated records.
constexpr double kCoarsestDraw = 0.25;
constexpr double kReaches = 20;

// Many independent draws of this epsilon have more together than a query may have.
constexpr double kLargestFineEpsilon = 0.999 * kMaxEpsilon;

// Cells of fewer simulated records may differ by one.
constexpr double kManyInCell = 32;

// The same bits for every forecast, so that everybody gets the same figures. They draw from the
// laws of the mechanisms on data that nobody has. Noise that protects data comes from CsprngSource.
class PublicBits final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override {
    while (!out.empty()) {
      const std::uint64_t word = generator_();
      const auto bytes = std::as_bytes(std::span(&word, 1));
      const auto part = bytes.first(std::min(bytes.size(), out.size()));
      std::ranges::copy(part, out.begin());
      out = out.subspan(part.size());
    }
  }

 private:
  static constexpr std::uint64_t kSeed = 20140808;

  std::mt19937_64 generator_{kSeed};
};

// The epsilon of the draw, if one draw that takes long to prepare gives all quantiles; else none.
std::optional<double> epsilon_of_large_joint_draw(const QuantilesQuery& query,
                                                  std::size_t distinct) {
  const QuantilesMethod method = resolved_method(query);
  if (method == QuantilesMethod::kTree || method == QuantilesMethod::kIndependent) return {};
  const RecursionPlan plan = plan_for(method, distinct, query.privacy);
  const bool is_one = plan.size() == 1 && distinct > kMostSmallJoint && query.cells > 1;
  return is_one ? std::optional(plan.front().epsilon) : std::nullopt;
}

// One release takes up to 3 ms, and one of 128 joint quantiles some 0.1 s.
std::size_t simulated_releases(std::size_t distinct, bool is_large_joint_draw) {
  if (!is_large_joint_draw || distinct <= 16) return distinct <= 64 ? 1000 : 400;
  return distinct <= 32 ? 400 : 100;
}

// Records spread evenly over the cells.
class EvenRuns {
 public:
  EvenRuns(std::uint64_t records, std::uint64_t cells) : records_(records), cells_(cells) {}

  bool next(CellRun& run) {
    if (counted_ == records_) return false;
    // The cell of the next record, and the number of records up to that cell.
    const std::uint64_t cell = cell_of(counted_);
    const std::uint64_t end = std::min(records_, first_from(cell + 1));
    run = {static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(end - counted_)};
    counted_ = end;
    return true;
  }

 private:
  // Record i is at (2i + 1) / (2 records) of the axis.
  std::uint64_t cell_of(std::uint64_t record) const {
    return (2 * record + 1) * cells_ / (2 * records_);
  }
  std::uint64_t first_from(std::uint64_t cell) const {
    const std::uint64_t twice = (2 * records_ * cell + cells_ - 1) / cells_;
    return twice / 2;
  }

  std::uint64_t records_;
  std::uint64_t cells_;
  std::uint64_t counted_ = 0;
};

// The number of records between the rank of a quantile and the nearer end of a cell.
double rank_error(const SmearedRank& rank, std::uint32_t cell, double quantile) {
  const double target = quantile * static_cast<double>(rank.data().total());
  const auto records = [&](Position position) {
    return std::ldexp(static_cast<double>(rank.at(position)), -int{kPositionBits});
  };
  return std::max({0.0, records(cell_start(cell)) - target,
                   target - records(cell_start(std::uint64_t{cell} + 1))});
}

void check_records(std::uint64_t records) {
  if (records >= 1 && records <= kMaxForecastRecords) return;
  throw ParameterError(
      "the number of rows must be between 1 and 1099511627776, got " + std::to_string(records),
      "Give a public guess of the number of rows.");
}

// The query on records that each stand for `scale` records: its errors times `scale` are those of
// the query.
QuantilesQuery scaled(QuantilesQuery query, double scale) {
  const bool is_pure = query.privacy.measure == PrivacyMeasure::kPure;
  query.privacy.value *= is_pure ? scale : scale * scale;
  return query;
}

double epsilon_of(const PrivacyParameter& privacy) {
  return privacy.measure == PrivacyMeasure::kPure ? privacy.value : std::sqrt(2 * privacy.value);
}

bool is_coarse(const QuantilesQuery& query) {
  return query.cells <= kMostSimulatedRuns;
}

// The least epsilon of a draw. The noise of a tree adds up along it.
double epsilon_of_draw(const QuantilesQuery& query, std::pmr::memory_resource* memory) {
  constexpr double kDrawsOfTree = 32;
  const QuantilesMethod method = resolved_method(query);
  if (method == QuantilesMethod::kTree) return epsilon_of(query.privacy) / kDrawsOfTree;
  const std::size_t distinct = sorted_distinct(query.quantiles, memory).size();
  if (method == QuantilesMethod::kIndependent) return independent_epsilon(distinct, query.privacy);
  double least = std::numeric_limits<double>::infinity();
  for (const RecursionLevel& level : plan_for(method, distinct, query.privacy))
    least = std::min(least, level.epsilon);
  return least;
}

// The least part of the records between a quantile and an end. The ends themselves have none.
double part_to_end(const QuantilesQuery& query) {
  double least = 0.5;
  for (const double quantile : query.quantiles) {
    const double part = std::min(quantile, 1 - quantile);
    if (part > 0) least = std::min(least, part);
  }
  return least;
}

// The number of records that a simulated one stands for on a fine grid.
double records_for_one_of_few(const QuantilesQuery& query, double records,
                              std::pmr::memory_resource* memory) {
  constexpr auto kMost = static_cast<double>(kMostSimulatedRuns);
  const double enough = 2 * kReaches / (kMost * part_to_end(query));
  const double simulated = std::clamp(enough, kFinestEpsilon, kCoarsestDraw);
  const double for_noise = std::min(simulated / epsilon_of_draw(query, memory),
                                    kLargestFineEpsilon / epsilon_of(query.privacy));
  return std::max(1.0, std::min(for_noise, records / kMost));
}

// The number of records that a simulated one stands for on a coarse grid.
double records_for_one(const QuantilesQuery& query, double records) {
  constexpr auto kMost = static_cast<double>(kMaxJointRecords);
  const double epsilon = epsilon_of(query.privacy);
  const double for_noise =
      std::min(kFinestEpsilon / epsilon, records / static_cast<double>(kMostSimulatedRuns));
  const double for_coarse_grid = std::min(kMostCoarseRecords / kMost / epsilon, records / kMost);
  return std::max({1.0, for_noise, for_coarse_grid});
}

// `query` is scaled.
std::uint64_t simulated_records(const QuantilesQuery& query, double records, double scale) {
  auto most = static_cast<double>(kMostSimulatedRuns);
  if (is_coarse(query)) {
    const double epsilon = std::min(epsilon_of(query.privacy), kLargestCoarseEpsilon);
    most = std::min(kMostCoarseRecords / epsilon, static_cast<double>(kMaxJointRecords));
  }
  double number = std::floor(std::min(records / scale, most));
  // Fewer records than there are would miss the end of a cell by a part of one, where the others
  // hardly do. So all cells have equally many.
  const auto cells = static_cast<double>(query.cells);
  const double in_cell = std::floor(number / cells);
  if (number < records && in_cell >= kManyInCell) number = in_cell * cells;
  return static_cast<std::uint64_t>(number);
}

// If all records are simulated, up to those that would not fill all cells alike, the cells hold as
// many as all records would.
double records_of_one(std::uint64_t number, double records, double scale) {
  const auto simulated = static_cast<double>(number);
  return simulated * scale >= records * (1 - 1 / kManyInCell) ? records / simulated : scale;
}

// The cells of all releases, one release after the other.
std::pmr::vector<std::uint32_t> draw_releases(const SmearedRank& rank, const QuantilesQuery& query,
                                              const MechanismContext& context) {
  const auto distinct = sorted_distinct(query.quantiles, context.memory);
  const auto epsilon = epsilon_of_large_joint_draw(query, distinct.size());
  const std::size_t releases = simulated_releases(distinct.size(), epsilon.has_value());
  std::pmr::vector<std::uint32_t> cells(context.memory);
  if (!epsilon) {
    const QuantilesMechanism mechanism(query, context.memory);
    for (std::size_t release = 0; release < releases; ++release) {
      const auto released = mechanism.release(rank.data(), context);
      cells.insert(cells.end(), released.begin(), released.end());
    }
    return cells;
  }
  const PositionInterval everything{0, cell_start(query.cells)};
  const auto positions =
      simulate_joint_positions(rank, everything, distinct, *epsilon, releases, context);
  for (std::size_t draw = 0; draw < positions.size(); draw += distinct.size()) {
    for (const double quantile : query.quantiles) {
      const auto found = std::ranges::lower_bound(distinct, quantile);
      const auto i = static_cast<std::size_t>(found - distinct.begin());
      cells.push_back(static_cast<std::uint32_t>(cell_at(positions[draw + i])));
    }
  }
  return cells;
}

// The rank of a quantile lies between two records: where, depends on their number. So errors of
// fewer records may be smaller by up to one.
double unlike_part(const QuantilesQuery& query, std::uint64_t number, std::uint64_t records) {
  return is_coarse(query) || number == records ? 0 : 1;
}

// Sorts the errors.
QuantileError figures_of(std::span<double> errors) {
  std::ranges::sort(errors);
  const auto count = static_cast<double>(errors.size());
  const double level =
      kConfidence + kStandardErrors * std::sqrt(kConfidence * (1 - kConfidence) / count);
  const auto at = static_cast<std::size_t>(std::min(std::ceil(level * count), count) - 1);
  return {std::accumulate(errors.begin(), errors.end(), 0.0) / count, errors[at], {}};
}

void simulate(const QuantilesQuery& query, std::uint64_t records, const Workspace& work,
              std::span<QuantileError> errors) {
  PublicBits bits;
  RandomStream random(bits);
  const MechanismContext context{random, work.cancel, work.memory};
  const double scale =
      is_coarse(query) ? records_for_one(query, static_cast<double>(records))
                       : records_for_one_of_few(query, static_cast<double>(records), work.memory);
  const QuantilesQuery simulated = scaled(query, scale);
  const std::uint64_t number = simulated_records(simulated, static_cast<double>(records), scale);
  const Histogram data(EvenRuns(number, query.cells), work);
  const double stands_for = records_of_one(number, static_cast<double>(records), scale);
  const SmearedRank rank(data);
  const auto cells = draw_releases(rank, simulated, context);
  const std::size_t quantiles = errors.size();
  std::pmr::vector<double> of_quantile(cells.size() / quantiles, work.memory);
  for (std::size_t i = 0; i < quantiles; ++i) {
    for (std::size_t release = 0; release < of_quantile.size(); ++release) {
      const std::uint32_t cell = cells[release * quantiles + i];
      of_quantile[release] = stands_for * rank_error(rank, cell, query.quantiles[i]);
    }
    errors[i] = figures_of(of_quantile);
    errors[i].at_95 = std::min(errors[i].at_95 + unlike_part(query, number, records),
                               static_cast<double>(records));
  }
}

// The bounds of Theorem 4b for each quantile in order. All hold at once with a probability of
// 1 - `failure`.
std::pmr::vector<double> bounds_in_order(const QuantilesQuery& query, double records,
                                         double failure, std::pmr::memory_resource* memory) {
  const std::pmr::vector<double> distinct = sorted_distinct(query.quantiles, memory);
  const auto bounds = rank_error_bounds(query, distinct, records, failure, memory);
  std::pmr::vector<double> in_order(memory);
  for (const double quantile : query.quantiles) {
    const auto found = std::ranges::lower_bound(distinct, quantile);
    in_order.push_back(bounds[static_cast<std::size_t>(found - distinct.begin())]);
  }
  return in_order;
}

// How far the rank of a quantile is from those of its cell's ends, if records are spread evenly.
double distance_in_cell(const QuantilesQuery& query, double records, double quantile) {
  constexpr double kRounding = 2;  // of ranks to whole records
  const auto cells = static_cast<double>(query.cells);
  const double part = quantile * cells - std::floor(quantile * cells);
  return std::min(part, 1 - part) * records / cells - kRounding;
}

// Cells of more records than can be simulated may be wider than all noise. Then the answer is the
// cell of the quantile. The probability of another one adds less than 2^-40 records to a mean.
void set_certain_answers(const QuantilesQuery& query, double records,
                         std::pmr::memory_resource* memory, std::span<QuantileError> errors) {
  const auto bounds = bounds_in_order(query, records, 0x1p-80, memory);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool is_certain = distance_in_cell(query, records, query.quantiles[i]) >= bounds[i];
    if (is_certain) errors[i] = {};
  }
}

void set_bounds(const QuantilesQuery& query, double records, std::pmr::memory_resource* memory,
                std::span<QuantileError> errors) {
  const auto bounds = bounds_in_order(query, records, 1 - kConfidence, memory);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i].bound = bounds[i];
}

}  // namespace

std::pmr::vector<QuantileError> forecast_quantiles_error(const QuantilesQuery& query,
                                                         std::uint64_t records,
                                                         const Workspace& work) {
  check_quantiles_query(query);
  check_records(records);
  std::pmr::vector<QuantileError> errors(query.quantiles.size(), work.memory);
  simulate(query, records, work, errors);
  if (resolved_method(query) != QuantilesMethod::kTree) {
    set_certain_answers(query, static_cast<double>(records), work.memory, errors);
    set_bounds(query, static_cast<double>(records), work.memory, errors);
  }
  return errors;
}

}  // namespace dpquantile
