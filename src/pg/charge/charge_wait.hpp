#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/timestamp.h"
}

// Waiting in a session that charges.
namespace dpquantile {

// A moment by the clock until which something is tried. Plain data.
class Deadline {
 public:
  explicit Deadline(int milliseconds)
      : end_(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds)) {}
  bool is_over() const { return GetCurrentTimestamp() >= end_; }

 private:
  TimestampTz end_;
};

// Waits until this session is woken, for so long at most, or without limit for -1. Handles a cancel
// or a termination by an error.
void sleep_until_woken(long milliseconds);

}  // namespace dpquantile
