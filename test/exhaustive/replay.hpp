#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/privacy/privacy_parameter.hpp"
#include "exhaustive/draws.hpp"

// Record and replay (Cebere and others 2026, "Re:cord-play", arXiv 2602.17454): a mechanism runs on
// a data set while a recording decides its draws, and again on a neighbour, with the same
// decisions. Both runs must draw in the same way. Only what the draws protect may differ, and that
// by no more than their noise is for.
namespace dpquantile::exhaustive {

// A draw, and what may depend on data only through it.
struct Drawn {
  enum class Kind : std::uint8_t { kNoise, kPositions, kInterval };
  Kind kind;
  std::vector<double> parameters;  // public
  NoiseShape shape{};              // kNoise
  double spread = 0;
  double epsilon = 0;                  // kPositions, kInterval: of a whole record, or of an array
  std::vector<std::int64_t> inputs{};  // kPositions: ranks; kInterval: the arrays, by twos
};

// Noise is so many spreads and so many units, positions and intervals are drawn from the seed: all
// draws of two runs are decided alike, as long as they are the same draws.
class Recording final : public Draws {
 public:
  explicit Recording(std::uint64_t seed, double spreads = 0, std::int64_t units = 0)
      : generator_(seed), spreads_(spreads), units_(units) {}

  const std::vector<Drawn>& drawn() const { return drawn_; }

  std::size_t outcome(std::span<const double> chances, std::uint64_t site) override;
  std::size_t begin_scan(std::uint64_t) override { return 0; }
  void took(std::size_t) override {}
  bool coin(double chance) override;
  uint128_t in_steps(uint128_t bound, std::uint64_t site) override;
  std::int64_t noise(NoiseShape shape, double spread) override;
  double real() override { return 0.5; }
  bool positions(const RankDraw& call, std::span<std::uint64_t> positions) override;
  bool interval(const IntervalDraw& call, std::uint32_t* low, std::uint32_t* high) override;

 private:
  std::mt19937_64 generator_;
  double spreads_;
  std::int64_t units_;
  std::vector<Drawn> drawn_;
};

// A run: its draws, and the numbers that noise was added to, in their order, in units of the noise.
// There are none if they are not known.
struct Run {
  std::vector<Drawn> drawn;
  std::vector<double> numbers;
};

// What is wrong between the runs on two neighbours, or nothing: other draws, or more than this
// guarantee allows. That is the sum of epsilon, or of rho, over all draws: for noise by how far the
// numbers are apart; for ranks by the part of a record by which they differ within their interval.
std::string difference(const Run& one, const Run& other, const PrivacyParameter& allowed);

// What is wrong between the runs on one data set in two orders, or nothing.
std::string order_difference(const Run& one, const Run& other);

}  // namespace dpquantile::exhaustive
