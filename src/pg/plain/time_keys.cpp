#include "pg/plain/time_keys.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/clock_changes.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/time_formats.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

bool is_moment(Oid type) {
  return type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

// Times of day and intervals have other parts.
bool is_in_calendar(Oid type) {
  return type == DATEOID || is_moment(type);
}

const Node* argument(const FuncExpr* call, int number) {
  return static_cast<const Node*>(list_nth(call->args, number));
}

const char* text_constant(const Node* expression) {
  if (!IsA(expression, Const)) return nullptr;
  const auto* constant = as<Const>(expression);
  if (constant->constisnull || constant->consttype != TEXTOID) return nullptr;
  return TextDatumGetCString(constant->constvalue);
}

// ---- Units ---------------------------------------------------------------------------------

struct Unit {
  const char* name;
  int64 least;  // how long it is at least in local time, in microseconds
};
// The first decade has no year 0.
constexpr Unit kUnits[] = {{"minute", USECS_PER_MINUTE},  {"hour", USECS_PER_HOUR},
                           {"day", USECS_PER_DAY},        {"week", 7 * USECS_PER_DAY},
                           {"month", 28 * USECS_PER_DAY}, {"quarter", 90 * USECS_PER_DAY},
                           {"year", 365 * USECS_PER_DAY}, {"decade", 9 * 365 * USECS_PER_DAY}};

int64 length_of_unit(const char* name) {
  for (const Unit& unit : kUnits) {
    if (name != nullptr && pg_strcasecmp(name, unit.name) == 0) return unit.least;
  }
  return 0;
}

// The length of a stride of date_bin, which takes no months; 0 if the stride is no such constant.
int64 length_of_stride(const Node* stride) {
  if (!IsA(stride, Const) || as<Const>(stride)->constisnull) return 0;
  const Interval* length = DatumGetIntervalP(as<Const>(stride)->constvalue);
  if (length->month != 0 || length->day < 0 || length->time < 0 || length->day > 100000) return 0;
  return length->time + length->day * USECS_PER_DAY;
}

bool is_bin(const FuncExpr* call) {
  return call->funcid < FirstUnpinnedObjectId && is_one_of(get_func_name(call->funcid), "date_bin");
}

// The least length of the unit, or bin, of which the function's values are; 0 for other functions.
int64 length_of(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  if (call->funcid >= FirstUnpinnedObjectId || name == nullptr) return 0;
  if (call->funcid == F_DATE_TIMESTAMP || call->funcid == F_DATE_TIMESTAMPTZ) {
    return length_of_unit("day");
  }
  if (strcmp(name, "date_trunc") == 0) return length_of_unit(unit_of_text(argument(call, 0)));
  return is_bin(call) ? length_of_stride(argument(call, 0)) : 0;
}

// The zone of the units that a call of date_trunc or another function is for; null: that of the
// session.
const Node* zone_of_units(const FuncExpr* call) {
  return list_length(call->args) == 3 ? argument(call, 2) : nullptr;
}

List* beginnings(const Level* level, const FuncExpr* call) {
  Node* moment = moment_of(call);
  const int64 length = moment == nullptr ? length_of_unit("year") : length_of(call);
  if (moment == nullptr) moment = moment_of_year(call);
  if (moment == nullptr) return NIL;
  const int64 longest = 2 * kMaxElements * length;
  // Bins have the same length whatever clocks show.
  const auto stretches =
      is_bin(call) ? stretches_of(level, moment, {longest})
                   : stretches_of_local_time(level, moment, zone_of_units(call), {longest});
  if (!stretches) return NIL;
  bool fails = false;
  List* values = evaluated_list(level, as<Node>(call), stretches->source,
                                moments_in(*stretches, length), &fails);
  return list_length(values) <= kMaxElements ? values : NIL;
}

// ---- Parts ---------------------------------------------------------------------------------

struct Part {
  const char* name;
  int least;
  int most;
};
constexpr Part kParts[] = {{"month", 1, 12}, {"quarter", 1, 4}, {"day", 1, 31},
                           {"hour", 0, 23},  {"minute", 0, 59}, {"dow", 0, 6},
                           {"isodow", 1, 7}, {"week", 1, 53},   {"doy", 1, 366}};

bool extracts_part(const FuncExpr* call) {
  return call->funcid < FirstUnpinnedObjectId && list_length(call->args) == 2 &&
         is_one_of(get_func_name(call->funcid), "extract date_part");
}

List* extracted_parts(const FuncExpr* call) {
  const char* part_name = unit_of_text(argument(call, 0));
  if (part_name == nullptr || !is_in_calendar(exprType(argument(call, 1)))) return NIL;
  for (const Part& part : kParts) {
    if (strcmp(part_name, part.name) == 0) {
      return whole_numbers(call->funcresulttype, part.least, part.most);
    }
  }
  return NIL;
}

// ---- Several parts of one moment -----------------------------------------------------------

// The minutes of a week, which are computed in a part of a second
constexpr int kMostMomentsOfParts = 13 * kMaxElements;

// The least length of the unit with which a part changes; 0 if it is no such part.
int64 length_of_part(const FuncExpr* call) {
  const char* name = extracts_part(call) ? unit_of_text(argument(call, 0)) : nullptr;
  if (name == nullptr || !is_in_calendar(exprType(argument(call, 1)))) return 0;
  const int64 length = length_of_unit(is_one_of(name, "dow isodow doy") ? "day" : name);
  const bool is_of_dates = length >= length_of_unit("day");
  return is_of_dates || is_moment(exprType(argument(call, 1))) ? length : 0;
}

// After how long a part of a time repeats.
Cycle cycle_of_part(const char* name) {
  if (is_one_of(name, "minute hour")) return Cycle::kDay;
  if (is_one_of(name, "dow isodow")) return Cycle::kWeek;
  if (is_one_of(name, "month quarter day")) return Cycle::kLeapYear;
  return is_one_of(name, "week doy") ? Cycle::kYears : Cycle::kEndless;
}

// A unit or part of a moment in a key.
struct UnitOfMoment {
  Node* moment;      // null if it is something else; the date, if it is a time that one begins
  int64 length;      // at least
  const Node* zone;  // in which it begins; null: that of the session
  Cycle cycle;
};

Node* without_cast_of_date(Node* moment) {
  if (!IsA(moment, FuncExpr)) return moment;
  const Oid function = as<FuncExpr>(moment)->funcid;
  const bool is_cast = function == F_TIMESTAMP_DATE || function == F_TIMESTAMPTZ_DATE;
  return is_cast ? static_cast<Node*>(linitial(as<FuncExpr>(moment)->args)) : moment;
}

UnitOfMoment unit_of(const Node* node) {
  if (!IsA(node, FuncExpr)) return {};
  const auto* call = as<FuncExpr>(node);
  if (const char* unit = unit_of_formatted_moment(node)) {
    return {without_cast_of_date(static_cast<Node*>(linitial(call->args))), length_of_unit(unit),
            nullptr, cycle_of_formatted_moment(call)};
  }
  if (const int64 length = length_of_part(call)) {
    return {without_cast_of_date(static_cast<Node*>(lsecond(call->args))), length, nullptr,
            cycle_of_part(unit_of_text(argument(call, 0)))};
  }
  Node* moment = is_bin(call) ? nullptr : moment_of(call);
  // The date of a unit is computed of that.
  const bool is_date = moment != nullptr && list_length(call->args) == 1;
  if (moment == nullptr || (is_date && unit_of(moment).moment != nullptr)) return {};
  return {without_cast_of_date(moment), length_of(call), zone_of_units(call), Cycle::kEndless};
}

// Whether units are of one moment and one zone. Those of several zones begin within each other.
bool begin_together(const UnitOfMoment& one, const UnitOfMoment& other) {
  const bool is_known = other.zone == nullptr || text_constant(other.zone) != nullptr;
  return is_known && equal(one.moment, other.moment) && equal(one.zone, other.zone);
}

// What a key is computed of: units and parts of one moment. The smallest one of them, with the
// cycle of all. Without a moment if it is computed of anything else, too. A month may begin within
// a week, so weeks count as days.
UnitOfMoment units_of(const Node* key) {
  UnitOfMoment least{};
  least.cycle = Cycle::kDay;
  const bool has_other = search(key, [&](Node* node) {
    const UnitOfMoment unit = unit_of(node);
    if (unit.moment == nullptr) {
      return IsA(node, Var) || IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc)
                 ? Look::kFound
                 : Look::kBelow;
    }
    if (least.moment == nullptr) {
      least.moment = unit.moment;
      least.length = unit.length;
      least.zone = unit.zone;
    }
    if (!begin_together(least, unit)) return Look::kFound;
    const bool is_week = unit.length == length_of_unit("week");
    least.length = Min(least.length, is_week ? length_of_unit("day") : unit.length);
    least.cycle = common_cycle(least.cycle, unit.cycle);
    return Look::kPast;
  });
  return has_other ? UnitOfMoment{} : least;
}

