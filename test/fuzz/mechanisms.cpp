// The mechanisms with random grids, records and parameters: answers lie on the grid and within the
// bounds, ascend, and take a bounded amount of work. Noise that is right is what test/privacy
// tests.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/cdf/cdf.hpp"
#include "core/cdf/cdf_encoding.hpp"
#include "core/contributions/user_rows.hpp"
#include "core/histogram/growing_histogram.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/moments/moments.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/selection/bounded_groups.hpp"
#include "core/selection/group_selection.hpp"
#include "core/tree/level_tree.hpp"
#include "core/user_level/user_grid_stats.hpp"
#include "core/user_level/user_mean.hpp"
#include "core/user_level/user_variance.hpp"
#include "fuzz/curve_checks.hpp"
#include "fuzz/target.hpp"
#include "fuzz/trial.hpp"

namespace dpquantile::fuzz {
namespace {

constexpr std::uint64_t kAnyWork = std::uint64_t{1} << 62;
constexpr std::size_t kMostRecords = 600;

FuzzedDataProvider provider(std::span<const std::uint8_t> bytes) {
  return {bytes.data(), bytes.size()};
}

// Epsilons below 0.01 make tables of noise that take most of the time.
PrivacyParameter any_privacy(FuzzedDataProvider& input) {
  const double value =
      input.ConsumeBool() ? input.ConsumeFloatingPointInRange(0.01, 20.0) : any_double(input);
  return input.ConsumeIntegralInRange(0, 2) == 0 ? zcdp(value) : pure(value);
}

std::uint64_t any_cells(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return input.ConsumeIntegralInRange<std::uint64_t>(1, 20);
    case 1:
      return ValueGrid::kDefaultCells;
    case 2:
      return ValueGrid::kMaxCells;
    default:
      return input.ConsumeIntegralInRange<std::uint64_t>(1, ValueGrid::kMaxCells);
  }
}

std::vector<std::uint32_t> any_records(FuzzedDataProvider& input, std::uint64_t cells) {
  std::vector<std::uint32_t> records(input.ConsumeIntegralInRange<std::size_t>(0, kMostRecords));
  const auto last = static_cast<std::uint32_t>(cells - 1);
  std::uint32_t cell = 0;
  for (std::uint32_t& record : records) {
    const auto choice = input.ConsumeIntegral<std::uint8_t>();
    if (choice < 64) cell = input.ConsumeIntegralInRange<std::uint32_t>(0, last);
    if (choice < 70) cell = choice % 2 == 0 ? 0 : last;
    if (choice > 200)
      cell = static_cast<std::uint32_t>((std::uint64_t{cell} + choice - 200) % cells);
    record = cell;
  }
  return records;
}

void quantiles(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const auto method = static_cast<QuantilesMethod>(input.ConsumeIntegralInRange(1, 7));
  const bool is_small = method == QuantilesMethod::kTree;
  const std::uint64_t cells =
      is_small ? input.ConsumeIntegralInRange<std::uint64_t>(1, 3000) : any_cells(input);
  std::vector<double> asked(input.ConsumeIntegralInRange<std::size_t>(1, 12));
  for (double& quantile : asked)
    quantile = input.ConsumeBool() ? input.ConsumeProbability<double>() : any_double(input);
  const PrivacyParameter privacy = any_privacy(input);
  std::vector<std::uint32_t> records = any_records(input, cells);
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    const QuantilesQuery query{method, privacy, cells, asked};
    check_quantiles_query(query);
    const Histogram data(records, cells, context);
    const QuantilesMechanism mechanism(query, context.memory);
    const auto answers = mechanism.release(data, context);
    require(answers.size() == asked.size(), "an answer for each quantile");
    for (std::size_t i = 0; i < asked.size(); ++i) {
      require(answers[i] < cells, "an answer is a cell of the grid");
      for (std::size_t j = 0; j < asked.size(); ++j) {
        require(asked[i] > asked[j] || answers[i] <= answers[j],
                "answers ascend with their quantiles");
      }
    }
  });
}

