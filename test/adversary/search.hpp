#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/privacy/random.hpp"
#include "support/context_testing.hpp"

namespace dpquantile::adversary {

// Bytes from a seed, so that a run can be repeated.
class RepeatableSource final : public RandomSource {
 public:
  explicit RepeatableSource(std::uint64_t seed) : generator_(seed) {}
  void fill(std::span<std::byte> out) override;

 private:
  std::mt19937_64 generator_;
};

// What a check works with: shapes are drawn from it, mechanisms draw their noise from it, and it
// takes the findings. Everything follows from the seed.
class Search {
 public:
  // All statistical tests of this search together have a false-alarm probability of at most this.
  Search(std::uint64_t seed, double false_alarm);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // ---- Shapes ----
  std::uint64_t below(std::uint64_t bound) { return shapes_() % bound; }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(shapes_() >> 11) * 0x1p-53;
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  // ---- Mechanisms ----
  const MechanismContext& context() const { return context_; }
  RandomStream& noise() const { return context_.random; }
  const Workspace& work() const { return work_; }
  // From now on a mechanism that asks more often than this whether to stop is cancelled. It asks
  // after every 2^16 elements of work. No time is measured.
  void allow_work(int questions = kAnyWork);

  // ---- Findings ----
  // The false-alarm probability of the next test. Those of all tests together stay below the one of
  // the search, however many there are.
  double next_false_alarm();
  void report(std::string finding) { findings_.push_back(std::move(finding)); }
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  static constexpr int kAnyWork = 1'000'000'000;

  std::mt19937_64 shapes_;
  RepeatableSource source_;
  test::TestContext context_;
  test::TestWorkspace work_;
  double false_alarm_;
  std::uint64_t tests_ = 0;
  std::vector<std::string> findings_;
};

// printf into a string, for findings.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

}  // namespace dpquantile::adversary