// The values of a key for these moments, and for none: COALESCE has a key for rows without one.
List* values_for_moments(const Level* level, const Node* key, const Node* moment, List* moments) {
  moments = lappend(moments, const_cast<Const*>(null_like(moment)));
  bool gives_null = false;
  List* values = evaluated_list(level, key, moment, moments, &gives_null);
  if (values != NIL && gives_null) values = lappend(values, const_cast<Const*>(null_like(key)));
  return list_length(values) <= kMaxElements ? values : NIL;
}

List* values_between_bounds(const Level* level, const Node* key, const UnitOfMoment& least) {
  const auto stretches = stretches_of_local_time(level, least.moment, least.zone,
                                                 {kMostMomentsOfParts * least.length});
  if (!stretches) return NIL;
  return values_for_moments(level, key, stretches->source, moments_in(*stretches, least.length));
}

// ---- Parts that repeat ---------------------------------------------------------------------

// The function of a time without a zone that gives what another gives for the local time of a
// moment.
Oid function_of_local_time(Oid function) {
  switch (function) {
    case F_TO_CHAR_TIMESTAMPTZ_TEXT:
      return F_TO_CHAR_TIMESTAMP_TEXT;
    case F_EXTRACT_TEXT_TIMESTAMPTZ:
      return F_EXTRACT_TEXT_TIMESTAMP;
    case F_DATE_PART_TEXT_TIMESTAMPTZ:
      return F_DATE_PART_TEXT_TIMESTAMP;
    default:
      return function;
  }
}

