#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "adversary/checks.hpp"
#include "adversary/heavy_cells.hpp"
#include "adversary/joint_statement.hpp"
#include "core/base/wide_real.hpp"
#include "core/exponential/joint_chain.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/joint_proposal.hpp"
#include "core/exponential/rank_slots.hpp"
#include "support/confidence.hpp"

// Joint draws of 1 to 128 quantiles: docs/privacy.md, "Several quantiles at once".
namespace dpquantile::adversary {

namespace {

using test::heap;

constexpr std::uint64_t kMostRecords = kMaxJointRecords - 1000;

// A joint draw of an interval of the axis.
struct JointDraw {
  std::uint64_t grid;
  HeavyCells cells;
  PositionInterval interval;
  std::vector<Position> cuts;
  std::vector<double> quantiles;
  double epsilon;

  double lambda() const { return joint_lambda(epsilon); }
  std::vector<Segment> segments() const { return segments_of(cells, interval, cuts); }
  JointStatement statement() const { return {segments(), quantiles, epsilon}; }
  std::string text() const {
    return adversary::text("grid %llu, %s, interval %llu to %llu, %s, epsilon %.17g",
                           static_cast<unsigned long long>(grid), text_of(cells).c_str(),
                           static_cast<unsigned long long>(interval.begin),
                           static_cast<unsigned long long>(interval.end),
                           text_of(quantiles).c_str(), epsilon);
  }
};

// The number of positions of a heavy cell that an interval keeps: few, or many.
Position draw_few(Search& search) {
  return std::min(static_cast<Position>(search.log_uniform(1, 0x1p24)), kCellPositions - 1);
}

// The whole axis, or an interval that begins or ends inside a heavy cell, as those below the first
// level of the recursion do.
PositionInterval draw_interval(Search& search, const JointDraw& draw) {
  PositionInterval interval{0, cell_start(draw.grid)};
  const auto heavy = [&] { return draw.cells[search.below(draw.cells.size())].cell; };
  if (search.chance(0.4)) interval.begin = cell_start(heavy() + 1ULL) - draw_few(search);
  if (search.chance(0.3)) interval.end = cell_start(heavy()) + draw_few(search);
  return interval.begin < interval.end ? interval : PositionInterval{0, cell_start(draw.grid)};
}

// A few positions of the lowest or the highest cell, and all others.
PositionInterval draw_part_of_end(Search& search, const JointDraw& draw) {
  const auto few = static_cast<Position>(search.log_uniform(1, 64));
  if (draw.cells.front().count > draw.cells.back().count) {
    return {cell_start(draw.cells.front().cell + 1ULL) - few, cell_start(draw.grid)};
  }
  return {0, cell_start(draw.cells.back().cell) + few};
}

// Quantiles at the ranks of the positions of a part of a cell, or between two of them.
void aim_at_positions(Search& search, JointDraw& draw) {
  const std::vector<Segment> segments = draw.segments();
  const Segment& last = segments.back();
  const double records = last.last_rank() + last.slope;
  if (records <= 0) return;
  std::vector<double> aimed;
  for (double& q : draw.quantiles) {
    const Segment& segment = segments[search.below(segments.size())];
    const double offset =
        std::floor(search.log_uniform(1, 8)) + search.pick({0.0, 0.33, 0.5, 0.67});
    const double rank = search.chance(0.5) ? segment.rank + offset * segment.slope
                                           : segment.last_rank() - offset * segment.slope;
    q = std::clamp(rank / records, 0.0, 1.0);
  }
  std::ranges::sort(draw.quantiles);
  draw.quantiles.erase(std::unique(draw.quantiles.begin(), draw.quantiles.end()),
                       draw.quantiles.end());
}

// Where the faults of joint draws have been: many ties on a fine grid, with quantiles in a cluster
// at the other end; and so many records in a cell that each of its positions counts, of which an
// interval has a few.
enum class Shape { kAny, kTies, kPartOfACell };

JointDraw draw_joint(Search& search, Shape shape, std::size_t least, std::size_t most) {
  JointDraw draw{};
  const std::size_t b = least + search.below(most - least + 1);
  draw.grid = shape == Shape::kAny ? std::max<std::uint64_t>(draw_grid(search), 2)
                                   : search.pick({1ULL << 22, 100000001ULL, 1ULL << 32});
  draw.epsilon = shape == Shape::kPartOfACell ? search.log_uniform(4, 17)
                 : search.chance(0.1)         ? search.pick({min_joint_epsilon(b), 16.1, 1000.0})
                                              : search.log_uniform(0.1, 17);
  const double unit = 1 / joint_lambda(draw.epsilon);
  const double decides = std::min(40.0 * static_cast<double>(b) * unit, 1e8);
  draw.cells = draw_cells(search, draw.grid, 3, decides);
  if (shape == Shape::kTies) {
    draw.cells = {
        {0, static_cast<std::uint32_t>(search.log_uniform(1, std::min(20 * decides, 1e8)))},
        {static_cast<std::uint32_t>(draw.grid - 1),
         static_cast<std::uint32_t>(search.log_uniform(1, decides + 1))}};
  }
  if (shape == Shape::kPartOfACell) {
    const auto huge = static_cast<std::uint32_t>(search.log_uniform(0x1p27, 0x1.dp28));
    const auto few = static_cast<std::uint32_t>(search.log_uniform(1, decides + 1));
    const auto last = static_cast<std::uint32_t>(draw.grid - 1);
    const bool is_low = search.chance(0.5);
    draw.cells = {{0, is_low ? huge : few}, {last, is_low ? few : huge}};
  }
  const bool is_huge = shape == Shape::kPartOfACell || (shape == Shape::kAny && search.chance(0.4));
  if (shape == Shape::kAny && is_huge) {
    draw.cells[search.below(draw.cells.size())].count =
        static_cast<std::uint32_t>(search.log_uniform(0x1p26, 0x1.cp28));
  }
  while (records_of(draw.cells) > kMostRecords) draw.cells.pop_back();
  if (draw.cells.empty()) draw.cells = {{0, 1}};
  draw.interval = shape == Shape::kAny    ? draw_interval(search, draw)
                  : shape == Shape::kTies ? PositionInterval{0, cell_start(draw.grid)}
                                          : draw_part_of_end(search, draw);
  draw.quantiles = draw_quantiles_about(search, b, draw.cells, decides);
  if (is_huge && search.chance(0.7)) aim_at_positions(search, draw);
  if (shape == Shape::kTies && search.chance(0.5)) {
    // Both ways round.
    for (double& q : draw.quantiles) q = 1 - q;
    std::ranges::reverse(draw.quantiles);
    std::swap(draw.cells[0].count, draw.cells[1].count);
  }
  return draw;
}

// ---- Windows
// ---------------------------------------------------------------------------------------

// |x - q s| + |n - x - (1 - q) s| is at least d / max(q, 1 - q) for every s if x is at distance d
// from q n, and some s of the lattice has at most half a step more. So every position with a rank
// at a distance of at most (limit - step) max(q, 1 - q) has a sum within the limit, and there is
// one for all quantiles: the others at the same share of the records. It must be in a slot.
void find_left_out_positions(Search& search) {
  const JointDraw draw = draw_joint(search, Shape::kAny, 1, 4);
  const Histogram data = histogram_of(draw.cells, search.work());
  const SmearedRank rank(data);
  const double lambda = draw.lambda();
  const JointUtility utility(draw.quantiles, lambda, heap());
  const ScaledRank begin = rank.at(draw.interval.begin);
  const double records = in_records(rank.at(draw.interval.end) - begin);
  const double limit = search.log_uniform(8, 280) / lambda;
  std::vector<double> targets;
  std::vector<RankStretch> stretches;
  for (std::size_t k = 1; k <= draw.quantiles.size(); ++k) {
    targets.push_back(utility.expected_before(k, records));
    stretches.push_back({targets.back(), targets.back()});
    for (const Segment& segment : draw.segments()) {
      const RankStretch cell{segment.rank, segment.last_rank()};
      if (cell.high - cell.low > 1 / lambda && cell.has(targets.back())) stretches.back() = cell;
    }
  }
  const SlotWidths widths{.targets = targets,
                          .finest = 1.5 / (lambda * static_cast<double>(targets.size())),
                          .near = 1 / lambda,
                          .growth = search.uniform(0.02, 0.3),
                          .farthest = limit,
                          .cells = stretches};
  const auto slots = cut_into_slots(rank, draw.interval, widths, search.work());
  const JointChain chain(slots, widths, records, utility, limit, heap());
  std::size_t number = 0;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const std::size_t first = number;
    while (chain.slot(number).positions.begin != chain.slot(number).positions.end) ++number;
    const std::size_t end = number++;
    const double q = draw.quantiles[k];
    const double reach = (limit - utility.lattice_step()) * std::max(q, 1 - q);
    for (int i = 0; i < 40; ++i) {
      const double near = targets[k] + search.uniform(-1, 1) * reach;
      const auto aimed = begin + static_cast<ScaledRank>(
                                     std::ldexp(std::clamp(near, 0.0, records), kPositionBits));
      const Position first_there = rank.first_reaching(aimed);
      const Position there = search.chance(0.5) ? first_there : rank.last_within(aimed);
      const Position position = std::clamp(there - search.below(2) * (there > 0 ? 1 : 0),
                                           draw.interval.begin, draw.interval.end - 1);
      const double here = in_records(rank.at(position) - begin);
      if (std::abs(here - targets[k]) > reach * (1 - 1e-9)) continue;
      bool is_held = false;
      for (std::size_t n = first; n < end; ++n) {
        const PositionInterval& held = chain.slot(n).positions;
        is_held = is_held || (held.begin <= position && position < held.end);
      }
      if (is_held) continue;
      search.report(
          text("position %llu, rank %.3f, with lambda F %.2f is in no window of quantile "
               "%.17g, rank %.3f, for a limit of lambda F %.2f: %s",
               static_cast<unsigned long long>(position), here,
               lambda * std::abs(here - targets[k]) / std::max(q, 1 - q), q, targets[k],
               lambda * limit, draw.text().c_str()));
      return;
    }
  }
}

// The bounds of the filter from above are at least the weight of all positions within its limit.
template <class Real>
void compare_filter(Search& search, const JointDraw& draw, const JointStatement& statement) {
  const Histogram data = histogram_of(draw.cells, search.work());
  const SmearedRank rank(data);
  const double lambda = draw.lambda();
  const JointUtility utility(draw.quantiles, lambda, heap());
  const double records = in_records(rank.at(draw.interval.end) - rank.at(draw.interval.begin));
  const Pattern& pattern = statement.patterns()[search.below(statement.patterns().size())];
  const double limit = pattern.near_cost / lambda * search.uniform(1.001, 1.3) + 1 / lambda;
  if (lambda * limit > 10000) return;  // the range of a long double ends at e^11355
  std::vector<double> targets;
  for (std::size_t k = 1; k <= draw.quantiles.size(); ++k) {
    targets.push_back(utility.expected_before(k, records));
  }
  const SlotWidths widths{.targets = targets,
                          .finest = 3 / (lambda * static_cast<double>(targets.size())),
                          .near = 1 / lambda,
                          .growth = 0.1,
                          .farthest = limit};
  const auto slots = cut_into_slots(rank, draw.interval, widths, search.work());
  if (slots.size() > 3000) return;
  JointProposal<Real> proposal(slots, records, utility, heap());
  // The filter has the volume of sorted positions, 1 / b! in all.
  const double weight = proposal.filter(pattern.s, limit, search.context().cancel) +
                        std::lgamma(static_cast<double>(draw.quantiles.size()) + 1);
  if (weight >= pattern.below - 1e-6) return;
  search.report(
      text("the filter for s = %.6f and a limit of lambda F %.3f has a weight of e^%.3f, "
           "and one pattern within it e^%.3f: %s",
           pattern.s, lambda * limit, weight, pattern.below, draw.text().c_str()));
}

void find_lost_weight(Search& search) {
  const JointDraw draw = draw_joint(search, Shape::kAny, 5, search.chance(0.2) ? 64 : 16);
  if (JointStatement::count_patterns(draw.segments().size(), draw.quantiles.size(), 400) == 400) {
    return;
  }
  const JointStatement statement = draw.statement();
  // Such sums are far from the end of the range of doubles, as those of a draw in doubles are.
  if (draw.quantiles.size() <= 16 && draw.lambda() * statement.records() < 300) {
    compare_filter<double>(search, draw, statement);
  } else {
    compare_filter<WideReal>(search, draw, statement);
  }
}

// ---- The law
// ---------------------------------------------------------------------------------------

// Whether a draw ends is decided with patience, which few shapes get: where many records lie on a
// position, and for many quantiles, good draws take long, too.
int questions_of(const JointDraw& draw, bool is_patient) {
  const int usual = draw.quantiles.size() > 16 ? 1000 : 60;
  return is_patient ? 60 * usual : usual;
}

// Draws from a shape, whose pattern each of them has.
class PatternDraws {
 public:
  PatternDraws(Search& search, const JointDraw& draw, const JointStatement& statement,
               bool is_patient)
      : search_(search),
        draw_(draw),
        statement_(statement),
        questions_(questions_of(draw, is_patient)),
        data_(histogram_of(draw.cells, search.work())),
        rank_(data_),
        positions_(draw.quantiles.size()) {}

