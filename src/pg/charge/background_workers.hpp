#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "postmaster/bgworker.h"
#include "utils/timestamp.h"
}

// Background workers that make charges, and waiting for them.
namespace dpquantile {

// A background worker of this library, connected to databases and not restarted, of whose start
// and end this session is told.
BackgroundWorker describe_worker(const char* type, const char* function);

bool has_ended(BackgroundWorkerHandle* worker);

// Whether at least half of max_worker_processes are free. A moment later it may be otherwise.
bool half_of_worker_slots_free();

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