// A key with the local time of its moment in the place of this.
Node* of_local_time(const Node* key, const Node* moment, const Node* local) {
  if (equal(moment, local)) return const_cast<Node*>(key);
  return mapped(const_cast<Node*>(key), [=](const Node* node) -> Node* {
    if (unit_of(node).moment == nullptr) return nullptr;
    auto* call = static_cast<FuncExpr*>(copyObjectImpl(node));
    call->funcid = function_of_local_time(call->funcid);
    call->args = mapped(call->args, [=](const Node* argument) -> Node* {
      return equal(argument, moment) ? static_cast<Node*>(copyObjectImpl(local)) : nullptr;
    });
    return as<Node>(call);
  });
}

int days_of(Cycle cycle) {
  constexpr int kDays[] = {1, 7, 366, 28 * 365 + 7};
  return kDays[static_cast<int>(cycle)];
}

// The times of a cycle, such as the 24 hours of whatever days. It begins in the leap
// year 2000. The dates of 28 years, of which none at the end of a century is no leap year, have all
// combinations of weeks, days of the week and of the year.
List* times_of_cycle(const UnitOfMoment& least, const Node* local) {
  if (least.cycle == Cycle::kEndless) return NIL;
  const bool is_date = exprType(local) == DATEOID;
  const int64 step = is_date || least.length > length_of_unit("hour") ? USECS_PER_DAY
                     : least.length > length_of_unit("minute")        ? USECS_PER_HOUR
                                                                      : USECS_PER_MINUTE;
  const int64 end = days_of(least.cycle) * USECS_PER_DAY;
  if (end / step > kMostMomentsOfParts) return NIL;
  List* times = NIL;
  for (int64 at = 0; at < end; at += step) {
    times = lappend(times, moment_at(exprType(local), at));
  }
  return times;
}

const Node* local_time_of(const UnitOfMoment& least) {
  if (exprType(least.moment) != TIMESTAMPTZOID) return least.moment;
  return as<Node>(makeFuncExpr(F_TIMESTAMP_TIMESTAMPTZ, TIMESTAMPOID, list_make1(least.moment),
                               InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST));
}

List* values_of_cycle(const Level* level, const Node* key, const UnitOfMoment& least) {
  const Node* local = local_time_of(least);
  List* times = times_of_cycle(least, local);
  if (times == NIL) return NIL;
  return values_for_moments(level, of_local_time(key, least.moment, local), local, times);
}

