#pragma once

#include <cstddef>

#include "core/base/error.hpp"

namespace dpquantile {

// Asks now and then whether the caller wants the computation to stop; throws Cancelled if so.
class CancelPoll {
 public:
  using Predicate = bool (*)();

  explicit CancelPoll(Predicate cancel_requested) : cancel_requested_(cancel_requested) {}

  // To be called about once for every element of a long loop.
  void tick() { tick(1); }
  void tick(std::size_t elements) {
    ticks_ += elements;
    if (ticks_ < kInterval) return;
    ticks_ = 0;
    check();
  }
  void check() const {
    if (cancel_requested_ != nullptr && cancel_requested_()) throw Cancelled();
  }

 private:
  static constexpr std::size_t kInterval = std::size_t{1} << 16;
  Predicate cancel_requested_;
  std::size_t ticks_ = 0;
};

}  // namespace dpquantile
