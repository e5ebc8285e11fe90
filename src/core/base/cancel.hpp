#pragma once

#include <cstddef>

#include "core/base/error.hpp"

namespace dpquantile {

// Lets a long computation ask its caller from time to time whether to stop. A null predicate never
// asks to stop.
class CancelPoll {
 public:
  using Predicate = bool (*)();

  explicit CancelPoll(Predicate cancel_requested) : cancel_requested_(cancel_requested) {}

  // Call it about once for every element of a long loop. It asks after every 2^16 elements, and
  // throws Cancelled if the caller wants to stop.
  void tick() { tick(1); }
  void tick(std::size_t elements) {
    ticks_ += elements;
    if (ticks_ < kInterval) return;
    ticks_ = 0;
    check();
  }
  // Asks now. Throws Cancelled if the caller wants to stop.
  void check() const {
    if (cancel_requested_ != nullptr && cancel_requested_()) throw Cancelled();
  }

 private:
  static constexpr std::size_t kInterval = std::size_t{1} << 16;
  Predicate cancel_requested_;
  std::size_t ticks_ = 0;
};

}  // namespace dpquantile