// ---- Whole months between two moments --------------------------------------------------------

// The age of which a part is extracted that follows from its whole months, as age(a, b) has them;
// null for other nodes.
Node* age_of_part(const Node* node) {
  const auto* call = as<FuncExpr>(node);
  if (!IsA(node, FuncExpr) || !extracts_part(call)) return nullptr;
  const char* name = unit_of_text(argument(call, 0));
  auto* age = static_cast<Node*>(lsecond(call->args));
  const bool is_age =
      IsA(age, FuncExpr) && (as<FuncExpr>(age)->funcid == F_AGE_TIMESTAMP_TIMESTAMP ||
                             as<FuncExpr>(age)->funcid == F_AGE_TIMESTAMPTZ_TIMESTAMPTZ);
  return is_age && name != nullptr && is_one_of(name, "month quarter year decade") ? age : nullptr;
}

// The only age of whose whole months a key is computed; null if it is computed of anything else,
// too.
Node* age_of(const Node* key) {
  Node* found = nullptr;
  const bool has_other = search(key, [&](Node* node) {
    Node* age = age_of_part(node);
    if (age == nullptr) {
      return IsA(node, Var) || IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc)
                 ? Look::kFound
                 : Look::kBelow;
    }
    if (found == nullptr) found = age;
    return equal(found, age) ? Look::kPast : Look::kFound;
  });
  return has_other ? nullptr : found;
}

struct LocalBounds {
  Timestamp lower;
  Timestamp upper;
};

// The local times of a moment, also of one that is constant.
std::optional<LocalBounds> local_bounds(const Level* level, Node* moment) {
  if (!contain_var_clause(moment) && can_be_evaluated(moment, NIL)) {
    const Const* value = evaluated(level, moment, nullptr, nullptr);
    if (value == nullptr || TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value->constvalue))) {
      return std::nullopt;
    }
    const Timestamp at =
        value->consttype == TIMESTAMPTZOID
            ? DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp, value->constvalue))
            : DatumGetTimestamp(value->constvalue);
    return LocalBounds{at, at};
  }
  const auto stretches = stretches_of_local_time(level, moment, nullptr, {PG_INT64_MAX});
  if (!stretches) return std::nullopt;
  LocalBounds bounds{PG_INT64_MAX, PG_INT64_MIN};
  for (const auto* stretch : each<const Stretch>(stretches->all)) {
    bounds.lower = Min(bounds.lower, stretch->first + stretch->shift);
    bounds.upper = Max(bounds.upper, stretch->last + stretch->shift);
  }
  return bounds;
}

// Whole months of an age by local times, which neither fall while the one grows nor rise while the
// other does.
int months_of_age(Timestamp end, Timestamp begin) {
  return DatumGetIntervalP(
             DirectFunctionCall2(timestamp_age, TimestampGetDatum(end), TimestampGetDatum(begin)))
      ->month;
}

Const* interval_of_months(int months) {
  auto* interval = static_cast<Interval*>(palloc0(sizeof(Interval)));
  interval->month = months;
  return makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval), IntervalPGetDatum(interval),
                   false, false);
}

List* values_of_age(const Level* level, const Node* key) {
  Node* age = age_of(key);
  if (age == nullptr) return NIL;
  const auto* moments = as<FuncExpr>(age)->args;
  const auto ends = local_bounds(level, static_cast<Node*>(linitial(moments)));
  const auto begins = local_bounds(level, static_cast<Node*>(lsecond(moments)));
  if (!ends || !begins) return NIL;
  int least = months_of_age(ends->lower, begins->upper);
  int most = months_of_age(ends->upper, begins->lower);
  if (as<FuncExpr>(age)->funcid == F_AGE_TIMESTAMPTZ_TIMESTAMPTZ && least <= 0 && most >= 0) {
    // As the clock goes back, an earlier moment may have a later local time. PostgreSQL gives a
    // month and some negative days as its age.
    least = Min(least, -1);
    most = Max(most, 1);
  }
  if (most - least > kMostMomentsOfParts) return NIL;
  List* ages = NIL;
  for (int months = least; months <= most; ++months) {
    ages = lappend(ages, interval_of_months(months));
  }
  return values_for_moments(level, key, age, ages);
}

}  // namespace

