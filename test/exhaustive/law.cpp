#include "exhaustive/law.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "exhaustive/draws.hpp"

namespace dpquantile::exhaustive {

namespace {

// Thrown through the mechanism. It is no std::exception, which a mechanism might catch.
struct RunEnds {};

// What probabilities lack to 1 by rounding alone.
constexpr double kRounding = 1e-14;

// Noise of a smaller weight is left out of the sum of all weights.
constexpr double kLeastWeight = 1e-20;

struct Step {
  std::vector<double> chances;      // of the outcomes that are followed
  std::vector<uint128_t> outcomes;  // their numbers
  std::size_t taken = 0;
};

// All runs of a mechanism, depth first. A run repeats the steps of the one before, up to the step
// where it takes the next outcome.
class Enumeration final : public Draws {
 public:
  Enumeration(const std::function<Answer()>& mechanism, const Following& following)
      : mechanism_(mechanism), following_(following) {}

  Law law() {
    Law law;
    double ended = 0;
    do {
      begin_run();
      if (const auto answer = run()) {
        law.chances[*answer] += chance_;
        ended += chance_;
      }
    } while (next_run());
    law.lost = lost_;
    if (following_.until_accepted) {
      const double most = ended + lost_;  // lost proposals might all be accepted
      if (ended == 0) throw std::logic_error("no proposal is accepted");
      for (auto& [answer, chance] : law.chances) chance /= most;
      law.lost /= most;
    }
    return law;
  }

  std::size_t outcome(std::span<const double> chances, std::uint64_t site) override {
    if (is_probed()) return first_possible(chances);
    if (repeats_first(site)) return static_cast<std::size_t>(taken(0));
    return static_cast<std::size_t>(follow([&] {
      Step step;
      double all = 0;
      for (std::size_t i = 0; i < chances.size(); ++i) {
        all += chances[i];
        add(&step, i, chances[i]);
      }
      lose(1 - all);
      return step;
    }));
  }

  std::size_t begin_scan(std::uint64_t site) override {
    if (is_probed()) return 1;
    if (repeats_first(site)) {
      if (first_taken_ == 0) throw RunEnds();  // the scan ended without an item
      return first_taken_;
    }
    first_taken_ = 0;
    return 0;
  }
  void took(std::size_t item) override {
    if (is_at_first_ && first_taken_ == 0) first_taken_ = item;
  }

  bool coin(double chance) override {
    if (is_probed()) return chance > 0;
    if (chance >= 1) return true;
    if (following_.until_accepted) {
      // What is refused is not lost.
      follow([&] {
        Step step;
        add(&step, 1, chance);
        return step;
      });
      return true;
    }
    const double sides[] = {1 - chance, chance};
    return outcome(sides, 0) == 1;
  }

  uint128_t in_steps(uint128_t bound, std::uint64_t site) override {
    if (is_probed()) return std::exchange(probe_, 0);  // later draws fall on their first number
    if (repeats_first(site)) return taken(0);
    return follow([&] { return steps_of(bound); });
  }

  std::int64_t noise(NoiseShape shape, double spread) override {
    if (is_probed()) return 0;
    const std::int64_t unit = unit_of(spread);
    const auto i = static_cast<std::int64_t>(
        follow([&] { return noise_step(shape, spread / static_cast<double>(unit)); }));
    return unit * (i % 2 == 1 ? (i + 1) / 2 : -(i / 2));
  }

  double real() override { return following_.real; }
  double least_chance() const override { return following_.least_chance; }
  bool positions(const RankDraw&, std::span<std::uint64_t>) override { return false; }
  bool interval(const IntervalDraw&, std::uint32_t*, std::uint32_t*) override { return false; }

 private:
  void begin_run() {
    depth_ = 0;
    chance_ = 1;
    sites_ = 0;
  }
  // Nothing if the run is not followed to its end.
  std::optional<Answer> run() {
    try {
      return mechanism_();
    } catch (const RunEnds&) {
      return std::nullopt;
    }
  }
  bool next_run() {
    while (!steps_.empty() && steps_.back().taken + 1 >= steps_.back().outcomes.size()) {
      steps_.pop_back();
    }
    if (steps_.empty()) return false;
    ++steps_.back().taken;
    return true;
  }

  // Whether this draw is one of a probe, after those that it repeats.
  // Throws RunEnds if there are very many of them: all fall on their first outcome, which a loop
  // may wait for in vain.
  bool is_probed() {
    constexpr int kMostProbed = 64;
    if (!is_probe_ || depth_ < repeated_) return false;
    if (++probed_ > kMostProbed) throw RunEnds();
    return true;
  }

  // Whether this draw is at the first place and follows another one there.
  bool repeats_first(std::uint64_t site) {
    if (!following_.until_accepted || site == 0) return false;
    if (sites_++ == 0) {
      first_site_ = site;
      is_at_first_ = true;
      return false;
    }
    is_at_first_ = is_at_first_ && site == first_site_;
    if (site == first_site_ && !is_at_first_) throw RunEnds();
    return is_at_first_;
  }
  uint128_t taken(std::size_t depth) const { return steps_[depth].outcomes[steps_[depth].taken]; }

