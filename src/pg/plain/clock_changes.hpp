#pragma once

#include <optional>

#include "pg/plain/session_clock.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/query/level.hpp"

extern "C" {
#include "datatype/timestamp.h"
}

// Where clocks change. Local times fall as a clock goes back, in Kwajalein by 23 hours in 1969, and
// jump as it goes forward, so that an hour or a day may be cut into pieces of any length. Keys
// computed of local times are therefore known piece by piece.
namespace dpquantile {

// Moments or dates of which another moment is always by the same later: between two changes of the
// clocks by which it is computed. In microseconds since 2000-01-01, of UTC or of local time.
struct Stretch {
  Timestamp first;
  Timestamp last;
  int64 shift;
};

// The stretches of what a moment is computed of, in their order.
struct Stretches {
  Node* source;  // a column, or what else has bounds; of a date, timestamp or timestamptz
  List* all;     // of Stretch
};

// Between which bounds: at most `longest` apart, and `beyond` further on both sides. In
// microseconds.
struct Span {
  int64 longest;
  int64 beyond = 0;
  BoundsFor use = BoundsFor::kKeys;
};

// Those of a moment or date that has bounds itself, or is computed of one by casts, AT TIME ZONE
// and constant intervals. None if it is not, the bounds are too far apart, or there are more than
// 100000 stretches.
std::optional<Stretches> stretches_of(const Level* level, Node* moment, const Span& span);

// Those in which, besides, the clock of a zone does not change (null: that of the session), so that
// local times are always by the same later, too. A moment that is no timestamptz is one.
std::optional<Stretches> stretches_of_local_time(const Level* level, Node* moment, const Node* zone,
                                                 const Span& span);

// Moments of the source, of which each function of a unit of the moments has all of its values, if
// it is a function of that unit within each stretch, and units are at least so long:
//
// A unit that meets a stretch contains the first moment of it, or the last one, or lies inside,
// with its whole length. In the last case it contains one of the moments that are one length apart
// from each other, beginning with the first. So of each value of the function there is a moment.
List* moments_in(const Stretches& stretches, int64 length);

// What stands for the moments in a function of them.
Node* parameter_of(Oid type);

// A constant of this type, or the date.
Const* moment_at(Oid type, Timestamp at);

// The moments between these from which local times fall, as a clock goes back, or the moments at
// which their hours or minutes begin, as it goes forward by no whole hours: by the clock of a zone
// that an expression names, or that of the session if the expression may depend on it. List of
// Const. False if a zone is not constant.
bool falls_of_clocks(const Level* level, const Node* expression, TimestampTz first,
                     TimestampTz last, List** falls);

// Whether one of these clocks jumps by more than a day, as that of a zone may that somebody has
// written: PostgreSQL takes midnights near to such a jump for later ones than those that follow.
bool jump_by_days(const Level* level, const Node* expression);

// Whether all of these clocks never change.
bool have_one_offset(const Level* level, const Node* expression);

}  // namespace dpquantile