List* values_of_time_parts(const Level* level, const Node* key) {
  const UnitOfMoment least = units_of(key);
  if (least.moment == nullptr) return values_of_age(level, key);
  List* values = values_between_bounds(level, key, least);
  return values != NIL ? values : values_of_cycle(level, key, least);
}

namespace {

// How far beyond bounds a row may be in a unit that begins or ends between them, and then in parts
// that repeat as no moment between them is: so long as the longest such unit. 0 if nothing repeats.
int64 longest_beyond(const List* keys) {
  int64 longest = 0;
  bool repeats = false;
  visit_nodes(as<Node>(const_cast<List*>(keys)), [&](const Node* node) {
    const UnitOfMoment unit = unit_of(node);
    if (unit.moment == nullptr) return;
    repeats |= unit.cycle != Cycle::kEndless;
    if (unit.cycle != Cycle::kEndless) return;
    // A text of weeks counts as one of days.
    const bool may_be_week =
        unit_of_formatted_moment(node) != nullptr && unit.length == length_of_unit("day");
    longest = Max(longest, may_be_week ? length_of_unit("week") : unit.length);
  });
  return repeats ? 2 * longest : 0;
}

}  // namespace

List* rows_of_time_parts(const Level* level, const List* keys) {
  const UnitOfMoment least = units_of(as<Node>(keys));
  if (least.moment == nullptr) return NIL;
  const int64 longest = kMostMomentsOfParts * least.length;
  const int64 beyond = longest_beyond(keys);
  if (beyond > 2 * longest) return NIL;
  auto stretches =
      stretches_of_local_time(level, least.moment, least.zone, {longest, 0, BoundsFor::kAllRows});
  if (!stretches && least.cycle == Cycle::kEndless) {
    stretches = stretches_of_local_time(level, least.moment, least.zone, {longest, beyond});
  }
  if (stretches) {
    List* moments = moments_in(*stretches, least.length);
    return evaluated_rows(level, keys, stretches->source,
                          lappend(moments, null_like(stretches->source)));
  }
  const Node* local = local_time_of(least);
  List* times = times_of_cycle(least, local);
  if (times == NIL) return NIL;
  List* of_local_times = NIL;
  for (const auto* key : each<const Node>(keys)) {
    of_local_times = lappend(of_local_times, of_local_time(key, least.moment, local));
  }
  return evaluated_rows(level, of_local_times, local, lappend(times, null_like(local)));
}

bool repeats(Node* key) {
  return units_of(key).cycle != Cycle::kEndless;
}

Node* moment_of_time_parts(const List* keys) {
  return units_of(as<Node>(keys)).moment;
}

List* whole_numbers(Oid type, int least, int most) {
  List* values = NIL;
  for (int number = least; number <= most; ++number) {
    values = lappend(values, constant_of_text(type, -1, InvalidOid, psprintf("%d", number)));
  }
  return values;
}

Node* moment_of(const FuncExpr* call) {
  if (length_of(call) <= 0) return nullptr;
  const bool is_cast = list_length(call->args) == 1;
  return static_cast<Node*>(list_nth(call->args, is_cast ? 0 : 1));
}

Node* moment_of_year(const FuncExpr* call) {
  if (!extracts_part(call)) return nullptr;
  auto* moment = static_cast<Node*>(lsecond(call->args));
  const char* part = unit_of_text(argument(call, 0));
  return part != nullptr && strcmp(part, "year") == 0 && is_in_calendar(exprType(moment)) ? moment
                                                                                          : nullptr;
}

Node* moment_of_local_time(const Node* moment) {
  if (!IsA(moment, FuncExpr)) return nullptr;
  const auto* call = as<FuncExpr>(moment);
  if (call->funcid == F_TIMESTAMP_TIMESTAMPTZ) return static_cast<Node*>(linitial(call->args));
  const bool has_zone = call->funcid == F_TIMEZONE_TEXT_TIMESTAMPTZ &&
                        text_constant(static_cast<const Node*>(linitial(call->args))) != nullptr;
  return has_zone ? static_cast<Node*>(lsecond(call->args)) : nullptr;
}

List* values_of_time_function(const Level* level, const FuncExpr* call) {
  if (List* values = beginnings(level, call)) return values;
  return extracts_part(call) ? extracted_parts(call) : NIL;
}

}  // namespace dpquantile
