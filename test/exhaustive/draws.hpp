#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/int128.hpp"
#include "core/privacy/cell_table.hpp"

namespace dpquantile {
class SmearedRank;
struct FilledArray;
}  // namespace dpquantile

namespace dpquantile::exhaustive {

// A call of an exponential mechanism on ranks: of one quantile, or of several jointly.
struct RankDraw {
  const SmearedRank& rank;
  std::uint64_t begin;
  std::uint64_t end;
  std::span<const double> quantiles;
  double epsilon;
  bool is_joint;
};

// A call of an exponential mechanism on array means.
struct IntervalDraw {
  std::span<const FilledArray> arrays;
  std::vector<double> parameters;  // the last one is epsilon
};

// Who decides how draws fall. While one is in place, primitives.cpp asks it, in place of the
// randomness, the samplers of noise and the exponential mechanisms of src/core.
class Draws {
 public:
  virtual ~Draws() = default;

  // One of several outcomes with these probabilities. What they lack to 1 is lost. `site` tells
  // draws at one place in the code from others; 0 is no place.
  virtual std::size_t outcome(std::span<const double> chances, std::uint64_t site) = 0;
  // The same for items that are visited one after the other: item k is taken if this gives k, which
  // is not 0, and otherwise as coins say. took() tells which one was.
  virtual std::size_t begin_scan(std::uint64_t site) = 0;
  virtual void took(std::size_t item) = 0;
  // Whether a coin that accepts a proposal falls on the side that has this probability.
  virtual bool coin(double chance) = 0;
  // A number below `bound`, one of very many, on which the rest of the run depends in few steps.
  virtual uint128_t in_steps(uint128_t bound, std::uint64_t site) = 0;
  // Noise of this scale or sigma.
  virtual std::int64_t noise(NoiseShape shape, double spread) = 0;
  // A uniform real number on [0, 1) that is not compared with a probability.
  virtual double real() = 0;
  // Runs of a smaller probability need not be followed.
  virtual double least_chance() const { return 0; }

  // Fills in positions, or says that the mechanism itself is to be run.
  virtual bool positions(const RankDraw& call, std::span<std::uint64_t> positions) = 0;
  // The same for the ends of an interval.
  virtual bool interval(const IntervalDraw& call, std::uint32_t* low, std::uint32_t* high) = 0;
};

// The one in place. Throws std::logic_error if there is none.
Draws& draws();

// Puts one in place for its lifetime; then the one before it is in place again.
class Deciding {
 public:
  explicit Deciding(Draws* draws);
  ~Deciding();
  Deciding(const Deciding&) = delete;
  Deciding& operator=(const Deciding&) = delete;

 private:
  Draws* before_;
};

}  // namespace dpquantile::exhaustive