void cdf(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const auto method = static_cast<CdfMethod>(input.ConsumeIntegralInRange(1, 4));
  const auto bins = input.ConsumeIntegralInRange<std::uint32_t>(1, 300);
  const PrivacyParameter privacy = any_privacy(input);
  std::vector<std::uint64_t> counts(bins);
  for (std::uint64_t& count : counts) {
    count = input.ConsumeBool() ? input.ConsumeIntegral<std::uint8_t>()
                                : input.ConsumeIntegralInRange<std::uint64_t>(0, 1u << 24);
  }
  const double lower = any_double(input);
  const double upper = any_double(input);
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    check_privacy_parameter(privacy);
    const CdfDomain domain = CdfDomain::create(lower, upper, static_cast<double>(bins), {});
    const CdfMechanism mechanism(choose_cdf_plan(method, bins, privacy));
    const CdfCurve curve(domain, mechanism.plan(), mechanism.release(counts, context));
    check_curve(curve);
    const auto written = encode_cdf(curve, context.memory);
    require(
        std::ranges::equal(decode_cdf(written, context.memory).cumulative(), curve.cumulative()),
        "what is written is read");
  });
}

void iqr(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const double epsilon =
      input.ConsumeBool() ? input.ConsumeFloatingPointInRange(0.1, 1000.0) : any_double(input);
  const double delta =
      input.ConsumeBool() ? input.ConsumeFloatingPointInRange(1e-12, 0.5) : any_double(input);
  const auto copies = input.ConsumeIntegralInRange<std::size_t>(1, 40);
  std::vector<double> records;
  for (std::size_t n = input.ConsumeIntegralInRange<std::size_t>(0, 200); n > 0; --n) {
    const double value = any_double(input);
    if (!std::isnan(value)) records.insert(records.end(), copies, value);
  }
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    std::vector<double> changed = records;
    const auto answer = interquartile_range(changed, epsilon, delta, context);
    require(!answer || (std::isfinite(*answer) && *answer >= 0),
            "an interquartile range is finite and at least 0");
    require(changed.size() == records.size() && std::ranges::is_sorted(changed),
            "the records are sorted");
  });
}

void iqr_of_bounds(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const double lower = any_double(input);
  const double upper = any_double(input);
  const double granularity = any_double(input);
  const double epsilon = input.ConsumeFloatingPointInRange(0.01, 1000.0);
  const auto seed = input.ConsumeIntegral<std::uint32_t>();
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    const ValueGrid grid = ValueGrid::create(lower, upper, granularity);
    std::vector<std::uint32_t> records{0, grid.cell_of(lower), grid.cell_of(upper),
                                       grid.cell_of(any_double(input) + 0.0 == 0 ? lower : upper),
                                       static_cast<std::uint32_t>(seed % grid.cells)};
    for (const std::uint32_t record : records) {
      require(record < grid.cells, "a value has a cell");
      const double value = grid.value_of(record);
      require(lower <= value && value <= upper, "a value of the grid lies within the bounds");
    }
    const Histogram data(records, grid.cells, context);
    const double answer = IqrByQuantiles(grid, epsilon, context.memory).release(data, context);
    require(0 <= answer && answer <= upper - lower,
            "an interquartile range lies within the bounds");
  });
}

std::vector<UserRow> any_rows(FuzzedDataProvider& input, std::uint32_t grids) {
  std::vector<UserRow> rows(input.ConsumeIntegralInRange<std::size_t>(0, kMostRecords));
  for (UserRow& row : rows) {
    row.user = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint64_t>(0, 3)
                                   : input.ConsumeIntegral<std::uint64_t>();
    row.grid = input.ConsumeIntegralInRange<std::uint32_t>(0, grids - 1);
    row.value = std::min(input.ConsumeIntegral<std::uint32_t>(), FixedPoint::kOne);
  }
  return rows;
}

void user_statistics(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const UserQuery query{static_cast<UserMethod>(input.ConsumeIntegralInRange(1, 7)),
                        static_cast<ContributionRule>(input.ConsumeIntegralInRange(0, 2)),
                        input.ConsumeIntegralInRange<std::uint64_t>(0, 50), any_privacy(input)};
  const bool is_mean = input.ConsumeBool();
  std::vector<UserRow> rows = any_rows(input, 1);
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    const UserRows grouped(rows, Contribution::kUser, context);
    if (is_mean) {
      check_user_query(query);
      require(user_mean(grouped, query, context) <= FixedPoint::kOne,
              "a mean lies within the bounds");
    } else {
      check_user_variance_query(query);
      require(user_variance(grouped, query, context) <= FixedPoint::kLargestVariance,
              "a variance lies in its range");
    }
  });
}

