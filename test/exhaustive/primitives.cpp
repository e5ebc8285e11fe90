// What draws in src/core, as Draws decide it: in place of random.cpp and noise.cpp, of the draws of
// NoiseTable, and around the mechanisms that propose until they accept.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/privacy/nested_laplace.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/random.hpp"
#include "core/user_level/levy_interval.hpp"
#include "core/user_level/window_interval.hpp"
#include "exhaustive/draws.hpp"
#include "exhaustive/law.hpp"
#include "exhaustive/real_mechanisms.hpp"
#include "exhaustive/uniform_draw.hpp"

namespace dpquantile {

namespace {

using exhaustive::Answer;
using exhaustive::draws;
using exhaustive::Law;

// More outcomes than this are drawn in steps.
constexpr std::uint64_t kManyOutcomes = 4096;

// Runs of a joint draw are lost if their probability is smaller than for other runs by this.
constexpr double kLeastOfJoint = 1e-3;

double quotient(double numerator, double denominator) {
  return numerator / denominator;
}

std::uint64_t return_address(void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

uint128_t uniform(uint128_t bound, std::uint64_t site) {
  if (bound == 0) throw std::invalid_argument("expected a bound above 0");
  if (bound == 1) return 0;
  if (bound > kManyOutcomes) return draws().in_steps(bound, site);
  const std::vector<double> chances(static_cast<std::size_t>(bound),
                                    1 / static_cast<double>(bound));
  return draws().outcome(chances, site);
}

// Laws are computed once. The key has all that the draw depends on.
const Law& kept_law(const std::string& key, double least_chance,
                    const std::function<Answer()>& mechanism) {
  static std::map<std::string, Law> laws;
  if (laws.size() > 10'000) laws.clear();
  const auto found = laws.find(key);
  if (found != laws.end()) return found->second;
  const exhaustive::Following following{
      .least_chance = least_chance, .until_accepted = true, .real = draws().real()};
  return laws.emplace(key, exhaustive::law_of(mechanism, following)).first->second;
}

const Answer& draw_from(const Law& law) {
  std::vector<double> chances;
  for (const auto& [answer, chance] : law.chances) chances.push_back(chance);
  return std::next(law.chances.begin(), static_cast<std::ptrdiff_t>(draws().outcome(chances, 0)))
      ->first;
}

class Key {
 public:
  template <class Value>
  void add(const Value& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Key key_of(const exhaustive::RankDraw& call) {
  Key key;
  key.add(call.is_joint);
  key.add(call.begin);
  key.add(call.end);
  key.add(call.epsilon);
  key.add(draws().real());
  key.add(draws().least_chance());
  for (const double quantile : call.quantiles) key.add(quantile);
  const Histogram& data = call.rank.data();
  for (std::size_t run = 0; run < data.runs(); ++run) {
    key.add(data.cell(run));
    key.add(data.count(run));
  }
  return key;
}

Key key_of(const exhaustive::IntervalDraw& call) {
  Key key;
  for (const double parameter : call.parameters) key.add(parameter);
  for (const FilledArray& array : call.arrays) {
    key.add(array.rows);
    key.add(array.sum);
  }
  return key;
}

// The interval that is decided, or one by the law of the mechanism.
ClippingInterval draw_interval(const exhaustive::IntervalDraw& call,
                               const std::function<ClippingInterval()>& mechanism) {
  ClippingInterval drawn{};
  if (draws().interval(call, &drawn.low, &drawn.high)) return drawn;
  const Law& law = kept_law(key_of(call).text(), 0, [&]() -> Answer {
    const ClippingInterval interval = mechanism();
    return {interval.low, interval.high};
  });
  const Answer& answer = draw_from(law);
  return {static_cast<std::uint32_t>(answer[0]), static_cast<std::uint32_t>(answer[1])};
}

}  // namespace

// ---- random.cpp
// ----------------------------------------------------------------------------------

void CsprngSource::fill(std::span<std::byte>) {
  throw std::logic_error("there is no CSPRNG here");
}

RandomStream::RandomStream(RandomSource& source)
    : source_(source), buffer_{}, position_(0), fork_generation_(0) {}

RandomStream::~RandomStream() = default;

std::uint64_t RandomStream::bits64() {
  const uint128_t words = uint128_t{1} << 64;
  return static_cast<std::uint64_t>(uniform(words, return_address(__builtin_return_address(0))));
}

void RandomStream::fill(std::span<std::uint64_t> words) {
  for (std::uint64_t& word : words) word = bits64();
}

std::uint64_t RandomStream::uniform_below(std::uint64_t bound) {
  return static_cast<std::uint64_t>(uniform(bound, return_address(__builtin_return_address(0))));
}

uint128_t RandomStream::uniform_below_128(uint128_t bound) {
  return uniform(bound, return_address(__builtin_return_address(0)));
}

std::uint64_t RandomStream::site() const {
  return return_address(__builtin_return_address(0));
}

namespace exhaustive {

bool UniformDraw::operator<(double chance) const {
  return draws().coin(chance);
}

UniformDraw::operator double() const {
  return draws().real();
}

}  // namespace exhaustive

// ---- noise.cpp
// -----------------------------------------------------------------------------------

bool bernoulli_exp(RandomStream&, uint128_t numerator, uint128_t denominator) {
  return draws().coin(
      std::exp(-quotient(static_cast<double>(numerator), static_cast<double>(denominator))));
}

std::int64_t discrete_laplace(RandomStream&, Rational scale) {
  check_laplace_scale(scale);
  return draws().noise(NoiseShape::kLaplace, quotient(static_cast<double>(scale.numerator),
                                                      static_cast<double>(scale.denominator)));
}

std::int64_t discrete_gaussian(RandomStream&, Rational sigma_squared) {
  check_gaussian_variance(sigma_squared);
  return draws().noise(NoiseShape::kGaussian,
                       std::sqrt(quotient(static_cast<double>(sigma_squared.numerator),
                                          static_cast<double>(sigma_squared.denominator))));
}

std::int64_t NoiseTable::draw(RandomStream&) const {
  return draws().noise(table_.law().shape, spread());
}

void NoiseTable::draw(std::span<std::int64_t> noise, RandomStream& random) const {
  for (std::int64_t& each : noise) each = draw(random);
}

// The difference of two numbers that are 0, or else geometric ones (Lemma N1).
std::int64_t draw_more_laplace(const NoiseTable& part, int parts, RandomStream&) {
  const double q = std::exp(-1 / part.spread());
  const double nothing = std::pow(q, parts - 1) * (1 - q) / (1 - std::pow(q, parts));
  std::vector<double> side;
  for (double chance = (1 - nothing) * (1 - q); chance > 1e-14; chance *= q) side.push_back(chance);
  side[0] += nothing;
  const auto far = static_cast<std::ptrdiff_t>(side.size()) - 1;
  std::vector<double> chances(2 * side.size() - 1);
  for (std::ptrdiff_t up = 0; up <= far; ++up) {
    for (std::ptrdiff_t down = 0; down <= far; ++down) {
      chances[static_cast<std::size_t>(far + up - down)] +=
          side[static_cast<std::size_t>(up)] * side[static_cast<std::size_t>(down)];
    }
  }
  return static_cast<std::int64_t>(draws().outcome(chances, 0)) - far;
}

// ---- Mechanisms that propose until they accept
// -----------------------------------------------------

Position draw_quantile_position(const SmearedRank& rank, PositionInterval interval, double q,
                                double epsilon, const MechanismContext& context) {
  const exhaustive::RankDraw call{rank, interval.begin, interval.end, {&q, 1}, epsilon, false};
  Position position = 0;
  if (draws().positions(call, {&position, 1})) return position;
  const Law& law = kept_law(key_of(call).text(), 0, [&]() -> Answer {
    return {static_cast<std::int64_t>(
        real_draw_quantile_position(rank, interval, q, epsilon, context))};
  });
  return static_cast<Position>(draw_from(law)[0]);
}

void draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                          std::span<const double> quantiles, double epsilon,
                          const MechanismContext& context, std::span<Position> positions) {
  const exhaustive::RankDraw call{rank, interval.begin, interval.end, quantiles, epsilon, true};
  if (draws().positions(call, positions)) return;
  const Law& law = kept_law(key_of(call).text(), draws().least_chance() * kLeastOfJoint, [&] {
    real_draw_joint_positions(rank, interval, quantiles, epsilon, context, positions);
    return Answer(positions.begin(), positions.end());
  });
  std::ranges::transform(draw_from(law), positions.begin(),
                         [](std::int64_t position) { return static_cast<Position>(position); });
}

ClippingInterval draw_levy_interval(std::span<const FilledArray> arrays, std::uint32_t half_width,
                                    double epsilon, const MechanismContext& context) {
  return draw_interval({arrays, {static_cast<double>(half_width), epsilon}}, [&] {
    return real_draw_levy_interval(arrays, half_width, epsilon, context);
  });
}

ClippingInterval draw_window_interval(std::span<const FilledArray> arrays, const WindowPlan& plan,
                                      double epsilon, const MechanismContext& context) {
  return draw_interval({arrays,
                        {static_cast<double>(plan.clipped), static_cast<double>(plan.finest),
                         plan.narrow_preference, epsilon}},
                       [&] { return real_draw_window_interval(arrays, plan, epsilon, context); });
}

}  // namespace dpquantile
