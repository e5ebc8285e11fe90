#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "adversary/checks.hpp"
#include "adversary/heavy_cells.hpp"
#include "adversary/joint_statement.hpp"
#include "adversary/neighbours.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/quantiles/quantiles.hpp"

// One quantile, and the methods for several: docs/privacy.md, "One quantile" and "All quantiles".
namespace dpquantile::adversary {

namespace {

using test::Claim;
using test::heap;

// ---- One quantile
// ----------------------------------------------------------------------------------

// The logarithm of the sum of exp(-lambda |R(p) - target|) over the positions of a segment.
long double log_weight(const Segment& segment, long double target, long double lambda) {
  const auto length = static_cast<long double>(segment.positions.end - segment.positions.begin);
  const long double fall = lambda * segment.slope;
  // Positions from the one at this distance on, each farther than the one before.
  const auto log_sum = [&](long double distance, long double count) {
    if (fall == 0) return std::log(count) - lambda * distance;
    return std::log(-std::expm1(-fall * count)) - std::log(-std::expm1(-fall)) - lambda * distance;
  };
  const long double before = target - segment.rank;  // of the first position
  if (before <= 0) return log_sum(-before, length);
  const long double below =
      fall == 0 ? length : std::min(std::floor(before / segment.slope) + 1, length);
  const long double nearest = before - (below - 1) * segment.slope;
  const long double low = log_sum(nearest, below);
  if (below == length) return low;
  const long double high =
      log_sum(static_cast<long double>(segment.slope) - nearest, length - below);
  const long double larger = std::max(low, high);
  return larger + std::log(std::exp(low - larger) + std::exp(high - larger));
}

// The probabilities of the segments, as stated.
std::vector<long double> law_of_one(const std::vector<Segment>& segments, double q,
                                    double epsilon) {
  const Segment& last = segments.back();
  const long double records =
      last.rank + static_cast<long double>(last.slope) *
                      static_cast<long double>(last.positions.end - last.positions.begin);
  const long double target = std::floor(std::ldexp(q * records, 24)) * 0x1p-24L;
  const long double lambda = epsilon * (1 - 0x1p-16L) / (2 * std::max(q, 1 - q));
  std::vector<long double> law;
  long double largest = -1e4000L;
  for (const Segment& segment : segments) {
    law.push_back(log_weight(segment, target, lambda));
    largest = std::max(largest, law.back());
  }
  long double sum = 0;
  for (long double& weight : law) sum += weight = std::exp(weight - largest);
  for (long double& weight : law) weight /= sum;
  return law;
}

void compare_one(Search& search) {
  const std::uint64_t grid = draw_grid(search);
  const double epsilon =
      search.chance(0.1) ? search.pick({kMinDrawEpsilon, 1000.0}) : search.log_uniform(0x1p-23, 30);
  HeavyCells cells = draw_cells(search, grid, 4, std::min(80 / epsilon, 5e8));
  if (search.chance(0.4)) {
    cells[search.below(cells.size())].count =
        static_cast<std::uint32_t>(search.log_uniform(0x1p27, 0x1.8p31));
  }
  while (records_of(cells) >= Histogram::kMaxRecords) cells.pop_back();
  if (cells.empty()) return;
  PositionInterval interval{0, cell_start(grid)};
  if (search.chance(0.4)) {
    interval.begin = cell_start(cells[search.below(cells.size())].cell + 1ULL) -
                     static_cast<Position>(search.log_uniform(1, 0x1p24));
  }
  const double q = draw_quantiles_about(search, 1, cells, 60 / epsilon)[0];
  const auto text_of_draw = [&] {
    return text("grid %llu, %s, from %llu, q %.17g, epsilon %.17g",
                static_cast<unsigned long long>(grid), text_of(cells).c_str(),
                static_cast<unsigned long long>(interval.begin), q, epsilon);
  };
  const std::vector<Segment> segments = segments_of(cells, interval);
  const std::vector<long double> law = law_of_one(segments, q, epsilon);

  HeavyCells more = cells;
  ++more[search.below(more.size())].count;
  const std::vector<long double> neighbour = law_of_one(segments_of(more, interval), q, epsilon);
  for (std::size_t i = 0; i < law.size(); ++i) {
    if (law[i] < 1e-4000L || neighbour[i] < 1e-4000L) continue;
    const long double loss = std::abs(std::log(law[i] / neighbour[i]));
    if (loss > epsilon) {
      search.report(text("segment %zu has a loss of %.9Lg: ", i, loss) + text_of_draw());
    }
  }

  const Histogram data = histogram_of(cells, search.work());
  const SmearedRank rank(data);
  const auto draw = [&](int draws) {
    std::vector<std::uint64_t> counts(segments.size());
    for (int i = 0; i < draws; ++i) {
      search.allow_work(200);
      const Position position =
          draw_quantile_position(rank, interval, q, epsilon, search.context());
      const auto after = std::ranges::upper_bound(
          segments, position, {}, [](const Segment& segment) { return segment.positions.begin; });
      ++counts[static_cast<std::size_t>(after - segments.begin()) - 1];
    }
    return counts;
  };
  try {
    constexpr int kDraws = 40;
    const std::vector<std::uint64_t> counts = draw(kDraws);
    for (std::size_t i = 0; i < law.size(); ++i) {
      const auto p = static_cast<double>(law[i]);
      const double excess = std::abs(static_cast<double>(counts[i]) - kDraws * p) /
                            std::sqrt(kDraws * p * (1 - p) + 0.1);
      if (excess < 3) continue;
      const std::uint64_t again = draw(20 * kDraws)[i];
      if (test::binomial_p_value(again, 20 * kDraws, p) > search.next_false_alarm()) continue;
      search.report(text("segment %zu is drawn %llu of %d times, but has a probability of %.3g: ",
                         i, static_cast<unsigned long long>(again), 20 * kDraws, p) +
                    text_of_draw());
      return;
    }
  } catch (const Cancelled&) {
    search.report("a draw does not end: " + text_of_draw());
  }
}

// ---- The methods
// -----------------------------------------------------------------------------------

// Data sets of which each is the neighbour of the next: the last records of one cell are added, or
// moved there from another cell.
struct Path {
  HeavyCells cells;
  std::size_t grows;
  std::optional<std::size_t> falls;
  std::uint64_t last;