void user_grids(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const PrivacyParameter privacy = any_privacy(input);
  const bool suppress = input.ConsumeBool();
  std::vector<UserRow> rows = any_rows(input, input.ConsumeIntegralInRange<std::uint32_t>(1, 40));
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (UserRow& row : rows)
    row.grid = numbers.emplace(row.grid, static_cast<std::uint32_t>(numbers.size())).first->second;
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    check_privacy_parameter(privacy);
    const UserRows grouped(rows, Contribution::kUserInGrid, context);
    const GridRelease release = user_grid_stats(grouped, static_cast<std::uint32_t>(numbers.size()),
                                                privacy, suppress, context);
    require(release.grids.size() == numbers.size(), "each grid with rows has statistics");
    for (const GridStatistics& grid : release.grids) {
      require(grid.mean <= FixedPoint::kOne && grid.variance <= FixedPoint::kLargestVariance,
              "statistics lie in their range");
      require(grid.mean_error >= 0 && grid.variance_error >= 0, "an error is not negative");
    }
  });
}

void moments(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const PrivacyParameter privacy = any_privacy(input);
  const double lower = any_double(input);
  const double upper = any_double(input);
  const auto degree = input.ConsumeBool() ? MomentsDegree::kMean : MomentsDegree::kVariance;
  std::vector<double> values(input.ConsumeIntegralInRange<std::size_t>(0, 100));
  for (double& value : values) value = any_double(input);
  const auto doublings = input.ConsumeIntegralInRange(0, 55);
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    const FixedPoint bounds = FixedPoint::create(lower, upper);
    const SumScale scale = SumScale::create(lower, upper);
    ValueSums sums;
    ValueSums shifted;
    for (const double value : values) {
      if (std::isnan(value)) continue;
      require(value_units(bounds, value) == bounds.units_of(value), "both roundings agree");
      sums.add(value_units(bounds, value));
      require(scale.shifted_units(value) <= 2 * SumScale::kSumOne, "shifted units are in range");
      shifted.add_shifted(scale.shifted_units(value));
    }
    for (int i = 0; i < doublings; ++i) {
      sums.add(ValueSums(sums));
      shifted.add(ValueSums(shifted));
    }
    const Moments released = release_moments(sums, bounds, degree, privacy, context.random);
    const auto check = [](const Estimate& estimate, double low, double high) {
      require(low <= estimate.value && estimate.value <= high, "a statistic is possible");
      require(estimate.error >= 0 && std::isfinite(estimate.error), "an error is finite");
    };
    const double most = std::numeric_limits<double>::max();
    const double width = upper - lower;
    check(released.count(), 0, most);
    check(released.sum(), -most, most);
    check(released.mean(), lower, upper);
    check(release_sum(shifted, scale, privacy, context.random), -most, most);
    if (degree == MomentsDegree::kVariance) {
      check(released.variance(), 0, width * width / 4 * (1 + 1e-12));
      check(released.sample_variance(), 0, width * width / 2 * (1 + 1e-12));
      check(released.stddev(), 0, width / 2 * (1 + 1e-12));
      check(released.sample_stddev(), 0, width * (1 + 1e-12));
    }
    release_count(sums.count, privacy, context.random);
  });
}

void growing_histogram(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const std::uint64_t cells = any_cells(input);
  const auto times = input.ConsumeIntegralInRange(1, 30);
  const std::vector<std::uint32_t> records = any_records(input, cells);
  const bool merges = input.ConsumeBool();
  const bool encodes = input.ConsumeBool();
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    GrowingHistogram growing(cells, context.memory);
    GrowingHistogram other(cells, context.memory);
    std::map<std::uint32_t, std::uint64_t> reference;
    for (int time = 0; time < times; ++time) {
      for (const std::uint32_t record : records) {
        GrowingHistogram& one = merges && time % 2 == 1 ? other : growing;
        if (one.full()) one.make_room(context.cancel);
        one.add(record);
        ++reference[record];
      }
      if (encodes && time % 7 == 3) growing.encode(context.cancel);
    }
    growing.add(other, context.cancel);
    growing.encode(context.cancel);
    const Histogram counted = growing.histogram(context);
    require(counted.runs() == reference.size() && counted.total() == growing.total(),
            "every cell with records is there");
    CellRunsReader reader(growing.encoded());
    std::size_t run = 0;
    for (const auto& [cell, count] : reference) {
      require(counted.cell(run) == cell && counted.count(run) == count, "a cell has its records");
      CellRun read{};
      require(reader.next(read) && read.cell == cell && read.count == count,
              "a run has its records");
      ++run;
    }
    CellRun none{};
    require(!reader.next(none), "there are no more runs");
  });
}