  // One draw for nothing tells how many of them can be made with the work of `most` ordinary ones.
  int affordable(int most) {
    constexpr double kOrdinaryWork = 1e6;
    const std::uint64_t before = search_.context().cancel.elements();
    one();
    const auto work = static_cast<double>(search_.context().cancel.elements() - before);
    return static_cast<int>(std::clamp(most * kOrdinaryWork / (work + 1), 2.0, 1.0 * most));
  }

  // How often each pattern is drawn.
  std::vector<std::uint64_t> counts(int draws) {
    std::vector<std::uint64_t> counts(statement_.patterns().size());
    for (int i = 0; i < draws; ++i) {
      one();
      ++counts[statement_.pattern_of(positions_)];
    }
    return counts;
  }

 private:
  void one() {
    search_.allow_work(questions_);
    draw_joint_positions(rank_, draw_.interval, draw_.quantiles, draw_.epsilon, search_.context(),
                         positions_);
  }

  Search& search_;
  const JointDraw& draw_;
  const JointStatement& statement_;
  int questions_;
  Histogram data_;
  SmearedRank rank_;
  std::vector<Position> positions_;
};

struct Suspicion {
  std::size_t pattern;
  double excess;  // drawn and not expected, or expected and not drawn
};

std::optional<Suspicion> suspect(const JointStatement& statement,
                                 const std::vector<std::uint64_t>& counts, int draws) {
  Suspicion worst{0, 4};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto drawn = static_cast<double>(counts[i]);
    const double most = draws * statement.most_probability(i);
    const double least = draws * statement.least_probability(i);
    const double excess =
        std::max((drawn - most) / std::sqrt(most + 1), (least - drawn) / std::sqrt(drawn + 1));
    if (excess > worst.excess) worst = {i, excess};
  }
  if (worst.excess <= 4) return std::nullopt;
  return worst;
}

