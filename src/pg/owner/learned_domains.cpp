// dp_learn_domain: the owner of a protected table has bounds of a column found, and publishes them.
#include <cmath>
#include <limits>
#include <optional>

#include "core/noisy_histogram/closer_look.hpp"
#include "core/noisy_histogram/learned_bounds.hpp"
#include "core/privacy/mechanism.hpp"
#include "pg/charge/published.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/owner/column_domains.hpp"
#include "pg/owner/learning.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/query_random.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// So far from 0 noise may carry a bound of zeros: 48 cells, as the cells of numbers are 2^-126 wide
// up to 2^-123, and octaves of 8 from there on (ordinal_grid_of). Each bound of zeros alone is
// farther with a probability below 1.3e-8 (Theorem 25c with D = 40).
constexpr double kEndOfZeros = 0x1p-118;
// A range of so few values of a type is not looked at more closely.
constexpr double kLeastSteps = 8;
// The least and the largest value of a person count.
constexpr int kValuesOfPerson = 2;

// The guarantee for each value that counts. ereports if a part of epsilon is too small for noise.
PrivacyParameter privacy_of_value(double epsilon, int values) {
  report(guarded([&] { check_epsilon(epsilon); }));
  if (epsilon >= values * kMinEpsilon) return pure(epsilon / values);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("epsilon must be at least %s where the table protects persons, got %s",
                  decimal_text(values * kMinEpsilon), decimal_text(epsilon)),
           errhint("Half of it is for the least value of each person, half for the largest.")));
}

// What a closer look has of the guarantee.
PrivacyParameter rest_of(double epsilon) {
  return pure(epsilon * (kLooks - 1) / kLooks);
}

// A condition of SQL that holds for finite values alone. NaN is larger than all numbers. No numeric
// from `end` on has a finite number.
const char* finite_values(const char* value, ValueType type) {
  switch (type) {
    case ValueType::kFloat8:
    case ValueType::kReal:
    case ValueType::kNumeric: {
      const char* end = type == ValueType::kNumeric ? "1.7976931348623159e308" : "Infinity";
      return psprintf(
          " AND t0.%s OPERATOR(pg_catalog.>) '-%s' AND t0.%s OPERATOR(pg_catalog.<) '%s'", value,
          end, value, end);
    }
    case ValueType::kDate:
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
    case ValueType::kInterval:
      return psprintf(" AND pg_catalog.isfinite(t0.%s)", value);
    case ValueType::kSmallint:
    case ValueType::kInteger:
    case ValueType::kBigint:
    case ValueType::kTime:
      break;
  }
  return "";
}

// A row for each value that counts. An infinity or NaN would be the least or the largest value of
// its person.
const char* query_of_values(const PersonRows& rows, const Column& column, ValueType type) {
  const char* value = quote_identifier(NameStr(column.name));
  if (rows.person == nullptr) return psprintf("SELECT t0.%s %s", value, rows.from);
  const char* counts = finite_values(value, type);
  return psprintf(
      "SELECT pg_catalog.min(t0.%s), pg_catalog.max(t0.%s) %s WHERE %s IS NOT NULL%s "
      "GROUP BY %s",
      value, value, rows.from, rows.person, counts, rows.person);
}

// Calls count(number) for each finite value of the row.
template <class Count>
void count_row(HeapTuple row, TupleDesc columns, ValueType type, Count count) {
  for (int column = 1; column <= columns->natts; ++column) {
    bool is_null;
    const Datum value = SPI_getbinval(row, columns, column, &is_null);
    if (is_null) continue;
    const double number = number_of_value(type, value);
    if (std::isfinite(number)) count(number);
  }
}

// A range of which this end is the farthest from 0 has no values but 0 of the type in it.
double end_of_zeros(ValueType type) {
  return is_whole(type) ? 1 : kEndOfZeros;
}

AllValues all_values(ValueType type) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return {nearest_number(type, -kMost), nearest_number(type, kMost),
          kLeastSteps * end_of_zeros(type)};
}

// Calls body(context).
template <class Body>
void with_randomness(Body body) {
  RandomStream* random = make_query_random(CurrentMemoryContext);
  with_scratch([&](ContextMemory& memory) {
    CancelPoll cancel(cancel_requested);
    body(MechanismContext(*random, cancel, &memory));
  });
}

// The least and the largest value between the bounds. Those of a closer look are between values.
NumberRange range_of_look(ValueType type, const LearnedBounds& bounds) {
  if (!is_whole(type)) return range_of_values(type, bounds.lower, bounds.upper);
  return range_of_values(type, std::ceil(bounds.lower) - 0.5, std::floor(bounds.upper) + 0.5);
}

