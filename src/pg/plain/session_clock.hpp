#pragma once

#include <optional>

#include "pg/query/level.hpp"

extern "C" {
#include "datatype/timestamp.h"
#include "pgtime.h"
}

// Changes of clocks, and local times that are compared with moments. PostgreSQL compares a
// timestamp or date with a timestamptz as the moment at which the clock of the session shows it: of
// an hour that a clock skips, or shows twice, a moment by the clock's offset before it, or after
// it. These moments fall, or jump, there.
namespace dpquantile {

struct ClockChange {
  TimestampTz at;
  int64 before;  // by how much the clock was ahead of UTC
  int64 after;
};

// The first change of a clock from a moment on; none if there is none.
std::optional<ClockChange> change_from(TimestampTz moment, const pg_tz* zone);

// The next change after one.
std::optional<ClockChange> change_after(const ClockChange& change, const pg_tz* zone);

// The longest time by which a moment must be later than another one so that its local time is later
// in all zones: twice the largest offset that PostgreSQL reads.
inline constexpr int64 kLongestFall = 14 * USECS_PER_DAY;

// What a cast takes for local time of the session; another expression as it is.
Node* without_cast_to_moment(Node* expression);

// The first timestamp or date that is no earlier than this moment, or the last one that is no later
// (is_first). In microseconds since 2000-01-01. Notes that the statement depends on the session's
// zone. None at the ends of time.
std::optional<Timestamp> local_bound(const Level* level, TimestampTz moment, Oid type,
                                     bool is_first);

// A change of a clock that goes forward: the hours between are skipped.
struct ClockGap {
  TimestampTz at;
  int64 length;
  Timestamp first;  // the first local time that is skipped
};

// Those of the session's clock between these moments: List of ClockGap. False if the clock's
// offsets are a day or more, or its changes less than two days apart: there moments of local times
// are others than these.
bool gaps_of_clock(TimestampTz first, TimestampTz last, List** gaps);

}  // namespace dpquantile