void compare_law(Search& search, const JointDraw& draw, int most_draws) {
  const JointStatement statement = draw.statement();
  if (statement.patterns().size() < 2) return;
  const bool is_patient = search.chance(0.03);
  try {
    PatternDraws source(search, draw, statement, is_patient);
    const int draws = source.affordable(most_draws);
    const auto found = suspect(statement, source.counts(draws), draws);
    if (!found) return;
    const int again = 8 * draws;
    const std::uint64_t drawn = source.counts(again)[found->pattern];
    const double false_alarm = search.next_false_alarm() / 2;
    const auto trials = static_cast<std::uint64_t>(again);
    const double most = statement.most_probability(found->pattern);
    const double least = statement.least_probability(found->pattern);
    if (test::lower_confidence_bound(drawn, trials, false_alarm) <= most &&
        test::upper_confidence_bound(drawn, trials, false_alarm) >= least) {
      return;
    }
    std::string pattern;
    for (const std::uint8_t count : statement.patterns()[found->pattern].counts) {
      pattern += text(" %d", count);
    }
    search.report(
        text("pattern%s is drawn %llu of %d times, but has a probability of %.3g to %.3g: %s",
             pattern.c_str(), static_cast<unsigned long long>(drawn), again, least, most,
             draw.text().c_str()));
  } catch (const Cancelled&) {
    if (is_patient) search.report("a draw does not end: " + draw.text());
  }
}

