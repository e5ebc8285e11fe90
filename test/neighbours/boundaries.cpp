// The mechanisms that a tape has: each call of one is one event, however often it asks for random
// numbers. The linker puts a function of this file in the place of each call between source files
// (--wrap, test/attackers.mk). The list, and why each of them is a boundary:
//
//   counts, sums, Bernstein sums, products of two values, bins, nodes of curves, sums of users, one
//   statistic of users:
//     an integer vector with noise of a known spread in each coordinate. recording.py adds up what
//     the difference of two vectors costs with this noise.
//   one quantile, joint quantiles, an interval of Levy et al., a window of array means: the
//     exponential mechanism. How often it proposes depends on data, so only the result is kept.
//     All utilities move by at most 1 if one record, or one array, is added.
//   the fullest of several bins: the largest of noisy counts, of which nothing else is kept. A
//     record more changes one count, by 1.
//   all quantiles of a call, the range by propose-test-release: draws that follow one another. They
//     are given one histogram, or one sorted list, and have one guarantee.
//   whether a group is shown (GroupSelection::draw_keep) is in noise.cpp.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/cdf/cdf.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/moments/bernstein_pairs.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/noisy_histogram/modal_bin.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/user_level/bounded_sums.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/window_interval.hpp"
#include "tape.hpp"
#include "wrapped.hpp"

