#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/privacy/mechanism.hpp"
#include "core/privacy/random.hpp"
#include "fuzz/target.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile::fuzz {

// Bytes that follow from a seed. They fail from a request on, if that is asked.
class SeededBytes final : public RandomSource {
 public:
  SeededBytes(std::uint64_t seed, unsigned requests) : state_(seed), requests_(requests) {}

  void fill(std::span<std::byte> out) override;

 private:
  std::uint64_t state_;
  unsigned requests_;
};

// What happens to a mechanism while it runs.
enum class Disturbance { kNone, kMemory, kCancel, kRandomness };

// Runs a mechanism with the memory, the poll and the randomness that the input chooses. An
// exception that the headers do not name is a crash, and so is memory that is not given back.
// Returns whether the mechanism gave an answer.
//
// `most_work` bounds the elements that the poll sees.
bool run_mechanism(FuzzedDataProvider& input, std::uint64_t most_work,
                   const std::function<void(const MechanismContext&)>& mechanism);

}  // namespace dpquantile::fuzz
