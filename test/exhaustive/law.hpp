#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace dpquantile::exhaustive {

// What a mechanism answers, in numbers. Equal answers have equal numbers.
using Answer = std::vector<std::int64_t>;

// The number that stands for this double in an answer.
std::int64_t bits_of(double value);

// The law of a mechanism's answer: exact, except for `lost`, the probability of all runs that were
// not followed to their end. Those may end in any answer.
struct Law {
  std::map<Answer, double> chances;
  double lost = 0;
};

// How runs are followed.
struct Following {
  // Runs of a smaller probability are not followed: they are lost.
  double least_chance = 1e-10;
  // The mechanism repeats proposals until one is accepted, and the law is that of the accepted one.
  // A coin that falls against a proposal ends a run. So does a second draw at the place in the code
  // that drew first, if there was another draw between. Draws at the first place that follow each
  // other, as those of a batch of proposals, have one outcome: only the first proposal of a batch
  // is looked at.
  bool until_accepted = false;
  // Every uniform real number that is not compared with a probability.
  double real = 0.5;
  // Noise is on multiples of this, with probabilities in proportion to those of its law. Neighbours
  // must differ by multiples. A shift by a multiple changes probabilities as it does for all
  // integers. Noise of a spread far below the unit is on all integers.
  std::int64_t noise_unit = 1;
};

// Runs `mechanism` once for each way in which its draws can fall, and adds up the probabilities of
// its answers. It must be a function of its draws alone.
Law law_of(const std::function<Answer()>& mechanism, const Following& following = {});

}  // namespace dpquantile::exhaustive