namespace dpquantile {

namespace {

using tape::MechanismCall;
using Counts = std::span<const std::uint64_t>;
using Context = MechanismContext;

std::uint64_t sum_of(Counts counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

PrivacyParameter guarantee_of(const PrivacyCost& cost) {
  return cost.epsilon ? pure(*cost.epsilon) : zcdp(*cost.rho);
}

void add_cells(MechanismCall& mechanism, const Histogram& data) {
  for (std::size_t run = 0; run < data.runs(); ++run) {
    mechanism.add_input(data.cell(run), data.count(run));
  }
}

void add_arrays(MechanismCall& mechanism, std::span<const FilledArray> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) mechanism.add_input(i, arrays[i].sum);
}

ClippingInterval exchanged(MechanismCall& mechanism, ClippingInterval interval) {
  std::uint64_t ends[] = {interval.low, interval.high};
  mechanism.exchange(ends);
  return {static_cast<std::uint32_t>(ends[0]), static_cast<std::uint32_t>(ends[1])};
}

std::uint32_t exchanged(MechanismCall& mechanism, std::uint32_t answer) {
  std::uint64_t output[] = {answer};
  mechanism.exchange(output);
  return static_cast<std::uint32_t>(output[0]);
}

// Numbers of 64 bits, bit by bit.
template <class Number>
void exchange_all(MechanismCall& mechanism, std::span<Number> numbers) {
  std::vector<std::uint64_t> outputs;
  for (const Number number : numbers) outputs.push_back(std::bit_cast<std::uint64_t>(number));
  mechanism.exchange(outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) numbers[i] = std::bit_cast<Number>(outputs[i]);
}

template <class Numbers>
Numbers exchanged_all(MechanismCall& mechanism, Numbers numbers) {
  exchange_all(mechanism, std::span(numbers));
  return numbers;
}

void add_nodes(MechanismCall& mechanism, Counts counts, const PreparedCdf& cdf,
               const Context& context) {
  const tape::Silence silence;
  mechanism.add_inputs(noisy_measurements(counts, cdf, context));
}

void add_sums(MechanismCall& mechanism, const UserRows& rows, const BoundedUnits& units,
              const Context& context) {
  const BoundedSums sums = bounded_sums(rows, units, context.cancel);
  mechanism.add_inputs(std::span(sums.parts).first(units.parts));
}

}  // namespace

DPQ_WRAPPED(NoisyCount, release_count,
            "_ZN10dpquantile13release_countE" DPQ_U64 "RKNS_16PrivacyParameterERNS_12RandomStreamE",
            (std::uint64_t exact, const PrivacyParameter& privacy, RandomStream& random)) {
  MechanismCall mechanism("count", privacy, exact);
  mechanism.add_input(0, exact);
  NoisyCount released = original_release_count(exact, privacy, random);
  exchange_all(mechanism, std::span(&released.count, 1));
  return released;
}

DPQ_WRAPPED(
    Estimate, release_sum,
    "_ZN10dpquantile11release_sumERKNS_9ValueSumsERKNS_8SumScaleERKNS_16PrivacyParameterERNS"
    "_12RandomStreamE",
    (const ValueSums& values, const SumScale& scale, const PrivacyParameter& privacy,
     RandomStream& random)) {
  MechanismCall mechanism("sum", privacy, values.count);
  // In its own units, which are coarser under rho.
  const int bits = privacy.measure == PrivacyMeasure::kPure
                       ? static_cast<int>(SumScale::kSumBits)
                       : gaussian_sensitivity_bits(privacy.value, 31);
  const auto sum = static_cast<int128_t>(values.sum.value()) -
                   int128_t{values.count} * int128_t{SumScale::kSumOne};
  mechanism.add_input(0, sum >> (static_cast<int>(SumScale::kSumBits) - bits));
  Estimate released = original_release_sum(values, scale, privacy, random);
  exchange_all(mechanism, std::span(&released.value, 1));
  return released;
}

DPQ_WRAPPED(NoisyBernsteinSums, release_bernstein_sums,
            "_ZN10dpquantile22release_bernstein_sumsERKNS_9ValueSumsENS_13MomentsDegreeERKNS_"
            "16PrivacyParameterERNS_12RandomStreamE",
            (const ValueSums& sums, MomentsDegree degree, const PrivacyParameter& privacy,
             RandomStream& random)) {
  MechanismCall mechanism("Bernstein sums", privacy, sums.count);
  const auto exact = bernstein_sums(sums, bernstein_units(degree, privacy));
  mechanism.add_inputs(std::span(exact).first(static_cast<std::size_t>(bernstein_parts(degree))));
  NoisyBernsteinSums released = original_release_bernstein_sums(sums, degree, privacy, random);
  exchange_all(mechanism, std::span<double>(released.part));
  return released;
}

DPQ_WRAPPED(NoisyPairSums, release_pair_sums,
            "_ZN10dpquantile17release_pair_sumsERKNS_8PairSumsERKNS_11PairDegreesERKNS_"
            "16PrivacyParameterERNS_12RandomStreamE",
            (const PairSums& sums, const PairDegrees& degrees, const PrivacyParameter& privacy,
             RandomStream& random)) {
  MechanismCall mechanism("products of two values", privacy, sums.count);
  // The sums that get noise, in the order of their noise
  const auto exact = pair_sums(sums, pair_units(degrees, privacy));
  const auto weights = static_cast<std::size_t>(bernstein_parts(MomentsDegree::kVariance));
  std::vector<uint128_t> noisy;
  for (std::size_t place = 0; place < exact.size(); ++place) {
    const bool is_released =
        place / weights < static_cast<std::size_t>(bernstein_parts(degrees.x)) &&
        place % weights < static_cast<std::size_t>(bernstein_parts(degrees.value));
    if (is_released) noisy.push_back(exact[place]);
  }
  mechanism.add_inputs(noisy);
  NoisyPairSums released = original_release_pair_sums(sums, degrees, privacy, random);
  exchange_all(mechanism, std::span<double>(released.part));
  return released;
}

DPQ_WRAPPED(std::pmr::vector<std::int64_t>, release_histogram,
            "_ZN10dpquantile17release_histogramESt4spanIK" DPQ_U64 "L" DPQ_DYNAMIC
            "EERKNS_16PrivacyParameterERKNS_16MechanismContextE",
            (Counts counts, const PrivacyParameter& privacy, const Context& context)) {
  MechanismCall mechanism("bins", privacy, sum_of(counts));
  mechanism.add_inputs(counts);
  return exchanged_all(mechanism, original_release_histogram(counts, privacy, context));
}

DPQ_WRAPPED(std::size_t, draw_modal_bin,
            "_ZN10dpquantile14draw_modal_binESt4spanIK" DPQ_U64 "L" DPQ_DYNAMIC
            "EEdRKNS_16MechanismContextE",
            (Counts counts, double epsilon, const Context& context)) {
  MechanismCall mechanism("fullest bin", pure(epsilon), sum_of(counts));
  mechanism.add_inputs(counts);
  std::uint64_t output[] = {original_draw_modal_bin(counts, epsilon, context)};
  mechanism.exchange(output);
  return output[0];
}

DPQ_WRAPPED(std::optional<LearnedBounds>, learn_bounds,
            "_ZN10dpquantile12learn_boundsERKNS_11OrdinalGridESt4spanIK" DPQ_U64 "L" DPQ_DYNAMIC
            "EERKNS_16PrivacyParameterERKNS_16MechanismContextE",
            (const OrdinalGrid& grid, Counts counts, const PrivacyParameter& privacy,
             const Context& context)) {
  MechanismCall mechanism("bins", privacy, sum_of(counts));
  mechanism.add_inputs(counts);
  const auto bounds = original_learn_bounds(grid, counts, privacy, context);
  const LearnedBounds any = bounds.value_or(LearnedBounds{});
  std::uint64_t output[] = {bounds ? 1U : 0U, std::bit_cast<std::uint64_t>(any.lower),
                            std::bit_cast<std::uint64_t>(any.upper)};
  mechanism.exchange(output);
  if (output[0] == 0) return std::nullopt;
  return LearnedBounds{std::bit_cast<double>(output[1]), std::bit_cast<double>(output[2])};
}

DPQ_WRAPPED(std::pmr::vector<std::int64_t>, release_cdf,
            "_ZN10dpquantile11release_cdfESt4spanIK" DPQ_U64 "L" DPQ_DYNAMIC
            "EERKNS_11PreparedCdfERKNS_16MechanismContextE",
            (Counts counts, const PreparedCdf& cdf, const Context& context)) {
  MechanismCall mechanism("curve", cdf.plan().privacy, sum_of(counts));
  add_nodes(mechanism, counts, cdf, context);
  return exchanged_all(mechanism, original_release_cdf(counts, cdf, context));
}

DPQ_WRAPPED(std::pmr::vector<double>, release_unrounded_cdf,
            "_ZN10dpquantile21release_unrounded_cdfESt4spanIK" DPQ_U64 "L" DPQ_DYNAMIC
            "EERKNS_11PreparedCdfERKNS_16MechanismContextE",
            (Counts counts, const PreparedCdf& cdf, const Context& context)) {
  MechanismCall mechanism("curve", cdf.plan().privacy, sum_of(counts));
  add_nodes(mechanism, counts, cdf, context);
  return exchanged_all(mechanism, original_release_unrounded_cdf(counts, cdf, context));
}

DPQ_WRAPPED(
    Position, draw_quantile_position,
    "_ZN10dpquantile22draw_quantile_positionERKNS_11SmearedRankENS_16PositionIntervalEddRKNS"
    "_16MechanismContextE",
    (const SmearedRank& rank, PositionInterval interval, double q, double epsilon,
     const Context& context)) {
  MechanismCall mechanism("one quantile", pure(epsilon), 0);
  for (const Position end : {interval.begin, interval.end}) {
    mechanism.add_public(static_cast<double>(end));
  }
  mechanism.add_public(q);
  std::uint64_t position[] = {original_draw_quantile_position(rank, interval, q, epsilon, context)};
  mechanism.exchange(position);
  return position[0];
}

DPQ_WRAPPED(
    void, draw_joint_positions,
    "_ZN10dpquantile20draw_joint_positionsERKNS_11SmearedRankENS_16PositionIntervalESt4spanIK"
    "dL" DPQ_DYNAMIC "EEdRKNS_16MechanismContextES4_I" DPQ_U64 "L" DPQ_DYNAMIC "EE",
    (const SmearedRank& rank, PositionInterval interval, std::span<const double> quantiles,
     double epsilon, const Context& context, std::span<Position> positions)) {
  MechanismCall mechanism("joint quantiles", pure(epsilon), 0);
  for (const Position end : {interval.begin, interval.end}) {
    mechanism.add_public(static_cast<double>(end));
  }
  for (const double q : quantiles) mechanism.add_public(q);
  original_draw_joint_positions(rank, interval, quantiles, epsilon, context, positions);
  mechanism.exchange(positions);
}

DPQ_WRAPPED(std::uint32_t, integer_mechanism_within,
            "_ZN10dpquantile24integer_mechanism_withinEjRKNS_12IntegerQueryERKNS_"
            "16PrivacyParameterE" DPQ_U64 "RNS_12RandomStreamE",
            (std::uint32_t largest, const IntegerQuery& query, const PrivacyParameter& privacy,
             std::uint64_t parts, RandomStream& random)) {
  const double part = privacy.value / static_cast<double>(parts);
  MechanismCall mechanism("one statistic", {privacy.measure, part}, 0);
  mechanism.add_public(static_cast<double>(query.sensitivity));
  mechanism.add_input(0, query.answer);
  return exchanged(mechanism,
                   original_integer_mechanism_within(largest, query, privacy, parts, random));
}

DPQ_WRAPPED(ClippingInterval, draw_levy_interval,
            "_ZN10dpquantile18draw_levy_intervalESt4spanIKNS_11FilledArrayEL" DPQ_DYNAMIC
            "EEjdRKNS_16MechanismContextE",
            (std::span<const FilledArray> arrays, std::uint32_t half_width, double epsilon,
             const Context& context)) {
  MechanismCall mechanism("interval of arrays", pure(epsilon), 0);
  mechanism.add_public(half_width);
  mechanism.add_public(static_cast<double>(arrays.size()));
  add_arrays(mechanism, arrays);
  return exchanged(mechanism, original_draw_levy_interval(arrays, half_width, epsilon, context));
}

DPQ_WRAPPED(ClippingInterval, draw_window_interval,
            "_ZN10dpquantile20draw_window_intervalESt4spanIKNS_11FilledArrayEL" DPQ_DYNAMIC
            "EERKNS_10WindowPlanEdRKNS_16MechanismContextE",
            (std::span<const FilledArray> arrays, const WindowPlan& plan, double epsilon,
             const Context& context)) {
  MechanismCall mechanism("interval of arrays", pure(epsilon), 0);
  mechanism.add_public(plan.finest);
  mechanism.add_public(static_cast<double>(arrays.size()));
  add_arrays(mechanism, arrays);
  return exchanged(mechanism, original_draw_window_interval(arrays, plan, epsilon, context));
}

DPQ_WRAPPED(std::uint32_t, bounded_mean,
            "_ZN10dpquantile12bounded_meanERKNS_8UserRowsE" DPQ_U64
            "RKNS_16PrivacyParameterERKNS_16MechanismContextE",
            (const UserRows& rows, std::uint64_t contributions, const PrivacyParameter& privacy,
             const Context& context)) {
  MechanismCall mechanism("sums of users", privacy, rows.size());
  add_sums(mechanism, rows, bounded_units(kMeanParts, contributions, privacy), context);
  return exchanged(mechanism, original_bounded_mean(rows, contributions, privacy, context));
}

DPQ_WRAPPED(std::uint32_t, bounded_variance,
            "_ZN10dpquantile16bounded_varianceERKNS_8UserRowsE" DPQ_U64
            "RKNS_16PrivacyParameterERKNS_16MechanismContextE",
            (const UserRows& rows, std::uint64_t contributions, const PrivacyParameter& privacy,
             const Context& context)) {
  MechanismCall mechanism("sums of users", privacy, rows.size());
  add_sums(mechanism, rows, bounded_units(kVarianceParts, contributions, privacy), context);
  return exchanged(mechanism, original_bounded_variance(rows, contributions, privacy, context));
}

DPQ_WRAPPED(std::pmr::vector<std::uint32_t>, quantiles_release,
            "_ZNK10dpquantile18QuantilesMechanism7releaseERKNS_9HistogramERKNS_16MechanismContextE",
            (const QuantilesMechanism* quantiles, const Histogram& data, const Context& context)) {
  MechanismCall mechanism("quantiles", guarantee_of(quantiles->cost()), data.total());
  add_cells(mechanism, data);
  return original_quantiles_release(quantiles, data, context);
}

DPQ_WRAPPED(double, range_release,
            "_ZNK10dpquantile14IqrByQuantiles7releaseERKNS_9HistogramERKNS_16MechanismContextE",
            (const IqrByQuantiles* range, const Histogram& data, const Context& context)) {
  MechanismCall mechanism("quantiles", guarantee_of(range->cost()), data.total());
  add_cells(mechanism, data);
  return original_range_release(range, data, context);
}

DPQ_WRAPPED(std::optional<double>, interquartile_range,
            "_ZN10dpquantile19interquartile_rangeESt4spanIdL" DPQ_DYNAMIC
            "EEddRKNS_16MechanismContextE",
            (std::span<double> records, double epsilon, double delta, const Context& context)) {
  MechanismCall mechanism("range of values", pure(epsilon), records.size());
  std::vector<double> sorted(records.begin(), records.end());
  std::ranges::sort(sorted);
  for (const double record : sorted) mechanism.add_input(std::bit_cast<std::uint64_t>(record), 1);
  const std::optional<double> range =
      original_interquartile_range(records, epsilon, delta, context);
  std::uint64_t output[] = {range ? 1U : 0U, std::bit_cast<std::uint64_t>(range.value_or(0))};
  mechanism.exchange(output);
  return output[0] != 0 ? std::optional(std::bit_cast<double>(output[1])) : std::nullopt;
}

}  // namespace dpquantile
