#include "pg/plain/clock_changes.hpp"

#include <algorithm>

#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

constexpr int kMostStretches = 100000;

// Its microseconds are an int64, with room for intervals.
constexpr Timestamp kLastMoment = int64{100000000} * USECS_PER_DAY;

bool is_moment(Oid type) {
  return type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// ---- Zones ---------------------------------------------------------------------------------

// The zone of a constant name; null if it is not constant, or no zone has the name. The clock of an
// abbreviation changes with that of its zone, or never.
pg_tz* zone_of(const Level* level, const Node* name) {
  if (name == nullptr) return session_timezone;
  if (exprType(name) != TEXTOID || !can_be_evaluated(name, NIL)) return nullptr;
  const Const* name_value = evaluated(level, name, nullptr, nullptr);
  if (name_value == nullptr) return nullptr;
  char zone_name[TZ_STRLEN_MAX + 1];
  text_to_cstring_buffer(static_cast<text*>(PG_DETOAST_DATUM_PACKED(name_value->constvalue)),
                         zone_name, sizeof(zone_name));
  char* lower = downcase_truncate_identifier(zone_name, static_cast<int>(strlen(zone_name)), false);
  pg_tz* of_abbreviation = nullptr;
  DPQ_DECODE_ABBREVIATION(lower, &of_abbreviation);
  return of_abbreviation != nullptr ? of_abbreviation : pg_tzset(zone_name);
}

// Calls `visit` for each change between these moments, until it returns false.
template <class Visit>
void visit_changes(const pg_tz* zone, TimestampTz first, TimestampTz last, Visit visit) {
  auto change = change_from(first, zone);
  while (change && change->at <= last) {
    CHECK_FOR_INTERRUPTS();
    if (!visit(*change)) return;
    change = change_after(*change, zone);
  }
}

// ---- Stretches -----------------------------------------------------------------------------

// Points that cut stretches, in any order.
class Cuts {
 public:
  explicit Cuts(const List* stretches) {
    first_ = PG_INT64_MAX;
    last_ = PG_INT64_MIN;
    for (const auto* stretch : each<const Stretch>(stretches)) {
      first_ = Min(first_, stretch->first + stretch->shift);
      last_ = Max(last_, stretch->last + stretch->shift);
    }
  }
  Timestamp first() const { return first_; }
  Timestamp last() const { return last_; }
  // False if there are too many.
  bool add(Timestamp at) {
    if (count_ > kMostStretches) return false;
    if (count_ == room_) grow();
    all_[count_++] = at;
    return true;
  }
  bool are_too_many() const { return count_ > kMostStretches; }
  void sort() { std::sort(all_, all_ + count_); }
  // The first one after a point, null if there is none. They must be sorted.
  const Timestamp* after(Timestamp point) const {
    const Timestamp* found = std::upper_bound(all_, all_ + count_, point);
    return found == all_ + count_ ? nullptr : found;
  }

 private:
  void grow() {
    room_ = room_ == 0 ? 256 : 2 * room_;
    const Size bytes = static_cast<Size>(room_) * sizeof(Timestamp);
    all_ = static_cast<Timestamp*>(all_ == nullptr ? palloc(bytes) : repalloc(all_, bytes));
  }

  Timestamp first_;
  Timestamp last_;
  Timestamp* all_ = nullptr;
  int count_ = 0;
  int room_ = 0;
};

Stretch* new_stretch(Timestamp first, Timestamp last, int64 shift) {
  auto* stretch = static_cast<Stretch*>(palloc(sizeof(Stretch)));
  *stretch = {first, last, shift};
  return stretch;
}

// Stretches that are cut where their moments, which are `shift` later, pass a point.
List* cut(const List* stretches, Cuts* cuts) {
  cuts->sort();
  List* pieces = NIL;
  for (const auto* whole : each<const Stretch>(stretches)) {
    Timestamp first = whole->first;
    const Timestamp* point = cuts->after(first + whole->shift);
    while (point != nullptr && *point <= whole->last + whole->shift) {
      pieces = lappend(pieces, new_stretch(first, *point - whole->shift - 1, whole->shift));
      first = *point - whole->shift;
      point = cuts->after(*point);
    }
    pieces = lappend(pieces, new_stretch(first, whole->last, whole->shift));
  }
  return pieces;
}

// The stretches of what a function gives for the moments of these, which it moves alike between two
// cuts. None if it fails.
std::optional<Stretches> moved(const Level* level, const Stretches& stretches, const Node* function,
                               const Node* parameter, Cuts* cuts) {
  const List* parts = list_make1(const_cast<Node*>(parameter));
  if (cuts->are_too_many() || !can_be_evaluated(function, parts)) return std::nullopt;
  Stretches result{stretches.source, cut(stretches.all, cuts)};
  if (list_length(result.all) > kMostStretches) return std::nullopt;
  const PreparedExpression prepared = prepare_expression(level, function, parts);
  for (auto* stretch : each<Stretch>(result.all)) {
    const Timestamp before = stretch->first + stretch->shift;
    const NullableDatum after =
        compute(prepared, list_make1(moment_at(exprType(parameter), before)));
    const bool is_known = !after.isnull && !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(after.value));
    if (!is_known) {
      FreeExprContext(prepared.context, true);
      return std::nullopt;
    }
    stretch->shift += DatumGetTimestamp(after.value) - before;
  }
  FreeExprContext(prepared.context, true);
  return result;
}