// What is found of a column, or that nothing is, in one look or two.
struct Found {
  bool any;
  LearnedBounds bounds;
  NumberRange range;
  PrivacyParameter privacy;  // of what lies outside
};

// The rows of the query, which are read twice if a closer look is worth it.
struct ValuesOfRows {
  Portal rows;
  Portal again;
  ValueType type;
};

uint64* counts_of(Portal portal, ValueType type, uint32 cells, auto cell_of) {
  auto* counts = static_cast<uint64*>(palloc0(cells * sizeof(uint64)));
  fetch_rows(portal, [&](HeapTuple row, TupleDesc columns) {
    count_row(row, columns, type, [&](double number) { ++counts[cell_of(number)]; });
  });
  return counts;
}

// Disconnects from SPI.
Found find_bounds(const ValuesOfRows& values, ValueType type, double epsilon) {
  const OrdinalGrid grid = ordinal_grid_of(type);
  const uint64* counts = counts_of(values.rows, values.type, grid.cells(),
                                   [&](double number) { return grid.cell_of(number); });
  bool any = false;
  bool closer = false;
  LearnedBounds bounds{};
  CloserLook look{grid, 0, bounds};
  with_randomness([&](const MechanismContext& context) {
    const FirstLook first =
        look_for_bounds(grid, {counts, grid.cells()}, epsilon, all_values(type), context);
    any = first.bounds.has_value();
    bounds = first.bounds.value_or(bounds);
    closer = first.closer.has_value();
    look = first.closer.value_or(look);
  });
  if (closer) {
    counts = counts_of(values.again, values.type, look.grid.cells(),
                       [&](double number) { return look.cell_of(number); });
    with_randomness([&](const MechanismContext& context) {
      bounds = look_closer(look, {counts, look.grid.cells()}, epsilon, context);
    });
  } else {
    SPI_cursor_close(values.again);
  }
  SPI_finish();
  if (closer) return {true, bounds, range_of_look(type, bounds), rest_of(epsilon)};
  return {any, bounds, any ? range_of_values(type, bounds.lower, bounds.upper) : NumberRange{},
          pure(epsilon)};
}

// Whether the value with the number 0 is like others: a day or a moment.
bool is_moment(ValueType type) {
  return is_temporal(type) && type != ValueType::kInterval;
}

// As the domain they would make 0 of all other values.
bool tells_zeros_alone(ValueType type, const LearnedBounds& bounds) {
  const double end = end_of_zeros(type);
  return !is_moment(type) && bounds.lower >= -end && bounds.upper <= end;
}

// Follows from the bounds alone.
void notice_zeros(const Column& column) {
  ereport(NOTICE, (errmsg("the bounds do not become the domain of column \"%s\": they have no "
                          "values but 0 in them",
                          NameStr(column.name)),
                   errhint("State bounds that are publicly known with dp_set_domain, or protect "
                           "a view of the rows with other values, and learn its bounds.")));
}

// Outwards to multiples of the step, where these are values of the column.
NumberRange rounded_to_steps(ValueType type, NumberRange range, double step) {
  const double lower = std::floor(range.lower / step) * step;
  const double upper = std::ceil(range.upper / step) * step;
  const auto is_value = [&](double number) {
    return std::isfinite(number) && nearest_number(type, number) == number;
  };
  return {is_value(lower) ? lower : range.lower, is_value(upper) ? upper : range.upper};
}

// The step as the catalog has it. Null, with a notice that follows from the bounds alone, if there
// are too many steps between them.
const char* fitting_granularity(ValueType type, const NumberRange& range, double step) {
  const double steps = (range.upper - range.lower) / step;
  if (steps <= kMostSteps) return granularity_text(type, step);
  ereport(NOTICE, (errmsg("the domain has no granularity: it would leave %.0f steps between the "
                          "bounds, and may leave at most 2^32",
                          steps),
                   errhint("State bounds and a wider granularity with dp_set_domain.")));
  return nullptr;
}

// That there are none is an answer of the mechanism.
void notice_nothing(const Column& column) {
  ereport(NOTICE,
          (errmsg("no bounds of column \"%s\" were found", NameStr(column.name)),
           errhint("There are too few values for this epsilon (dp_learn_expected_error tells how "
                   "many it needs). State bounds that are publicly known with dp_set_domain, or "
                   "learn them with a larger epsilon, which is published besides.")));
}