  HeavyCells at(std::uint64_t step) const {
    HeavyCells there = cells;
    there[grows].count += static_cast<std::uint32_t>(step);
    if (falls) there[*falls].count -= static_cast<std::uint32_t>(step);
    std::erase_if(there, [](const CellRun& run) { return run.count == 0; });
    return there;
  }
};

Path draw_path(Search& search, std::uint64_t grid, double scale, bool replaces) {
  Path path{draw_cells(search, grid, 3, scale), 0, std::nullopt, 0};
  const bool has_ties = search.chance(0.5);
  if (has_ties) {
    path.cells = {
        {0, static_cast<std::uint32_t>(search.log_uniform(1, std::min(20 * scale, 1e8)))}};
    if (grid > 1) path.cells.push_back({static_cast<std::uint32_t>(grid - 1), 0});
    if (search.chance(0.3)) path.cells.front().count = 1U << 28;
  }
  path.grows = search.below(path.cells.size());
  path.last = 1 + static_cast<std::uint64_t>(search.log_uniform(1, scale + 1));
  if (replaces && path.cells.size() > 1) {
    path.falls = (path.grows + 1) % path.cells.size();
    path.last = std::min<std::uint64_t>(path.last, path.cells[*path.falls].count);
  }
  return path;
}

QuantilesQuery draw_query(Search& search, QuantilesMethod method, std::vector<double>& quantiles) {
  const bool is_tree = method == QuantilesMethod::kTree;
  std::uint64_t grid = draw_grid(search);
  if (is_tree) grid = search.pick({1, 2, 3, 64, 1024});
  if (method == QuantilesMethod::kAuto && search.chance(0.3)) grid = search.pick({2, 3, 64});
  // Where the programs and the plans change.
  std::size_t count = search.pick({1, 2, 3, 4, 5, 9, 14, 16, 17, 24, 33, 64, 65, 80});
  if (method == QuantilesMethod::kJoint) count = search.pick({1, 2, 4, 5, 9, 12, 16, 17});
  const PrivacyParameter privacy =
      search.chance(0.75) ? pure(search.log_uniform(0.2, 16)) : zcdp(search.log_uniform(0.01, 4));
  quantiles.resize(count);
  return {method, privacy, grid, quantiles};
}

Events events_of(const HeavyCells& cells, std::span<const std::uint32_t> answers) {
  Events events(1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const char of_answer = class_of(cells, answers[i]);
    events[0] += of_answer;
    events.push_back(text("%zu=%c", i, of_answer));
  }
  return events;
}

// Looks for the step of a path. Answers that take long get fewer draws.
template <class Draw>
void refute_on_path(Search& search, const Path& path, const Claim& claim, int effort, Draw draw,
                    const std::string& query) {
  const auto draw_of = [&](std::uint64_t step) -> DrawEvents {
    const auto data = std::make_shared<Histogram>(histogram_of(path.at(step), search.work()));
    return [&search, &path, data, draw] {
      search.allow_work(20000);
      return draw(path.cells, *data);
    };
  };
  const auto text_of_path = [&](std::uint64_t step) {
    return query + ", " + text_of(path.at(step)) + " and " + text_of(path.at(step + 1));
  };
  std::uint64_t step = 0;
  try {
    step = search.chance(0.2) ? search.below(path.last) : find_step(path.last, draw_of, effort);
    const std::string refuted =
        refute_claim(search, draw_of(step), draw_of(step + 1), claim, 8 * effort, 100 * effort);
    if (!refuted.empty()) search.report(refuted + ": " + text_of_path(step));
  } catch (const Cancelled&) {
    search.report("a draw does not end: " + text_of_path(step));
  }
}

void refute_method(Search& search, QuantilesMethod method) {
  std::vector<double> quantiles;
  QuantilesQuery query = draw_query(search, method, quantiles);
  const Claim pure_or_not = test::claim_of(query.privacy);
  const double scale = std::min(60.0 * std::log2(2.0 + static_cast<double>(quantiles.size())) /
                                    std::min(pure_or_not.epsilon, 8.0),
                                1e6);
  const bool replaces = query.privacy.measure == PrivacyMeasure::kPure && search.chance(0.3);
  const Path path = draw_path(search, query.cells, scale, replaces);
  if (path.last == 0) return;
  quantiles = draw_quantiles_about(search, quantiles.size(), path.at(path.last / 2), scale);
  if (search.chance(0.1)) quantiles.push_back(quantiles.front());
  query.quantiles = quantiles;
  const QuantilesMechanism mechanism(query, heap());
  Claim claim = test::claim_of(query.privacy);
  if (path.falls) claim.epsilon = *mechanism.costs().replacing.epsilon;
  const bool is_slow = method == QuantilesMethod::kJoint || method == QuantilesMethod::kAuto;
  const int effort = is_slow && quantiles.size() > 4 ? 4 : 12;
  refute_on_path(
      search, path, claim, effort,
      [&](const HeavyCells& cells, const Histogram& data) {
        return events_of(cells, mechanism.release(data, search.context()));
      },
      text("method %d, %s %.17g%s, grid %llu, %s", static_cast<int>(method),
           parameter_name(query.privacy.measure), query.privacy.value,
           path.falls ? ", a value replaced" : "", static_cast<unsigned long long>(query.cells),
           text_of(quantiles).c_str()));
}

template <QuantilesMethod method>
void refute_quantiles(Search& search) {
  refute_method(search, method);
}

void refute_iqr(Search& search) {
  const std::uint64_t grid = std::max<std::uint64_t>(draw_grid(search), 2);
  const double epsilon = search.log_uniform(0.2, 16);
  const ValueGrid values = ValueGrid::create(0, static_cast<double>(grid - 1), 1);
  const IqrByQuantiles mechanism(values, epsilon, heap());
  const bool replaces = search.chance(0.3);
  const Path path = draw_path(search, grid, std::min(100 / epsilon, 1e6), replaces);
  if (path.last == 0) return;
  const double charged = path.falls ? *mechanism.costs().replacing.epsilon : epsilon;
  refute_on_path(
      search, path, {charged, 0}, 12,
      [&](const HeavyCells& cells, const Histogram& data) {
        const double range = mechanism.release(data, search.context());
        return Events{range == 0 ? "0" : "above 0",
                      std::string(1, class_of(cells, static_cast<std::uint64_t>(range)))};
      },
      text("dp_iqr by quantiles, epsilon %.17g, grid %llu", epsilon,
           static_cast<unsigned long long>(grid)));
}

}  // namespace

std::vector<Check> quantile_checks() {
  using enum QuantilesMethod;
  const auto of = [](QuantilesMethod method) {
    return std::vector<Mechanism>{mechanism_of(method)};
  };
  return {{"one quantile, law",
           {mechanism_of(kApproximate), mechanism_of(kIndependent), mechanism_of(kAuto)},
           compare_one,
           150},
          {"quantiles, approximate", of(kApproximate), refute_quantiles<kApproximate>, 12},
          {"quantiles, independent", of(kIndependent), refute_quantiles<kIndependent>, 12},
          {"quantiles, blocks", of(kBlocks), refute_quantiles<kBlocks>, 12},
          {"quantiles, default", of(kDefault), refute_quantiles<kDefault>, 4},
          {"quantiles, joint", of(kJoint), refute_quantiles<kJoint>, 2},
          {"quantiles, auto", of(kAuto), refute_quantiles<kAuto>, 2},
          {"quantiles, tree", of(kTree), refute_quantiles<kTree>, 4},
          {"iqr by quantiles", {Mechanism::kIqrByQuantiles}, refute_iqr, 12}};
}

}  // namespace dpquantile::adversary
