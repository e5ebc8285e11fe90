#pragma once

#include <cstdint>

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
  void tick(std::uint64_t elements) {
    elements_ += elements;
    if (elements_ < next_question_) return;
    next_question_ = elements_ + kInterval;
    check();
  }
  // The number of elements so far: a measure of the work done.
  std::uint64_t elements() const { return elements_; }

  // Asks now. Throws Cancelled if the caller wants to stop.
  void check() const {
    if (cancel_requested_ != nullptr && cancel_requested_()) throw Cancelled();
  }

 private:
  static constexpr std::uint64_t kInterval = std::uint64_t{1} << 16;
  Predicate cancel_requested_;
  std::uint64_t elements_ = 0;
  std::uint64_t next_question_ = kInterval;
};

}  // namespace dpquantile
