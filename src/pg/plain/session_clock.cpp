#include "pg/plain/session_clock.hpp"

#include <algorithm>
#include <cstdlib>

#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr pg_time_t kEpochs =
    static_cast<pg_time_t>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;

// The next change after a second; none if there is none.
std::optional<ClockChange> next_change(pg_time_t second, const pg_tz* zone) {
  long before = 0;
  long after = 0;
  int is_summer[2];
  pg_time_t change = 0;
  const auto look = [&] {
    return pg_next_dst_boundary(&second, &before, &is_summer[0], &change, &after, &is_summer[1],
                                zone);
  };
  // At the last change that it has tabulated PostgreSQL knows none, though it knows some later.
  bool is_found = look() > 0;
  if (!is_found) {
    ++second;
    is_found = look() > 0;
  }
  if (!is_found) return std::nullopt;
  return ClockChange{(change - kEpochs) * USECS_PER_SEC, before * USECS_PER_SEC,
                     after * USECS_PER_SEC};
}

// The seconds since 1970, rounded down
pg_time_t second_of(TimestampTz moment) {
  return moment / USECS_PER_SEC - (moment % USECS_PER_SEC < 0 ? 1 : 0) + kEpochs;
}

}  // namespace

std::optional<ClockChange> change_from(TimestampTz moment, const pg_tz* zone) {
  auto change = next_change(second_of(moment) - 1, zone);
  while (change && change->at < moment) change = change_after(*change, zone);
  return change;
}

std::optional<ClockChange> change_after(const ClockChange& change, const pg_tz* zone) {
  return next_change(second_of(change.at), zone);
}

Node* without_cast_to_moment(Node* expression) {
  if (!IsA(expression, FuncExpr)) return expression;
  const auto* call = as<FuncExpr>(expression);
  const bool is_cast =
      call->funcid == F_TIMESTAMPTZ_TIMESTAMP || call->funcid == F_TIMESTAMPTZ_DATE;
  return is_cast ? static_cast<Node*>(linitial(call->args)) : expression;
}

// Between two of the points moments move as local times do: PostgreSQL looks for the first change
// that is later than the day before, as if it were one of UTC, and compares with it the moments by
// both offsets. No offset is longer than half of the longest fall, so that local times before the
// first point, or from the last one on, are earlier, or later.
std::optional<Timestamp> local_bound(const Level* level, TimestampTz moment, Oid type,
                                     bool is_first) {
  if (moment < MIN_TIMESTAMP + 3 * kLongestFall || moment >= END_TIMESTAMP - 3 * kLongestFall) {
    return std::nullopt;
  }
  level->statement->has_values_of_time_zone = true;
  const Timestamp begin = moment - kLongestFall;
  const Timestamp end = moment + kLongestFall;
  constexpr int kMostPoints = 100;
  Timestamp points[kMostPoints + 3] = {begin, end};
  int count = 2;
  auto change = change_from(begin - kLongestFall, session_timezone);
  for (; change && change->at <= end + kLongestFall;
       change = change_after(*change, session_timezone)) {
    if (count >= kMostPoints) return std::nullopt;
    for (const Timestamp point :
         {change->at + change->before, change->at + change->after, change->at + USECS_PER_DAY}) {
      points[count++] = std::clamp(point, begin, end);
    }
  }
  std::sort(points, points + count);
  std::optional<Timestamp> found;
  for (int i = 0; i + 1 < count; ++i) {
    if (points[i] == points[i + 1]) continue;
    const Timestamp first = points[i];
    const Timestamp last = points[i + 1] - 1;
    const Timestamp same =
        moment -
        DatumGetTimestampTz(DirectFunctionCall1(timestamp_timestamptz, TimestampGetDatum(first))) +
        first;
    if (is_first && same <= last) found = std::min(found.value_or(end), std::max(same, first));
    if (!is_first && same >= first) found = std::max(found.value_or(begin), std::min(same, last));
  }
  if (!found || type != DATEOID) return found;
  const int64 rest = (*found % USECS_PER_DAY + USECS_PER_DAY) % USECS_PER_DAY;
  return *found - rest + (is_first && rest > 0 ? USECS_PER_DAY : 0);
}

// PostgreSQL looks for the first change after the local time on the day before, as if it were one
// of UTC: with such offsets and distances that is the one at which the clock shows it.
bool gaps_of_clock(TimestampTz first, TimestampTz last, List** gaps) {
  std::optional<TimestampTz> previous;
  auto change = change_from(first, session_timezone);
  for (; change && change->at <= last; change = change_after(*change, session_timezone)) {
    CHECK_FOR_INTERRUPTS();
    const bool is_known = std::abs(change->before) < USECS_PER_DAY &&
                          std::abs(change->after) < USECS_PER_DAY &&
                          (!previous || change->at - *previous >= 2 * USECS_PER_DAY);
    if (!is_known) return false;
    previous = change->at;
    if (change->after <= change->before) continue;
    auto* gap = static_cast<ClockGap*>(palloc(sizeof(ClockGap)));
    *gap = {change->at, change->after - change->before, change->at + change->before};
    *gaps = lappend(*gaps, gap);
  }
  return true;
}

}  // namespace dpquantile