const char* text_of_bounds(const char* lower, const char* upper, const char* granularity) {
  return psprintf("%s to %s%s", lower, upper,
                  granularity == nullptr ? "" : psprintf(" by %s", granularity));
}

// The owner may have stated what holds whatever the data are, and did not name it in this call.
void notice_replaced(Oid relation, const Column& column, const char* now) {
  const ColumnDomain* domain = find_domain(relation, get_attnum(relation, NameStr(column.name)));
  if (domain == nullptr || domain->lower == nullptr) return;
  const char* before = text_of_bounds(domain->lower, domain->upper, domain->granularity);
  if (strcmp(now, before) == 0) return;
  ereport(NOTICE, (errmsg("the bounds of column \"%s\" are %s now; until now %s",
                          NameStr(column.name), now, before),
                   errhint("dp_set_domain states others.")));
}

CountNoise noise_of(const PrivacyParameter& privacy) {
  return {PrivacyMeasure::kPure, 1 / privacy.value};
}

// About how many values of kWidestBlock neighbouring cells may lie outside each bound (Theorem
// 25d).
int64 most_outside(const PrivacyParameter& privacy) {
  return static_cast<int64>(std::ceil(noise_in_block(kWidestBlock, kFarLevel, noise_of(privacy))));
}

// So many values in one cell give bounds where noise leaves them as they are.
int64 least_values(const PrivacyParameter& privacy) {
  return static_cast<int64>(std::ceil(noise_in_block(1, kFarLevel, noise_of(privacy))));
}

Datum row_of_result(FunctionCallInfo fcinfo, const char* lower, const char* upper, int64 outside,
                    bool applied) {
  Datum values[] = {lower == nullptr ? Datum{0} : CStringGetTextDatum(lower),
                    upper == nullptr ? Datum{0} : CStringGetTextDatum(upper),
                    Int64GetDatum(outside), BoolGetDatum(applied)};
  bool nulls[] = {lower == nullptr, upper == nullptr, false, false};
  return result_row(fcinfo, values, nulls);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, column_name name, epsilon float8, apply boolean, granularity anycompatible)
// returns a row: lower, upper, most_outside, applied
DPQ_FUNCTION(dpq_learn_domain) {
  const Oid relation = lock_own_relation(fcinfo);
  const bool wished = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
  const ProtectedRelation protection = require_protected(relation, wished);
  Column column = find_column(fcinfo, relation);
  const ValueType type = value_type_of(column);
  const double step = PG_ARGISNULL(4) ? 0 : granularity_argument(fcinfo, 4, type);
  const double epsilon = epsilon_argument(fcinfo, 2);
  const PrivacyParameter of_value =
      privacy_of_value(epsilon, protection.user_column != 0 ? kValuesOfPerson : 1);
  const char* query = query_of_values(rows_with_persons(protection), column, type);
  const ValueType type_of_rows = *find_value_type(getBaseType(column.type));  // real stays real
  const Portal rows = open_rows(relation, query);
  const Portal again = open_rows_again(query);
  note_publication_by_worker({"dp_learn_domain", relation, NameStr(column.name), epsilon, 0});
  const Found found = find_bounds({rows, again, type_of_rows}, type, of_value.value);

  const int64 outside = most_outside(found.privacy);
  if (!found.any) {
    notice_nothing(column);
    return row_of_result(fcinfo, nullptr, nullptr, outside, false);
  }
  NumberRange range = found.range;
  if (step > 0) range = rounded_to_steps(type, range, step);
  const char* lower = bound_text(type, range.lower);
  const char* upper = bound_text(type, range.upper);
  const bool applies = wished && !tells_zeros_alone(type, found.bounds);
  if (wished && !applies) notice_zeros(column);
  if (applies) {
    const char* granularity = step > 0 ? fitting_granularity(type, range, step) : nullptr;
    notice_replaced(relation, column, text_of_bounds(lower, upper, granularity));
    set_bounds(relation, &column, lower, upper, granularity);
  }
  return row_of_result(fcinfo, lower, upper, outside, applies);
}

// (epsilon float8, persons boolean) returns a row: least_values, most_outside
DPQ_FUNCTION(dpq_learn_expected_error) {
  const PrivacyParameter of_value =
      privacy_of_value(stated_amount(PG_GETARG_FLOAT8(0)), PG_GETARG_BOOL(1) ? kValuesOfPerson : 1);
  Datum values[] = {Int64GetDatum(least_values(of_value)),
                    Int64GetDatum(most_outside(rest_of(of_value.value)))};
  bool nulls[lengthof(values)] = {};
  return result_row(fcinfo, values, nulls);
}