// Moves the number of records of one cell to where another pattern becomes the likeliest, and some
// records on: there the weights of far positions and of many records balance.
void balance(Search& search, JointDraw& draw) {
  std::size_t cell = search.below(draw.cells.size());
  // Not that of a cell of which an interval has a part.
  if (draw.cells[cell].count > 1U << 26) cell = (cell + 1) % draw.cells.size();
  const auto likeliest_with = [&](double count) {
    draw.cells[cell].count = static_cast<std::uint32_t>(count);
    return draw.statement().patterns()[draw.statement().likeliest()].counts;
  };
  const double room =
      static_cast<double>(kMostRecords - records_of(draw.cells)) + draw.cells[cell].count;
  double low = 1;
  double high =
      std::floor(std::min(80.0 * static_cast<double>(draw.quantiles.size()) / draw.lambda(), room));
  const auto at_low = likeliest_with(low);
  if (likeliest_with(high) == at_low) {
    draw.cells[cell].count =
        static_cast<std::uint32_t>(std::floor(search.log_uniform(1, high + 1)));
    return;
  }
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (likeliest_with(middle) == at_low ? low : high) = middle;
  }
  const double away = search.log_uniform(1, 40 / draw.lambda() + 2) * search.pick({-1.0, 1.0});
  draw.cells[cell].count =
      static_cast<std::uint32_t>(std::clamp(std::floor(low + away), 1.0, room));
}