void selection(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const double epsilon =
      input.ConsumeBool() ? input.ConsumeFloatingPointInRange(1e-6, 1000.0) : any_double(input);
  const double delta =
      input.ConsumeBool() ? input.ConsumeFloatingPointInRange(1e-30, 0.5) : any_double(input);
  const auto groups_per_user = input.ConsumeIntegralInRange<std::uint64_t>(0, 1000);
  const auto most = input.ConsumeIntegralInRange<std::uint64_t>(1, 4);
  const auto groups = input.ConsumeIntegralInRange<std::uint32_t>(1, 20);
  std::vector<std::uint64_t> identities(groups);
  for (auto& identity : identities) identity = input.ConsumeIntegral<std::uint8_t>();
  std::vector<GroupMember> members(input.ConsumeIntegralInRange<std::size_t>(0, kMostRecords));
  for (GroupMember& member : members) {
    member = {input.ConsumeIntegralInRange<std::uint64_t>(0, 30),
              input.ConsumeIntegralInRange<std::uint32_t>(0, groups - 1)};
  }
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    std::vector<std::vector<bool>> is_in(31, std::vector<bool>(groups));
    for (const GroupMember& member : members) is_in[member.user][member.group] = true;
    std::vector<GroupMember> changed = members;
    const auto counts = bounded_group_counts(changed, identities, most, SipKey{1, 2, 3}, context);
    std::uint64_t expected = 0;
    for (const auto& user : is_in)
      expected +=
          std::min<std::uint64_t>(most, static_cast<std::uint64_t>(std::ranges::count(user, true)));
    std::uint64_t kept = 0;
    for (const std::uint64_t count : counts) kept += count;
    require(counts.size() == groups && kept == expected,
            "each user stays in as many groups as allowed");

    const GroupSelection decision(epsilon, delta, groups_per_user);
    double before = 0;
    for (std::uint64_t rows = 0; rows < 60; ++rows) {
      const double probability = decision.keep_probability(rows);
      require(before <= probability && probability <= 1, "more rows are kept more often");
      require(rows > 0 || probability == 0, "an empty group is never kept");
      before = probability;
    }
    const std::uint64_t always = decision.rows_always_kept();
    require(decision.keep_probability(always) == 1 && decision.draw_keep(always, context.random),
            "enough rows are always kept");
    require(decision.rows_kept_half_the_time() <= always, "half the time needs fewer rows");
    require(!decision.draw_keep(0, context.random), "an empty group is not drawn");
  });
}

void noisy_histogram(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input = provider(bytes);
  const PrivacyParameter privacy = any_privacy(input);
  std::vector<std::uint64_t> counts(input.ConsumeIntegralInRange<std::size_t>(0, 200));
  for (auto& count : counts)
    count = input.ConsumeIntegralInRange<std::uint64_t>(0, std::uint64_t{1} << 40);
  run_mechanism(input, kAnyWork, [&](const MechanismContext& context) {
    check_privacy_parameter(privacy);
    const auto released = release_histogram(counts, privacy, context);
    require(released.size() == counts.size(), "a count for each bin");
    require(std::ranges::all_of(released, [](std::int64_t count) { return count >= 0; }),
            "no count is negative");
    histogram_error(privacy, 0.95);
  });
}

const TargetName kQuantiles("quantiles", quantiles);
const TargetName kCdf("cdf", cdf);
const TargetName kIqr("iqr", iqr);
const TargetName kIqrOfBounds("iqr_of_bounds", iqr_of_bounds);
const TargetName kUserStatistics("user_statistics", user_statistics);
const TargetName kUserGrids("user_grids", user_grids);
const TargetName kMoments("moments", moments);
const TargetName kGrowing("growing_histogram", growing_histogram);
const TargetName kSelection("selection", selection);
const TargetName kNoisyHistogram("noisy_histogram", noisy_histogram);

}  // namespace
}  // namespace dpquantile::fuzz