Node* call_of(Oid function, Oid result, List* arguments) {
  return as<Node>(
      makeFuncExpr(function, result, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// ---- Steps by which moments are computed ---------------------------------------------------

// Stretches in which the clock of a zone does not change. None if there are too many.
std::optional<Stretches> cut_by_clock(const Level* level, const Stretches& stretches,
                                      const Node* zone) {
  const pg_tz* clock = zone_of(level, zone);
  if (clock == nullptr) return std::nullopt;
  Cuts cuts(stretches.all);
  visit_changes(clock, cuts.first(), cuts.last(),
                [&](const ClockChange& change) { return cuts.add(change.at); });
  if (cuts.are_too_many()) return std::nullopt;
  return Stretches{stretches.source, cut(stretches.all, &cuts)};
}

// Local times of moments move alike until the clock changes.
std::optional<Stretches> to_local_time(const Level* level, const Stretches& stretches,
                                       const Node* zone) {
  const auto pieces = cut_by_clock(level, stretches, zone);
  if (!pieces) return std::nullopt;
  Cuts cuts(pieces->all);
  Node* moment = parameter_of(TIMESTAMPTZOID);
  Node* local = zone == nullptr ? call_of(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(moment))
                                : call_of(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID,
                                          list_make2(const_cast<Node*>(zone), moment));
  return moved(level, *pieces, local, moment, &cuts);
}

// Moments of local times: PostgreSQL looks for the first change that is later than the day before,
// as if it were one of UTC, and compares with it the moments by both offsets. So they move alike
// between the local times of a change by its two offsets, and a day after it.
std::optional<Stretches> from_local_time(const Level* level, const Stretches& stretches,
                                         const Node* zone) {
  const pg_tz* clock = zone_of(level, zone);
  if (clock == nullptr) return std::nullopt;
  Cuts cuts(stretches.all);
  visit_changes(clock, cuts.first() - kLongestFall, cuts.last() + kLongestFall,
                [&](const ClockChange& change) {
                  return cuts.add(change.at + change.before) &&
                         cuts.add(change.at + change.after) && cuts.add(change.at + USECS_PER_DAY);
                });
  Node* local = parameter_of(TIMESTAMPOID);
  Node* moment = zone == nullptr
                     ? call_of(F_TIMESTAMPTZ_TIMESTAMP, TIMESTAMPTZOID, list_make1(local))
                     : call_of(F_TIMEZONE_TEXT_TIMESTAMP, TIMESTAMPTZOID,
                               list_make2(const_cast<Node*>(zone), local));
  return moved(level, stretches, moment, local, &cuts);
}

// Some months later local times move alike in a month until the 29th, and on each day after it,
// which may be missing there.
std::optional<Stretches> months_later(const Level* level, const Stretches& stretches, int months) {
  Cuts cuts(stretches.all);
  int year = 0;
  int month = 0;
  int day = 0;
  j2date(static_cast<int>(cuts.first() / USECS_PER_DAY) + POSTGRES_EPOCH_JDATE, &year, &month,
         &day);
  for (Timestamp begin = PG_INT64_MIN; begin <= cuts.last() && !cuts.are_too_many();) {
    for (const int cut_day : {1, 29, 30, 31}) {
      begin = (date2j(year, month, cut_day) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
      cuts.add(begin);
    }
    year += month == MONTHS_PER_YEAR ? 1 : 0;
    month = month % MONTHS_PER_YEAR + 1;
  }
  auto* length = static_cast<Interval*>(palloc0(sizeof(Interval)));
  length->month = months;
  Node* local = parameter_of(TIMESTAMPOID);
  Node* constant = as<Node>(makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
                                      IntervalPGetDatum(length), false, false));
  Node* later = call_of(F_TIMESTAMP_PL_INTERVAL, TIMESTAMPOID, list_make2(local, constant));
  return moved(level, stretches, later, local, &cuts);
}

std::optional<Stretches> later_by(const Stretches& stretches, int64 microseconds) {
  Stretches result{stretches.source, NIL};
  for (const auto* stretch : each<const Stretch>(stretches.all)) {
    const int64 shift = stretch->shift + microseconds;
    const bool is_near =
        stretch->first + shift > -kLastMoment && stretch->last + shift < kLastMoment;
    if (!is_near) return std::nullopt;
    result.all = lappend(result.all, new_stretch(stretch->first, stretch->last, shift));
  }
  return result;
}

// An interval that is constant, and no longer than 1000 years. Null for others.
const Interval* constant_interval(const Level* level, const Node* expression) {
  if (exprType(expression) != INTERVALOID || !can_be_evaluated(expression, NIL)) return nullptr;
  const Const* value = evaluated(level, expression, nullptr, nullptr);
  if (value == nullptr) return nullptr;
  const Interval* length = DatumGetIntervalP(value->constvalue);
  constexpr int kMostDays = 365250;
  const bool is_short = std::abs(static_cast<double>(length->month)) <= kMostDays / 30 &&
                        std::abs(static_cast<double>(length->day)) <= kMostDays &&
                        std::abs(static_cast<double>(length->time)) <=
                            static_cast<double>(kMostDays) * static_cast<double>(USECS_PER_DAY);
  return is_short ? length : nullptr;
}

// What a part of an interval does to local times: months, or days.
template <class Step>
std::optional<Stretches> by_local_time(const Level* level, const Stretches& stretches, Oid type,
                                       Step step) {
  if (type != TIMESTAMPTZOID) return step(stretches);
  const auto local = to_local_time(level, stretches, nullptr);
  const auto later = local ? step(*local) : std::nullopt;
  return later ? from_local_time(level, *later, nullptr) : std::nullopt;
}

// An interval adds months, then days, both of local time, and then the rest.
std::optional<Stretches> interval_later(const Level* level, std::optional<Stretches> stretches,
                                        Oid type, const Interval& length, int sign) {
  if (stretches && length.month != 0) {
    stretches = by_local_time(level, *stretches, type, [&](const Stretches& local) {
      return months_later(level, local, sign * length.month);
    });
  }
  if (stretches && length.day != 0) {
    stretches = by_local_time(level, *stretches, type, [&](const Stretches& local) {
      return later_by(local, sign * length.day * USECS_PER_DAY);
    });
  }
  return stretches ? later_by(*stretches, sign * length.time) : std::nullopt;
}

// 1 for a moment or date plus an interval, -1 for minus; 0 for others.
int sign_of_shift(const OpExpr* sum) {
  switch (get_opcode(sum->opno)) {
    case F_TIMESTAMP_PL_INTERVAL:
    case F_TIMESTAMPTZ_PL_INTERVAL:
    case F_DATE_PL_INTERVAL:
      return 1;
    case F_TIMESTAMP_MI_INTERVAL:
    case F_TIMESTAMPTZ_MI_INTERVAL:
    case F_DATE_MI_INTERVAL:
      return -1;
    default:
      return 0;
  }
}

std::optional<Stretches> stretches_of_sum(const Level* level, const OpExpr* sum, const Span& span) {
  const int sign = sign_of_shift(sum);
  if (sign == 0) return std::nullopt;
  const Interval* length = constant_interval(level, static_cast<const Node*>(lsecond(sum->args)));
  if (length == nullptr) return std::nullopt;
  auto* moment = static_cast<Node*>(linitial(sum->args));
  return interval_later(level, stretches_of(level, moment, span), exprType(moment), *length, sign);
}

// AT TIME ZONE with the name of one.
bool has_zone(const FuncExpr* call) {
  return call->funcid == F_TIMEZONE_TEXT_TIMESTAMP || call->funcid == F_TIMEZONE_TEXT_TIMESTAMPTZ;
}

// Casts between dates and times, and AT TIME ZONE.
std::optional<Stretches> stretches_of_call(const Level* level, const FuncExpr* call,
                                           const Span& span) {
  const bool is_cast = call->funcid == F_TIMESTAMP_TIMESTAMPTZ ||
                       call->funcid == F_TIMESTAMPTZ_TIMESTAMP ||
                       call->funcid == F_TIMESTAMP_DATE || call->funcid == F_TIMESTAMPTZ_DATE;
  if (!has_zone(call) && !is_cast) return std::nullopt;
  const auto* zone = has_zone(call) ? static_cast<const Node*>(linitial(call->args)) : nullptr;
  auto* from = static_cast<Node*>(llast(call->args));
  const auto stretches = stretches_of(level, from, span);
  if (!stretches) return std::nullopt;
  const bool is_from_moment = exprType(from) == TIMESTAMPTZOID;
  if (is_from_moment == (call->funcresulttype == TIMESTAMPTZOID)) return stretches;
  return is_from_moment ? to_local_time(level, *stretches, zone)
                        : from_local_time(level, *stretches, zone);
}

// ---- Bounds --------------------------------------------------------------------------------

Timestamp bound(const ValueBounds& bounds, double number, Oid type) {
  const auto* constant = as<Const>(constant_of_text(
      type, -1, InvalidOid, iso_text_of_number(bounds.type, number, TextZone::kUtc)));
  if (type != DATEOID) return DatumGetTimestamp(constant->constvalue);
  return int64{DatumGetDateADT(constant->constvalue)} * USECS_PER_DAY;
}

std::optional<Stretches> stretch_of_bounds(const Level* level, Node* moment, const Span& span) {
  const Oid type = exprType(moment);
  if (type != DATEOID && !is_moment(type)) return std::nullopt;
  const auto bounds = bounds_of(level, moment, span.use);
  if (!bounds) return std::nullopt;
  const Timestamp last = bound(*bounds, bounds->upper, type);
  const Timestamp first = Min(bound(*bounds, bounds->lower, type), last);
  const bool is_near = first > -kLastMoment && last < kLastMoment && last - first <= span.longest;
  if (!is_near) return std::nullopt;
  return Stretches{moment, list_make1(new_stretch(Max(first - span.beyond, -kLastMoment),
                                                  Min(last + span.beyond, kLastMoment), 0))};
}

// ---- Zones of an expression ----------------------------------------------------------------

// The names of the zones in an expression, and null for that of the session if it may depend on it.
List* zones_in(const Node* expression) {
  const bool depends_on_session = contain_mutable_functions(const_cast<Node*>(expression));
  List* zones = depends_on_session ? list_make1(nullptr) : NIL;
  visit_nodes(expression, [&](const Node* node) {
    if (!IsA(node, FuncExpr)) return;
    const auto* call = as<FuncExpr>(node);
    if (has_zone(call)) zones = lappend(zones, linitial(call->args));
    const bool is_truncation = call->funcid < FirstUnpinnedObjectId &&
                               list_length(call->args) == 3 &&
                               is_one_of(get_func_name(call->funcid), "date_trunc");
    if (is_truncation) zones = lappend(zones, lthird(call->args));
  });
  return zones;
}

}  // namespace

std::optional<Stretches> stretches_of(const Level* level, Node* moment, const Span& span) {
  check_stack_depth();
  if (IsA(moment, OpExpr)) return stretches_of_sum(level, as<OpExpr>(moment), span);
  if (IsA(moment, FuncExpr)) return stretches_of_call(level, as<FuncExpr>(moment), span);
  return stretch_of_bounds(level, moment, span);
}

std::optional<Stretches> stretches_of_local_time(const Level* level, Node* moment, const Node* zone,
                                                 const Span& span) {
  const auto stretches = stretches_of(level, moment, span);
  if (!stretches || exprType(moment) != TIMESTAMPTZOID) return stretches;
  return cut_by_clock(level, *stretches, zone);
}

List* moments_in(const Stretches& stretches, int64 length) {
  const Oid type = exprType(stretches.source);
  const int64 grid = type == DATEOID ? USECS_PER_DAY : 1;
  const int64 step = Max(length, grid);
  List* moments = NIL;
  for (const auto* stretch : each<const Stretch>(stretches.all)) {
    // Bounds of dates are dates, but cuts may lie within days.
    const Timestamp rest = (stretch->first % grid + grid) % grid;
    const Timestamp first = stretch->first + (grid - rest) % grid;
    for (Timestamp at = first; at < stretch->last; at += step) {
      moments = lappend(moments, moment_at(type, at));
    }
    if (first <= stretch->last) moments = lappend(moments, moment_at(type, stretch->last));
  }
  return moments;
}

Const* moment_at(Oid type, Timestamp at) {
  if (type == DATEOID) {
    const int64 day = at / USECS_PER_DAY - (at % USECS_PER_DAY < 0 ? 1 : 0);
    return makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT),
                     DateADTGetDatum(static_cast<DateADT>(day)), false, true);
  }
  return makeConst(type, -1, InvalidOid, sizeof(Timestamp), TimestampGetDatum(at), false,
                   FLOAT8PASSBYVAL);
}

