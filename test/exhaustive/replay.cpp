#include "exhaustive/replay.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/exponential/rank.hpp"
#include "core/user_level/clipping_interval.hpp"
#include "exhaustive/comparison.hpp"

namespace dpquantile::exhaustive {

namespace {

constexpr double kRounding = 1e-9;

// Ranks are compared at so many positions of an interval, and at its ends.
constexpr std::uint64_t kProbes = 16;

// The draws that are not recorded belong to mechanisms that are.
[[noreturn]] void unexpected() {
  throw std::logic_error("a draw that no recording knows");
}

// The part of a record by which ranks differ within the interval.
double part_of_record(const Drawn& one, const Drawn& other) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const std::int64_t here = one.inputs[i] - one.inputs[0];
    const std::int64_t there = other.inputs[i] - other.inputs[0];
    least = std::min(least, here - there);
    most = std::max(most, here - there);
  }
  return in_records(most - least);
}

// The number of arrays that differ. Their rows are public.
std::size_t arrays_apart(const Drawn& one, const Drawn& other) {
  std::size_t apart = 0;
  for (std::size_t i = 0; i < one.inputs.size(); i += 2) {
    apart += one.inputs[i] != other.inputs[i] ? 1 : 0;
    if (one.inputs[i + 1] != other.inputs[i + 1]) return one.inputs.size();
  }
  return apart;
}

bool is_same_draw(const Drawn& one, const Drawn& other) {
  return one.kind == other.kind && one.parameters == other.parameters && one.shape == other.shape &&
         one.spread == other.spread && one.epsilon == other.epsilon &&
         one.inputs.size() == other.inputs.size();
}

double square(double x) {
  return x * x;
}

}  // namespace

std::size_t Recording::outcome(std::span<const double>, std::uint64_t) {
  unexpected();
}

bool Recording::coin(double) {
  unexpected();
}

uint128_t Recording::in_steps(uint128_t, std::uint64_t) {
  unexpected();
}

std::int64_t Recording::noise(NoiseShape shape, double spread) {
  Drawn drawn{Drawn::Kind::kNoise, {}};
  drawn.shape = shape;
  drawn.spread = spread;
  drawn_.push_back(std::move(drawn));
  return std::llround(spreads_ * spread) + units_;
}

bool Recording::positions(const RankDraw& call, std::span<std::uint64_t> positions) {
  Drawn drawn{Drawn::Kind::kPositions, {call.quantiles.begin(), call.quantiles.end()}};
  drawn.parameters.push_back(static_cast<double>(call.begin));
  drawn.parameters.push_back(static_cast<double>(call.end));
  drawn.parameters.push_back(call.is_joint ? 1 : 0);
  drawn.epsilon = call.epsilon;
  for (std::uint64_t i = 0; i <= kProbes; ++i) {
    const auto part = static_cast<double>(i) / kProbes;
    const auto offset =
        static_cast<std::uint64_t>(part * static_cast<double>(call.end - call.begin));
    drawn.inputs.push_back(call.rank.at(i == kProbes ? call.end : call.begin + offset));
  }
  drawn_.push_back(std::move(drawn));
  for (std::uint64_t& position : positions) {
    position = call.begin + generator_() % (call.end - call.begin);
  }
  std::ranges::sort(positions);
  return true;
}

bool Recording::interval(const IntervalDraw& call, std::uint32_t* low, std::uint32_t* high) {
  Drawn drawn{Drawn::Kind::kInterval, {call.parameters.begin(), call.parameters.end() - 1}};
  drawn.epsilon = call.parameters.back();
  for (const FilledArray& array : call.arrays) {
    drawn.inputs.push_back(static_cast<std::int64_t>(array.sum));
    drawn.inputs.push_back(static_cast<std::int64_t>(array.rows));
  }
  drawn_.push_back(std::move(drawn));
  constexpr std::uint64_t kEnds = (std::uint64_t{1} << 31) + 1;
  const std::uint64_t ends[] = {generator_() % kEnds, generator_() % kEnds};
  *low = static_cast<std::uint32_t>(std::min(ends[0], ends[1]));
  *high = static_cast<std::uint32_t>(std::max(ends[0], ends[1]));
  return true;
}

std::string difference(const Run& one, const Run& other, const PrivacyParameter& allowed) {
  if (one.drawn.size() != other.drawn.size()) {
    return text("%zu draws on one and %zu on the other", one.drawn.size(), other.drawn.size());
  }
  const bool is_pure = allowed.measure == PrivacyMeasure::kPure;
  double spent = 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < one.drawn.size(); ++i) {
    const Drawn& here = one.drawn[i];
    const Drawn& there = other.drawn[i];
    if (!is_same_draw(here, there)) return text("draw %zu is another one", i);
    switch (here.kind) {
      case Drawn::Kind::kNoise: {
        if (one.numbers.empty()) break;
        if ((here.shape == NoiseShape::kLaplace) != is_pure) return "noise of the other measure";
        const double apart =
            std::abs(one.numbers.at(number) - other.numbers.at(number)) / here.spread;
        spent += is_pure ? apart : square(apart) / 2;
        ++number;
        break;
      }
      case Drawn::Kind::kPositions: {
        const double epsilon = part_of_record(here, there) * here.epsilon;
        spent += is_pure ? epsilon : square(epsilon) / 8;
        break;
      }
      case Drawn::Kind::kInterval: {
        if (arrays_apart(here, there) > 1) return "an interval of arrays of which several differ";
        spent += is_pure ? here.epsilon : square(here.epsilon) / 8;
        break;
      }
    }
  }
  if (number != one.numbers.size() || one.numbers.size() != other.numbers.size()) {
    return text("%zu numbers with noise for %zu draws", one.numbers.size(), number);
  }
  if (spent <= allowed.value * (1 + kRounding)) return "";
  return text("the draws spend %s %.9g of %.9g", parameter_name(allowed.measure), spent,
              allowed.value);
}

std::string order_difference(const Run& one, const Run& other) {
  if (one.drawn.size() != other.drawn.size()) return "the order of rows decides about draws";
  for (std::size_t i = 0; i < one.drawn.size(); ++i) {
    if (!is_same_draw(one.drawn[i], other.drawn[i]) ||
        one.drawn[i].inputs != other.drawn[i].inputs) {
      return text("the order of rows changes draw %zu", i);
    }
  }
  if (one.numbers != other.numbers) return "the order of rows changes a number";
  return "";
}

}  // namespace dpquantile::exhaustive