void compare_joint_law(Search& search, Shape shape, std::size_t least, std::size_t most,
                       int draws) {
  constexpr std::size_t kMostPatterns = 500;
  JointDraw draw = draw_joint(search, shape, least, most);
  if (shape == Shape::kAny && search.chance(0.3)) {
    // Parts of cells and of empty stretches.
    const Position length = draw.interval.end - draw.interval.begin;
    draw.cuts.push_back(draw.interval.begin + search.below(length));
  }
  const std::size_t patterns =
      JointStatement::count_patterns(draw.segments().size(), draw.quantiles.size(), kMostPatterns);
  if (patterns == kMostPatterns) return;
  if (patterns < 150 && (shape != Shape::kAny || search.chance(0.5))) balance(search, draw);
  compare_law(search, draw, draws);
}

void compare_few(Search& search) {
  compare_joint_law(search, Shape::kAny, 1, 4, 24);
}
void compare_few_with_ties(Search& search) {
  compare_joint_law(search, Shape::kTies, 2, 4, 16);
}
void compare_few_in_part_of_a_cell(Search& search) {
  compare_joint_law(search, Shape::kPartOfACell, 1, 4, 16);
}
void compare_several(Search& search) {
  const Shape shape = search.pick({Shape::kAny, Shape::kTies, Shape::kPartOfACell});
  compare_joint_law(search, shape, 5, 16, 8);
}
void compare_many(Search& search) {
  const Shape shape = search.pick({Shape::kAny, Shape::kTies, Shape::kPartOfACell});
  compare_joint_law(search, shape, 17, search.chance(0.1) ? 128 : 33, 2);
}

// One row, or none: with so few the positions are those of uniform draws up to e^(lambda n).
void compare_without_rows(Search& search) {
  JointDraw draw{};
  draw.grid = std::max<std::uint64_t>(draw_grid(search), 2);
  draw.interval = {0, cell_start(draw.grid)};
  if (search.chance(0.5)) draw.cells = {{static_cast<std::uint32_t>(search.below(draw.grid)), 1}};
  const std::size_t b = 1 + search.below(search.chance(0.2) ? 128 : 12);
  draw.epsilon = search.log_uniform(min_joint_epsilon(b), 0.1);
  draw.quantiles = draw_quantiles_about(search, b, draw.cells, 1);
  draw.cuts = {search.below(draw.interval.end - 1) + 1};
  if (JointStatement::count_patterns(draw.segments().size(), b, 1000) == 1000) return;
  compare_law(search, draw, b > 16 ? 4 : 60);
}

}  // namespace

std::vector<Check> joint_checks() {
  const std::vector<Mechanism> all = {Mechanism::kJointQuantiles, Mechanism::kBlocksOfQuantiles,
                                      Mechanism::kAutoQuantiles, Mechanism::kDefaultQuantiles};
  return {{"joint windows", all, find_left_out_positions, 300},
          {"joint filter", all, find_lost_weight, 40},
          {"joint law, 1 to 4 quantiles", all, compare_few, 150},
          {"joint law, 2 to 4 quantiles, many ties", all, compare_few_with_ties, 100},
          {"joint law, 1 to 4 quantiles, part of a cell", all, compare_few_in_part_of_a_cell, 30},
          {"joint law, 5 to 16 quantiles", all, compare_several, 8},
          {"joint law, 17 to 128 quantiles", all, compare_many, 1},
          {"joint law without rows", all, compare_without_rows, 10}};
}

}  // namespace dpquantile::adversary
