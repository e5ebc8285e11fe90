#include "pg/vocabulary/person_aggregates.hpp"

#include <algorithm>
#include <iterator>

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
}

namespace dpquantile {

namespace {

using enum PersonCall;

// A review of PostgreSQL 15 to 18 stands behind each line. Absent are the aggregates whose answers
// depend on the order of rows (array_agg, string_agg, json_agg, any_value), and those of types
// whose values may be equal and differ (char(n)).
// clang-format off
constexpr PersonAggregate kTable[] = {
    {F_COUNT_},
    {F_COUNT_ANY},
    // Sums of smallint and integer are taken modulo 2^64, which takes 2^32 rows, those of bigint in 128 bits or as numerics: without an error.
    {F_SUM_INT2},
    {F_SUM_INT4},
    {F_SUM_INT8},
    // The sum, and those of the squares, are exact. One division, and one root, of numerics follow.
    {F_AVG_INT2},
    {F_AVG_INT4},
    {F_AVG_INT8},
    {F_VARIANCE_INT2},
    {F_VARIANCE_INT4},
    {F_VARIANCE_INT8},
    {F_VAR_SAMP_INT2},
    {F_VAR_SAMP_INT4},
    {F_VAR_SAMP_INT8},
    {F_VAR_POP_INT2},
    {F_VAR_POP_INT4},
    {F_VAR_POP_INT8},
    {F_STDDEV_INT2},
    {F_STDDEV_INT4},
    {F_STDDEV_INT8},
    {F_STDDEV_SAMP_INT2},
    {F_STDDEV_SAMP_INT4},
    {F_STDDEV_SAMP_INT8},
    {F_STDDEV_POP_INT2},
    {F_STDDEV_POP_INT4},
    {F_STDDEV_POP_INT8},
    // Equal values are the same.
    {F_MIN_INT2},
    {F_MIN_INT4},
    {F_MIN_INT8},
    {F_MIN_OID},
    {F_MIN_DATE},
    {F_MIN_TIME},
    {F_MIN_TIMETZ},
    {F_MIN_TIMESTAMP},
    {F_MIN_TIMESTAMPTZ},
    {F_MIN_ANYENUM},
    {F_MIN_TEXT, kOfText},
    {F_MAX_INT2},
    {F_MAX_INT4},
    {F_MAX_INT8},
    {F_MAX_OID},
    {F_MAX_DATE},
    {F_MAX_TIME},
    {F_MAX_TIMETZ},
    {F_MAX_TIMESTAMP},
    {F_MAX_TIMESTAMPTZ},
    {F_MAX_ANYENUM},
    {F_MAX_TEXT, kOfText},
    {F_BOOL_AND},
    {F_BOOL_OR},
    {F_EVERY},
    {F_BIT_AND_INT2},
    {F_BIT_AND_INT4},
    {F_BIT_AND_INT8},
    {F_BIT_OR_INT2},
    {F_BIT_OR_INT4},
    {F_BIT_OR_INT8},
    {F_BIT_XOR_INT2},
    {F_BIT_XOR_INT4},
    {F_BIT_XOR_INT8},
    // Sums of numerics are exact. With few digits, none overflows, and a row takes little time.
    {F_SUM_NUMERIC, kOfNumeric},
    {F_AVG_NUMERIC, kOfNumeric},
    {F_VARIANCE_NUMERIC, kOfNumeric},
    {F_VAR_SAMP_NUMERIC, kOfNumeric},
    {F_VAR_POP_NUMERIC, kOfNumeric},
    {F_STDDEV_NUMERIC, kOfNumeric},
    {F_STDDEV_SAMP_NUMERIC, kOfNumeric},
    {F_STDDEV_POP_NUMERIC, kOfNumeric},
    {F_MIN_NUMERIC, kOneOfNumerics},
    {F_MAX_NUMERIC, kOneOfNumerics},
};
// clang-format on

Expr* argument_of(const Aggref* call) {
  return static_cast<TargetEntry*>(linitial(call->args))->expr;
}

// dpquantile.short_value(value, 0): NULL in the place of a number with many digits. Null if the
// database does not have it.
Expr* short_number(Expr* value) {
  const Oid types[] = {NUMERICOID, INT4OID};
  const Oid function = own_function("short_value", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) return nullptr;
  Const* unused = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
  return as<Expr>(makeFuncExpr(function, NUMERICOID, list_make2(value, unused), InvalidOid,
                               InvalidOid, COERCE_EXPLICIT_CALL));
}

// A type modifier gives all values the same number of decimals.
Expr* written_in_one_way(Expr* number) {
  if (exprTypmod(as<Node>(number)) >= 0) return number;
  return as<Expr>(makeFuncExpr(F_TRIM_SCALE, NUMERICOID, list_make1(number), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

Aggref* call_of_argument(const Aggref* call, Expr* argument) {
  if (argument == nullptr) return nullptr;
  auto* changed = makeNode(Aggref);
  *changed = *call;
  changed->args = list_make1(makeTargetEntry(argument, 1, nullptr, false));
  return changed;
}

Aggref* copy_of(const Aggref* call) {
  auto* copy = makeNode(Aggref);
  *copy = *call;
  return copy;
}

// Whether it is a call of single arguments, in any order, without one that is left out.
bool is_of_all_rows(const Aggref* call) {
  return call->aggdistinct == NIL && call->aggorder == NIL && !call->aggvariadic;
}

}  // namespace

const PersonAggregate* find_person_aggregate(Oid aggregate) {
  const auto* found = std::ranges::find(kTable, aggregate, &PersonAggregate::aggregate);
  return found == std::end(kTable) ? nullptr : found;
}

Aggref* person_aggregate_call(const Aggref* call) {
  const PersonAggregate* found = find_person_aggregate(call->aggfnoid);
  if (found == nullptr || !is_of_all_rows(call)) return nullptr;
  switch (found->call) {
    case kAsItIs:
      return copy_of(call);
    case kOfText:
      return is_inside_collation(call->inputcollid) ? copy_of(call) : nullptr;
    case kOfNumeric:
      return call_of_argument(call, short_number(argument_of(call)));
    case kOneOfNumerics:
      return call_of_argument(call, short_number(written_in_one_way(argument_of(call))));
  }
  return nullptr;
}

}  // namespace dpquantile