Node* parameter_of(Oid type) {
  Param* parameter = makeNode(Param);
  parameter->paramkind = PARAM_EXEC;
  parameter->paramid = -1;
  parameter->paramtype = type;
  parameter->paramtypmod = -1;
  parameter->location = -1;
  return as<Node>(parameter);
}

bool falls_of_clocks(const Level* level, const Node* expression, TimestampTz first,
                     TimestampTz last, List** falls) {
  for (const auto* name : each<const Node>(zones_in(expression))) {
    const pg_tz* zone = zone_of(level, name);
    if (zone == nullptr) return false;
    visit_changes(zone, first, last, [&](const ClockChange& change) {
      const int64 forward = change.after - change.before;
      if (forward < 0 || forward % USECS_PER_HOUR != 0) {
        *falls = lappend(*falls, moment_at(TIMESTAMPTZOID, change.at));
      }
      return true;
    });
  }
  return true;
}

// Written zones change alike each year, and in no other has a clock ever jumped so far.
bool jump_by_days(const Level* level, const Node* expression) {
  constexpr int64 kTwoYears = 731 * USECS_PER_DAY;
  const TimestampTz now = GetCurrentTransactionStartTimestamp();
  for (const auto* name : each<const Node>(zones_in(expression))) {
    const pg_tz* zone = zone_of(level, name);
    if (zone == nullptr) return true;
    bool jumps = false;
    visit_changes(zone, now, now + kTwoYears, [&](const ClockChange& change) {
      jumps |= std::abs(change.after - change.before) > USECS_PER_DAY;
      return !jumps;
    });
    if (jumps) return true;
  }
  return false;
}

bool have_one_offset(const Level* level, const Node* expression) {
  for (const auto* name : each<const Node>(zones_in(expression))) {
    const pg_tz* zone = zone_of(level, name);
    long offset = 0;
    if (zone == nullptr || !pg_get_timezone_offset(zone, &offset)) return false;
  }
  return true;
}

}  // namespace dpquantile
