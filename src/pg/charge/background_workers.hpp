#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "postmaster/bgworker.h"
#include "utils/timestamp.h"
}

// Background workers in general: starting them and waiting for them. Both sessions and workers use
// it.
namespace dpquantile {

// Describes a background worker of this library for RegisterDynamicBackgroundWorker(). The worker
// may connect to databases and PostgreSQL does not restart it. PostgreSQL sets this session's latch
// when the worker starts and when it ends. `type` is its name in pg_stat_activity, `function` the
// exported C function that it runs.
BackgroundWorker describe_worker(const char* type, const char* function);

// What a worker that makes charges does first: a termination ends it, a reload of the configuration
// is noted, and a cancel does nothing.
void start_charging_worker();

// An idle worker must leave well within so many milliseconds: DROP DATABASE, ALTER DATABASE ...
// RENAME and CREATE DATABASE ... TEMPLATE wait that long for other processes in the database.
inline constexpr int kDatabaseWaitMilliseconds = 5000;

// Whether the worker has ended, or will never start.
bool has_ended(BackgroundWorkerHandle* worker);

// Whether at least half of max_worker_processes are free. Other sessions may change this at any
// time.
bool half_of_worker_slots_free();

// The end of a time limit that starts when it is made. Plain data.
class Deadline {
 public:
  explicit Deadline(int milliseconds)
      : end_(TimestampTzPlusMilliseconds(GetCurrentTimestamp(), milliseconds)) {}
  bool is_over() const { return GetCurrentTimestamp() >= end_; }

 private:
  TimestampTz end_;
};

// Waits until this session's latch is set or the time is over; -1 means no limit. ereports for a
// cancel or a termination.
void sleep_until_woken(long milliseconds);

}  // namespace dpquantile