  void lose(double chance) {
    if (chance > kRounding) lost_ += chance_ * chance;
  }
  void add(Step* step, uint128_t outcome, double chance) {
    if (!(chance > 0)) return;
    if (chance_ * chance < following_.least_chance) {
      lost_ += chance_ * chance;
      return;
    }
    step->chances.push_back(chance);
    step->outcomes.push_back(outcome);
  }

  // The outcome of the next step: the one whose turn it is, or the first of a new step.
  template <class MakeStep>
  uint128_t follow(MakeStep make) {
    if (depth_ == steps_.size()) {
      Step step = make();
      if (step.outcomes.empty()) throw RunEnds();
      steps_.push_back(std::move(step));
    }
    const Step& step = steps_[depth_];
    chance_ *= step.chances[step.taken];
    return taken(depth_++);
  }

  static std::size_t first_possible(std::span<const double> chances) {
    for (std::size_t i = 0; i < chances.size(); ++i) {
      if (chances[i] > 0) return i;
    }
    throw std::logic_error("no outcome is possible");
  }

  std::int64_t unit_of(double spread) const {
    constexpr double kFarBelow = 1.0 / 16;
    const auto unit = static_cast<double>(following_.noise_unit);
    return spread < unit * kFarBelow ? 1 : following_.noise_unit;
  }

  // Outcomes 0, 1, 2, .. are noise of 0, 1, -1, 2, -2, .. units, until they are too unlikely.
  Step noise_step(NoiseShape shape, double spread) {
    const auto weight = [&](double units) {
      const double ratio = units / spread;
      return std::exp(shape == NoiseShape::kLaplace ? -ratio : -ratio * ratio / 2);
    };
    double all = 1;
    for (double units = 1; weight(units) > kLeastWeight; ++units) all += 2 * weight(units);
    Step step;
    const auto chance_of = [&](std::uint64_t i) {
      return weight(static_cast<double>((i + 1) / 2)) / all;
    };
    const double least = std::max(following_.least_chance, kLeastWeight);
    std::uint64_t i = 0;
    for (; i == 0 || chance_ * chance_of(i) >= least; ++i) {
      step.chances.push_back(chance_of(i));
      step.outcomes.push_back(i);
    }
    // The weights beyond those that are added here are less than the last one.
    for (; chance_of(i) > kLeastWeight; ++i) lost_ += chance_ * chance_of(i);
    lost_ += chance_ * kLeastWeight * std::max(spread, 1.0);
    return step;
  }

  // The answer, or none, of the run in which this draw is `number`, and all later draws fall on
  // their first outcome.
  std::optional<Answer> probe(uint128_t number) {
    const std::tuple before(depth_, chance_, sites_, is_at_first_);
    is_probe_ = true;
    repeated_ = depth_;
    probe_ = number;
    probed_ = 0;
    begin_run();
    const auto answer = run();
    is_probe_ = false;
    std::tie(depth_, chance_, sites_, is_at_first_) = before;
    return answer;
  }

  // Numbers are one outcome if nothing changes between them. They are told apart by probes.
  Step steps_of(uint128_t bound) {
    Step step;
    for (uint128_t begin = 0; begin < bound;) {
      const auto answer = probe(begin);
      uint128_t same = begin;
      uint128_t other = bound;
      while (other - same > 1) {
        const uint128_t middle = same + (other - same) / 2;
        (probe(middle) == answer ? same : other) = middle;
      }
      add(&step, begin, static_cast<double>(other - begin) / static_cast<double>(bound));
      begin = other;
    }
    return step;
  }

  const std::function<Answer()>& mechanism_;
  Following following_;
  std::vector<Step> steps_;
  std::size_t depth_ = 0;
  double chance_ = 1;  // of the run so far
  double lost_ = 0;
  // These belong to a run with until_accepted.
  std::uint64_t sites_ = 0;
  std::uint64_t first_site_ = 0;
  bool is_at_first_ = false;
  std::size_t first_taken_ = 0;  // by the scan there

  bool is_probe_ = false;
  std::size_t repeated_ = 0;
  int probed_ = 0;
  uint128_t probe_ = 0;
};

Draws* in_place = nullptr;

}  // namespace

Draws& draws() {
  if (in_place == nullptr) throw std::logic_error("a draw that nobody decides");
  return *in_place;
}

Deciding::Deciding(Draws* draws) : before_(std::exchange(in_place, draws)) {}

Deciding::~Deciding() {
  in_place = before_;
}

std::int64_t bits_of(double value) {
  return std::bit_cast<std::int64_t>(value + 0.0);  // -0 is 0
}

Law law_of(const std::function<Answer()>& mechanism, const Following& following) {
  Enumeration enumeration(mechanism, following);
  const Deciding deciding(&enumeration);
  return enumeration.law();
}

}  // namespace dpquantile::exhaustive
