// Quantiles: docs/privacy.md, Lemmas 1 to 3, Theorem 4, Theorem 6 for those off a tree, Theorem 28
// for replacing.
#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/quantiles/quantiles.hpp"
#include "exhaustive/checks.hpp"
#include "exhaustive/histogram_of.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::exhaustive {

namespace {

using test::heap;

static_assert(kPositionBits == 3, "the Makefile has not changed rank.hpp");

using Quantiles = std::vector<double>;

std::string name_of(const char* what, const Quantiles& quantiles, double parameter, double real) {
  std::string name = what;
  for (const double q : quantiles) name += text(" %g", q);
  return name + text(", epsilon or rho %g", parameter) +
         (real == 0.5 ? "" : text(", real numbers %g", real));
}

// Adding and removing are the neighbours of a draw (Lemmas 2 and 3). A record in another cell is
// both, or one of them where its part of the interval stays the same.
ReleaseCosts costs_of_draw(double epsilon) {
  return {{epsilon, 0, rho_of_bounded_range(epsilon)},
          {2 * epsilon, 0, rho_of_bounded_range(2 * epsilon)}};
}

// The target rank is rounded to a multiple of 2^-3 records here, in place of 2^-24 (Lemma 2). Where
// it is no multiple, a record more changes the distances to it by this much more, as a part of what
// is allowed.
double rounding_of_target(double q) {
  return 1 / static_cast<double>(kCellPositions) / std::max(q, 1 - q);
}

// The largest part of a record that lies in the interval.
double part_inside(PositionInterval interval) {
  Position most = 0;
  for (std::uint64_t cell = cell_at(interval.begin); cell <= cell_at(interval.end - 1); ++cell) {
    most = std::max(most, std::min(interval.end, cell_start(cell + 1)) -
                              std::max(interval.begin, cell_start(cell)));
  }
  return static_cast<double>(most) / static_cast<double>(kCellPositions);
}

Answer draw_one(const Counts& counts, PositionInterval interval, double q, double epsilon) {
  const test::TestContext context;
  const Histogram data = histogram_of(counts, context);
  return {static_cast<std::int64_t>(
      draw_quantile_position(SmearedRank(data), interval, q, epsilon, context))};
}

// One quantile on the whole axis. Some data have many records in a cell. The target is a multiple
// of 2^-3 records.
void one_quantile(Report& report) {
  for (const double q : {0.0, 0.125, 0.5, 0.875, 1.0}) {
    for (const double epsilon : {0.25, 1.0, 6.0, 40.0}) {
      const auto compare = [&](const std::vector<Counts>& data) {
        compare_counts(report, name_of("one quantile", {q}, epsilon, 0.5), data,
                       costs_of_draw(epsilon), {.least_chance = 0}, [&](const Counts& counts) {
                         return draw_one(counts, {0, cell_start(counts.size())}, q, epsilon);
                       });
      };
      compare(all_counts(3, report.by_effort(3, 12)));
      compare(all_counts(2, report.by_effort(12, 200)));
    }
  }
}

// The same where the interval begins and ends inside cells.
void one_quantile_inside(Report& report) {
  constexpr std::uint64_t kInset = 3;
  for (const double q : {0.0, 0.4, 1.0}) {
    for (const double epsilon : {1.0, 40.0}) {
      const bool is_rounded = q > 0 && q < 1;
      const PositionInterval interval{kInset, cell_start(2) - kInset};
      const double allowed =
          epsilon * (part_inside(interval) + (is_rounded ? rounding_of_target(q) : 0));
      const auto draw = [&](const Counts& counts) {
        return draw_one(counts, {kInset, cell_start(counts.size()) - kInset}, q, epsilon);
      };
      compare_counts(report, name_of("one quantile, inside", {q}, epsilon, 0.5),
                     all_counts(2, report.by_effort(12, 100)), costs_of_draw(allowed),
                     {.least_chance = 0}, draw);
    }
  }
}

// Several quantiles in one draw.
void compare_joint(Report& report, const Quantiles& quantiles, double epsilon,
                   const std::vector<Counts>& data, PositionInterval interval,
                   const Following& following) {
  const std::string name =
      name_of("joint quantiles", quantiles, epsilon, following.real) +
      text(", positions %llu to %llu", static_cast<unsigned long long>(interval.begin),
           static_cast<unsigned long long>(interval.end));
  compare_counts(report, name, data, costs_of_draw(epsilon * part_inside(interval)), following,
                 [&](const Counts& counts) {
                   const test::TestContext context;
                   const Histogram histogram = histogram_of(counts, context);
                   std::vector<Position> positions(quantiles.size());
                   draw_joint_positions(SmearedRank(histogram), interval, quantiles, epsilon,
                                        context, positions);
                   return Answer(positions.begin(), positions.end());
                 });
}

// The program for at most four quantiles.
void few_joint(Report& report) {
  for (const double epsilon : {2.0, 16.0}) {
    for (const double real : {0.05, 0.95}) {
      compare_joint(report, {0.5, 0.9}, epsilon, all_counts(2, report.by_effort(3, 12)), {6, 10},
                    {.real = real});
    }
    compare_joint(report, {0.1, 0.5, 0.6, 0.9}, epsilon, all_counts(2, report.by_effort(3, 12)),
                  {7, 9}, {});
    // The interval begins or ends inside a cell.
    compare_joint(report, {0.9, 0.99}, epsilon, all_counts(2, report.by_effort(8, 40)), {7, 9}, {});
  }
}

// The interval has one position of each of two cells, of which one or both have many records: a
// position has up to `most` / 8 of them.
void heavy_joint(Report& report) {
  const std::uint64_t most = report.by_effort(24, 300);
  for (const std::uint64_t beside : {0U, 40U}) {
    std::vector<Counts> data;
    for (std::uint64_t count = 0; count <= most; ++count) data.push_back({count, beside});
    compare_joint(report, {0.5, 0.9}, 16, data, {7, 9}, {});
  }
}

// The program for more quantiles, in doubles and, where a position has many records, in wider
// numbers.
void many_joint(Report& report) {
  compare_joint(report, {0.1, 0.3, 0.5, 0.7, 0.9}, 2, all_counts(2, report.by_effort(2, 6)), {7, 9},
                {});
  compare_joint(report, {0.5, 0.9}, 16, {{8, 0}, {8, 1}, {9, 0}}, {7, 9}, {});
}

// ---- All quantiles of a query
// --------------------------------------------------------------------

// Methods that draw one quantile after the other, and those of a tree. Draws below the first are
// within intervals, where targets are rounded.
void queries(Report& report) {
  struct Query {
    QuantilesMethod method;
    PrivacyParameter privacy;
    std::uint64_t cells;
    Quantiles quantiles;
    bool is_rounded;
  };
  const Quantiles quartiles = {0.25, 0.5, 0.75};
  const Query all[] = {
      {QuantilesMethod::kApproximate, pure(2), 2, {0.5}, false},
      {QuantilesMethod::kBlocks, pure(2), 3, {0.5}, false},
      {QuantilesMethod::kApproximate, pure(4), 2, quartiles, true},
      {QuantilesMethod::kApproximate, zcdp(1), 2, quartiles, true},
      {QuantilesMethod::kAuto, zcdp(2), 2, {0.5}, false},
      {QuantilesMethod::kIndependent, pure(4), 2, quartiles, false},
      {QuantilesMethod::kIndependent, zcdp(1), 2, {0, 0.5, 0.5, 1}, false},
      {QuantilesMethod::kTree, pure(6), 2, quartiles, false},
      {QuantilesMethod::kTree, zcdp(6), 3, quartiles, false},
  };
  for (const auto& [method, privacy, cells, quantiles, is_rounded] : all) {
    const QuantilesQuery query{method, privacy, cells, quantiles};
    const QuantilesMechanism mechanism(query, heap());
    ReleaseCosts costs = mechanism.costs();
    const double more = is_rounded ? 1 + rounding_of_target(0.5) : 1;
    for (PrivacyCost* cost : {&costs.own, &costs.replacing}) {
      if (cost->epsilon) cost->epsilon = *cost->epsilon * more;
      if (cost->rho) cost->rho = *cost->rho * more * more;
    }
    compare_counts(report,
                   name_of("query", quantiles, privacy.value, 0.5) +
                       text(", method %d", static_cast<int>(method)),
                   all_counts(static_cast<std::size_t>(cells), report.by_effort(3, 8)), costs,
                   {.least_chance = report.by_effort(1e-7, 1e-9)}, [&](const Counts& counts) {
                     const test::TestContext context;
                     const Histogram data = histogram_of(counts, context);
                     const auto cells_drawn = mechanism.release(data, context);
                     return Answer(cells_drawn.begin(), cells_drawn.end());
                   });
  }
}

// Two quartiles in one draw, on all positions of two cells.
void iqr_by_quantiles(Report& report) {
  const ValueGrid grid = ValueGrid::of_cells(0, 1, 1, 2);
  const IqrByQuantiles mechanism(grid, 3, heap());
  compare_counts(report, "iqr by quantiles", all_counts(2, report.by_effort(1, 8)),
                 mechanism.costs(), {}, [&](const Counts& counts) -> Answer {
                   const test::TestContext context;
                   return {bits_of(mechanism.release(histogram_of(counts, context), context))};
                 });
}

}  // namespace

std::vector<Check> quantile_checks() {
  return {
      {"one quantile", one_quantile},        {"one quantile, inside cells", one_quantile_inside},
      {"joint quantiles, few", few_joint},   {"joint quantiles, heavy cells", heavy_joint},
      {"joint quantiles, many", many_joint}, {"queries for quantiles", queries},
      {"iqr by quantiles", iqr_by_quantiles}};
}

}  // namespace dpquantile::exhaustive
