#include "core/plot/axis_ticks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/decimal_format.hpp"

namespace dpquantile {

namespace {

// Beyond these limits a plain number is harder to read than one with a power of ten.
constexpr std::size_t kPlainLength = 10;
constexpr int kPlainDecimals = 6;

// count * 10^exponent: ticks are decimals, which doubles only approximate.
struct Decimal {
  std::int64_t count;
  int exponent;
};

double nearest_double(Decimal decimal) {
  const std::string text = std::to_string(decimal.count) + "e" + std::to_string(decimal.exponent);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool overflow = result.ec == std::errc::result_out_of_range && decimal.exponent > 0;
  if (!overflow) return value;
  return std::copysign(std::numeric_limits<double>::infinity(), static_cast<double>(decimal.count));
}

Decimal next_round_step(Decimal step) {
  if (step.count == 1) return {2, step.exponent};
  if (step.count == 2) return {5, step.exponent};
  return {1, step.exponent + 1};
}

// A step below the distance between neighbouring doubles would give the same value twice.
Decimal smallest_step(double lower, double upper, int most) {
  const double largest = std::max(std::abs(lower), std::abs(upper));
  const double resolution = largest - std::nextafter(largest, 0);
  const double wanted = std::max(upper / most - lower / most, resolution);
  Decimal step{1, static_cast<int>(std::floor(std::log10(wanted)))};
  while (nearest_double(step) < wanted) step = next_round_step(step);
  return step;
}

std::vector<Decimal> multiples_within(double lower, double upper, Decimal step) {
  const double width = nearest_double(step);
  const auto first = static_cast<std::int64_t>(std::floor(lower / width)) - 1;
  const auto last = static_cast<std::int64_t>(std::ceil(upper / width)) + 1;
  std::vector<Decimal> multiples;
  for (std::int64_t index = first; index <= last; ++index) {
    const Decimal multiple{index * step.count, step.exponent};
    const double value = nearest_double(multiple);
    if (lower <= value && value <= upper) multiples.push_back(multiple);
  }
  return multiples;
}

std::string with_point(std::int64_t count, int places) {
  std::string digits = std::to_string(std::abs(count));
  const auto decimals = static_cast<std::size_t>(places);
  if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - decimals, 1, '.');
  return (count < 0 ? "-" : "") + digits;
}

std::string plain_label(Decimal tick) {
  const std::string zeros(static_cast<std::size_t>(std::max(tick.exponent, 0)), '0');
  return with_point(tick.count, std::max(-tick.exponent, 0)) + (tick.count == 0 ? "" : zeros);
}

std::string scientific_label(Decimal tick, int power) {
  if (tick.count == 0) return "0";
  return with_point(tick.count, power - tick.exponent) + "e" + std::to_string(power);
}

// The power of ten of the tick farthest from zero.
int largest_power(const std::vector<Decimal>& ticks) {
  const std::int64_t largest =
      std::max(std::abs(ticks.front().count), std::abs(ticks.back().count));
  return static_cast<int>(std::to_string(largest).size()) - 1 + ticks.front().exponent;
}

std::size_t longest(const std::vector<std::string>& labels) {
  std::size_t length = 0;
  for (const std::string& label : labels) length = std::max(length, label.size());
  return length;
}

std::vector<std::string> labels_of(const std::vector<Decimal>& ticks) {
  std::vector<std::string> plain;
  std::vector<std::string> scientific;
  const int power = largest_power(ticks);
  for (const Decimal& tick : ticks) {
    plain.push_back(plain_label(tick));
    scientific.push_back(scientific_label(tick, power));
  }
  const bool legible = longest(plain) <= kPlainLength && -ticks.front().exponent <= kPlainDecimals;
  return legible || longest(plain) <= longest(scientific) ? plain : scientific;
}

}  // namespace

std::vector<AxisTick> axis_ticks(double lower, double upper, int most) {
  Decimal step = smallest_step(lower, upper, most);
  std::vector<Decimal> ticks = multiples_within(lower, upper, step);
  while (ticks.size() > static_cast<std::size_t>(most)) {
    step = next_round_step(step);
    ticks = multiples_within(lower, upper, step);
  }
  if (ticks.empty()) return {{lower, shortest_decimal(lower)}};
  const std::vector<std::string> labels = labels_of(ticks);
  std::vector<AxisTick> axis;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    axis.push_back({nearest_double(ticks[i]), labels[i]});
  }
  return axis;
}

std::vector<PlacedTick> ticks_that_fit(const TickMaker& make, int most, double gap,
                                       const std::function<LabelSpan(const PlacedTick&)>& span_of) {
  const auto too_close = [&](const PlacedTick& left, const PlacedTick& right) {
    return span_of(right).begin < span_of(left).end + gap;
  };
  for (int wanted = most; wanted >= 2; --wanted) {
    const std::vector<PlacedTick> ticks = make(wanted);
    if (std::ranges::adjacent_find(ticks, too_close) == ticks.end()) return ticks;
  }
  return {make(2).front()};
}

}  // namespace dpquantile
