#include "pg/plain/time_keys.hpp"

#include "pg/borrowed/early_values.hpp"
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

// ---- Bounds --------------------------------------------------------------------------------

struct TimeBounds {
  const Const* lower;
  const Const* upper;
};

const Const* bound(const ValueBounds& bounds, double number, Oid type) {
  return as<Const>(constant_of_text(type, -1, InvalidOid,
                                    iso_text_of_number(bounds.type, number, TextZone::kUtc)));
}

// The argument of a cast between dates and times, or of AT TIME ZONE; null for others.
Node* cast_moment(const FuncExpr* call) {
  switch (call->funcid) {
    case F_TIMESTAMP_TIMESTAMPTZ:
    case F_TIMESTAMPTZ_TIMESTAMP:
    case F_TIMESTAMP_DATE:
    case F_TIMESTAMPTZ_DATE:
      return static_cast<Node*>(linitial(call->args));
    case F_TIMEZONE_TEXT_TIMESTAMP:
    case F_TIMEZONE_TEXT_TIMESTAMPTZ:  // AT TIME ZONE
      return static_cast<Node*>(lsecond(call->args));
    default:
      return nullptr;
  }
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

struct ShiftedMoment {
  Node* moment;            // or date
  const Interval* length;  // by which it is earlier or later
};

// A moment plus or minus a constant interval; none for others.
std::optional<ShiftedMoment> shifted_moment(const Level* level, const Node* expression) {
  if (!IsA(expression, OpExpr)) return std::nullopt;
  const auto* sum = as<OpExpr>(expression);
  switch (get_opcode(sum->opno)) {
    case F_TIMESTAMP_PL_INTERVAL:
    case F_TIMESTAMP_MI_INTERVAL:
    case F_TIMESTAMPTZ_PL_INTERVAL:
    case F_TIMESTAMPTZ_MI_INTERVAL:
    case F_DATE_PL_INTERVAL:
    case F_DATE_MI_INTERVAL:
      break;
    default:
      return std::nullopt;
  }
  const Interval* length = constant_interval(level, static_cast<const Node*>(lsecond(sum->args)));
  if (length == nullptr) return std::nullopt;
  return ShiftedMoment{static_cast<Node*>(linitial(sum->args)), length};
}

constexpr int kLastDay = 100000000;  // of which the microseconds are an int64

// In microseconds
Timestamp position_of(const Const* moment) {
  return moment->consttype == DATEOID ? int64{DatumGetDateADT(moment->constvalue)} * USECS_PER_DAY
                                      : DatumGetTimestamp(moment->constvalue);
}

// Or the date
const Const* moment_at(const Const* like, Timestamp at) {
  if (like->consttype == DATEOID) {
    const int64 day = at / USECS_PER_DAY - (at % USECS_PER_DAY < 0 ? 1 : 0);
    return makeConst(DATEOID, -1, InvalidOid, sizeof(DateADT),
                     DateADTGetDatum(static_cast<DateADT>(day)), false, true);
  }
  return makeConst(like->consttype, -1, InvalidOid, sizeof(Timestamp), TimestampGetDatum(at), false,
                   FLOAT8PASSBYVAL);
}

// The first (direction 1) of the values from a moment on, or the last (-1) up to it. Where the
// clock goes back, the values fall once: by 3 hours at most.
const Const* extreme(const Level* level, const Node* cast, const Node* inner, const Const* moment,
                     int direction) {
  const Const* found = evaluated(level, cast, inner, moment);
  if (moment->consttype != TIMESTAMPTZOID) return found;
  for (int i = 1; i <= kFoldSteps && found != nullptr; ++i) {
    const Timestamp at = DatumGetTimestamp(moment->constvalue) + direction * i * kFoldStep;
    const Const* other = evaluated(level, cast, inner, moment_at(moment, at));
    if (other == nullptr) return nullptr;
    const Timestamp difference =
        DatumGetTimestamp(other->constvalue) - DatumGetTimestamp(found->constvalue);
    if (direction * difference < 0) found = other;
  }
  return found;
}

std::optional<TimeBounds> time_bounds(const Level* level, Node* moment) {
  check_stack_depth();
  const Oid type = exprType(moment);
  if (!is_in_calendar(type)) return std::nullopt;
  // Bounds of what else is computed may be wide, and each value between them would be a key.
  const auto shifted = shifted_moment(level, moment);
  if (IsA(moment, OpExpr) && (!shifted || exprType(shifted->moment) != DATEOID)) {
    return std::nullopt;
  }
  if (!shifted && !IsA(moment, FuncExpr)) {
    const auto bounds = bounds_of(level, moment, BoundsFor::kKeys);
    if (!bounds) return std::nullopt;
    return TimeBounds{bound(*bounds, bounds->lower, type), bound(*bounds, bounds->upper, type)};
  }
  Node* inner = shifted ? shifted->moment : cast_moment(as<FuncExpr>(moment));
  const auto inside = inner == nullptr ? std::nullopt : time_bounds(level, inner);
  if (!inside || !can_be_evaluated(moment, list_make1(inner))) return std::nullopt;
  const Const* lower = extreme(level, moment, inner, inside->lower, 1);
  const Const* upper = extreme(level, moment, inner, inside->upper, -1);
  return lower != nullptr && upper != nullptr ? std::optional(TimeBounds{lower, upper})
                                              : std::nullopt;
}

// ---- Units ---------------------------------------------------------------------------------

struct Unit {
  const char* name;
  int64 step;  // shorter than the unit ever is, also where the clock changes, in microseconds
};
constexpr Unit kUnits[] = {{"minute", 50 * USECS_PER_SEC}, {"hour", 14 * USECS_PER_MINUTE},
                           {"day", 20 * USECS_PER_HOUR},   {"week", 6 * USECS_PER_DAY},
                           {"month", 27 * USECS_PER_DAY},  {"quarter", 80 * USECS_PER_DAY},
                           {"year", 360 * USECS_PER_DAY},  {"decade", 3600 * USECS_PER_DAY}};

int64 step_of_unit(const char* name) {
  for (const Unit& unit : kUnits) {
    if (name != nullptr && pg_strcasecmp(name, unit.name) == 0) return unit.step;
  }
  return 0;
}

// Gives the step for a stride of date_bin, which takes no months; 0 if the stride is no such
// constant.
int64 step_of_stride(const Node* stride) {
  if (!IsA(stride, Const) || as<Const>(stride)->constisnull) return 0;
  const Interval* length = DatumGetIntervalP(as<Const>(stride)->constvalue);
  if (length->month != 0 || length->day < 0 || length->time < 0 || length->day > 100000) return 0;
  return (length->time + length->day * USECS_PER_DAY) / 5 * 4;
}

// How far moments may be apart so that none of the function's values is missed; 0 for other
// functions.
int64 step_of(const FuncExpr* call) {
  const char* name = get_func_name(call->funcid);
  if (call->funcid >= FirstUnpinnedObjectId || name == nullptr) return 0;
  if (call->funcid == F_DATE_TIMESTAMP || call->funcid == F_DATE_TIMESTAMPTZ) {
    return step_of_unit("day");
  }
  if (strcmp(name, "date_trunc") == 0) return step_of_unit(unit_of_text(argument(call, 0)));
  return strcmp(name, "date_bin") == 0 ? step_of_stride(argument(call, 0)) : 0;
}

// The moment of which constant intervals make another, also with casts between; the other itself if
// they make none. The bounds of the one are known, and those of the other where the clock changes
// are not: so keys are computed for the one. Its stretches with one key are as long as the units of
// the other, except at changes of the clock. Shifts by months leave out days, such as those of
// March that February does not have; null where a unit is not much longer.
Node* unshifted_moment(const Level* level, Node* moment, int64 step) {
  check_stack_depth();
  if (const auto shifted = shifted_moment(level, moment)) {
    const Interval* length = shifted->length;
    if (!is_moment(exprType(shifted->moment))) return moment;
    const bool keeps_units = length->month == 0 || (length->day == 0 && length->time == 0 &&
                                                    step >= step_of_unit("month"));
    return keeps_units ? unshifted_moment(level, shifted->moment, step) : nullptr;
  }
  Node* inner = IsA(moment, FuncExpr) ? cast_moment(as<FuncExpr>(moment)) : nullptr;
  if (inner == nullptr || !is_moment(exprType(inner))) return moment;
  Node* unshifted = unshifted_moment(level, inner, step);
  return unshifted == inner ? moment : unshifted;
}

// The moments from bound to bound, so near to each other that no value is missed. Where the clock
// goes back soon after the first, a day goes on that is over then.
List* moments_between(const TimeBounds& bounds, int64 step, int most) {
  for (const Const* end : {bounds.lower, bounds.upper}) {
    if (end->consttype == DATEOID && std::abs(DatumGetDateADT(end->constvalue)) > kLastDay)
      return NIL;
  }
  const Timestamp first = position_of(bounds.lower);
  const Timestamp last = position_of(bounds.upper);
  List* moments = NIL;
  for (int i = 1; i <= kFoldSteps && first + i * kFoldStep < last; ++i) {
    moments = lappend(moments, const_cast<Const*>(moment_at(bounds.upper, first + i * kFoldStep)));
    moments = lappend(moments, const_cast<Const*>(moment_at(bounds.upper, last - i * kFoldStep)));
  }
  for (Timestamp at = first; at < last; at += step) {
    if (list_length(moments) > most) return NIL;
    moments = lappend(moments, const_cast<Const*>(moment_at(bounds.upper, at)));
  }
  return lappend(moments, const_cast<Const*>(bounds.upper));
}

List* beginnings(const Level* level, const FuncExpr* call) {
  Node* moment = moment_of(call);
  if (moment != nullptr) moment = unshifted_moment(level, moment, step_of(call));
  const auto bounds = moment == nullptr ? std::nullopt : time_bounds(level, moment);
  if (!bounds || !is_moment(bounds->lower->consttype)) return NIL;
  bool fails = false;
  List* values = evaluated_list(level, as<Node>(call), moment,
                                moments_between(*bounds, step_of(call), 5 * kMaxElements), &fails);
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

double number_of(const Const* constant) {
  const auto type = find_value_type(constant->consttype);
  return type ? number_of_value(*type, constant->constvalue) : 0;
}

List* years(const Level* level, const FuncExpr* call, Node* moment) {
  const auto bounds = time_bounds(level, moment);
  const auto* extract = as<Node>(call);
  if (!bounds || !can_be_evaluated(extract, list_make1(moment))) return NIL;
  const Const* first = evaluated(level, extract, moment, bounds->lower);
  const Const* last = evaluated(level, extract, moment, bounds->upper);
  if (first == nullptr || last == nullptr || number_of(first) < 1) return NIL;
  if (number_of(last) - number_of(first) >= kMaxElements) return NIL;
  return whole_numbers(call->funcresulttype, static_cast<int>(number_of(first)),
                       static_cast<int>(number_of(last)));
}

List* extracted_parts(const Level* level, const FuncExpr* call) {
  const char* part_name = unit_of_text(argument(call, 0));
  auto* moment = static_cast<Node*>(lsecond(call->args));
  if (part_name == nullptr || !is_in_calendar(exprType(moment))) return NIL;
  for (const Part& part : kParts) {
    if (strcmp(part_name, part.name) == 0) {
      return whole_numbers(call->funcresulttype, part.least, part.most);
    }
  }
  return strcmp(part_name, "year") == 0 ? years(level, call, moment) : NIL;
}

// ---- Several parts of one moment -----------------------------------------------------------

// The minutes of a week, which are computed in a part of a second
constexpr int kMostMomentsOfParts = 13 * kMaxElements;

// The step for the unit with which a part changes; 0 if it is no such part.
int64 step_of_part(const FuncExpr* call) {
  const char* name = extracts_part(call) ? unit_of_text(argument(call, 0)) : nullptr;
  if (name == nullptr || !is_in_calendar(exprType(argument(call, 1)))) return 0;
  const int64 step = step_of_unit(is_one_of(name, "dow isodow doy") ? "day" : name);
  const bool is_of_dates = step >= step_of_unit("day");
  return is_of_dates || is_moment(exprType(argument(call, 1))) ? step : 0;
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
  Node* moment;  // null if it is something else
  int64 step;
  const Node* zone;  // in which it begins; null: that of the session
  Cycle cycle;
};

UnitOfMoment unit_of(const Node* node) {
  if (!IsA(node, FuncExpr)) return {};
  const auto* call = as<FuncExpr>(node);
  if (const char* unit = unit_of_formatted_moment(node)) {
    return {static_cast<Node*>(linitial(call->args)), step_of_unit(unit), nullptr,
            cycle_of_formatted_moment(call)};
  }
  if (const int64 step = step_of_part(call)) {
    return {static_cast<Node*>(lsecond(call->args)), step, nullptr,
            cycle_of_part(unit_of_text(argument(call, 0)))};
  }
  const bool is_bin = is_one_of(get_func_name(call->funcid), "date_bin");
  Node* moment = is_bin ? nullptr : moment_of(call);
  if (moment == nullptr) return {};
  return {moment, step_of(call), list_length(call->args) == 3 ? argument(call, 2) : nullptr,
          Cycle::kEndless};
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
      least.step = unit.step;
      least.zone = unit.zone;
    }
    if (!begin_together(least, unit)) return Look::kFound;
    const bool is_week = unit.step == step_of_unit("week");
    least.step = Min(least.step, is_week ? step_of_unit("day") : unit.step);
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

// The moments between the bounds of that of which they are such; NIL if there are too many.
List* moments_of_bounds(const Level* level, const UnitOfMoment& least, Node** of_moment) {
  Node* moment = unshifted_moment(level, least.moment, least.step);
  *of_moment = moment;
  const auto bounds = moment == nullptr ? std::nullopt : time_bounds(level, moment);
  if (!bounds || !is_in_calendar(bounds->lower->consttype)) return NIL;
  return moments_between(*bounds, least.step, kMostMomentsOfParts);
}

List* values_between_bounds(const Level* level, const Node* key, const UnitOfMoment& least) {
  Node* moment = nullptr;
  List* moments = moments_of_bounds(level, least, &moment);
  return moments == NIL ? NIL : values_for_moments(level, key, moment, moments);
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
  const int64 step = least.step <= step_of_unit("minute") ? USECS_PER_MINUTE
                     : least.step <= step_of_unit("hour") ? USECS_PER_HOUR
                                                          : USECS_PER_DAY;
  const int64 end = days_of(least.cycle) * USECS_PER_DAY;
  if (end / step > kMostMomentsOfParts) return NIL;
  const Const* any = makeNullConst(exprType(local), -1, InvalidOid);
  List* times = NIL;
  for (int64 at = 0; at < end; at += step) {
    times = lappend(times, const_cast<Const*>(moment_at(any, at)));
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

std::optional<TimeBounds> bounds_or_value(const Level* level, Node* moment) {
  if (contain_var_clause(moment) || !can_be_evaluated(moment, NIL)) {
    return time_bounds(level, moment);
  }
  const Const* value = evaluated(level, moment, nullptr, nullptr);
  return value == nullptr ? std::nullopt : std::optional(TimeBounds{value, value});
}

// Whole months of an age, which neither fall while the one moment grows nor rise while the other
// does.
int months_of(const Level* level, const Node* age, const Const* end, const Const* begin) {
  auto* call = static_cast<FuncExpr*>(copyObjectImpl(age));
  call->args = list_make2(copyObjectImpl(end), copyObjectImpl(begin));
  const Const* months = evaluated(level, as<Node>(call), nullptr, nullptr);
  return months == nullptr ? 0 : DatumGetIntervalP(months->constvalue)->month;
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
  const auto ends = bounds_or_value(level, static_cast<Node*>(linitial(moments)));
  const auto begins = bounds_or_value(level, static_cast<Node*>(lsecond(moments)));
  if (!ends || !begins) return NIL;
  const int least = months_of(level, age, ends->lower, begins->upper);
  const int most = months_of(level, age, ends->upper, begins->lower);
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

List* rows_of_time_parts(const Level* level, const List* keys) {
  const UnitOfMoment least = units_of(as<Node>(keys));
  if (least.moment == nullptr) return NIL;
  Node* moment = nullptr;
  List* moments = moments_of_bounds(level, least, &moment);
  if (moments != NIL) {
    return evaluated_rows(level, keys, moment, lappend(moments, null_like(moment)));
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
  if (step_of(call) <= 0) return nullptr;
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
  return extracts_part(call) ? extracted_parts(level, call) : NIL;
}

}  // namespace dpquantile
