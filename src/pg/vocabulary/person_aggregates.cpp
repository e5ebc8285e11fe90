#include "pg/vocabulary/person_aggregates.hpp"

#include <algorithm>
#include <iterator>

#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/person_variant.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
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
    {F_COUNT_ANY, kCount, &persons::kDistinct, INT8OID},
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
    // Variants: PostgreSQL's answers of floats and intervals depend on the order of rows, or are errors.
    {F_SUM_FLOAT4, kVariant, &persons::kRealSum},
    {F_SUM_FLOAT8, kVariant, &persons::kDoubleSum},
    {F_AVG_FLOAT4, kVariant, &persons::kMean, FLOAT8OID},
    {F_AVG_FLOAT8, kVariant, &persons::kMean, FLOAT8OID},
    {F_VARIANCE_FLOAT4, kVariant, &persons::kSampleVariance, FLOAT8OID},
    {F_VARIANCE_FLOAT8, kVariant, &persons::kSampleVariance, FLOAT8OID},
    {F_VAR_SAMP_FLOAT4, kVariant, &persons::kSampleVariance, FLOAT8OID},
    {F_VAR_SAMP_FLOAT8, kVariant, &persons::kSampleVariance, FLOAT8OID},
    {F_VAR_POP_FLOAT4, kVariant, &persons::kPopulationVariance, FLOAT8OID},
    {F_VAR_POP_FLOAT8, kVariant, &persons::kPopulationVariance, FLOAT8OID},
    {F_STDDEV_FLOAT4, kVariant, &persons::kSampleDeviation, FLOAT8OID},
    {F_STDDEV_FLOAT8, kVariant, &persons::kSampleDeviation, FLOAT8OID},
    {F_STDDEV_SAMP_FLOAT4, kVariant, &persons::kSampleDeviation, FLOAT8OID},
    {F_STDDEV_SAMP_FLOAT8, kVariant, &persons::kSampleDeviation, FLOAT8OID},
    {F_STDDEV_POP_FLOAT4, kVariant, &persons::kPopulationDeviation, FLOAT8OID},
    {F_STDDEV_POP_FLOAT8, kVariant, &persons::kPopulationDeviation, FLOAT8OID},
    {F_MIN_FLOAT4, kVariant, &persons::kLeastFloat},
    {F_MIN_FLOAT8, kVariant, &persons::kLeastFloat},
    {F_MAX_FLOAT4, kVariant, &persons::kLargestFloat},
    {F_MAX_FLOAT8, kVariant, &persons::kLargestFloat},
    {F_SUM_INTERVAL, kVariant, &persons::kIntervalSum},
    {F_AVG_INTERVAL, kVariant, &persons::kIntervalMean},
    {F_MIN_INTERVAL, kVariant, &persons::kLeastInterval},
    {F_MAX_INTERVAL, kVariant, &persons::kLargestInterval},
    {F_PERCENTILE_DISC_FLOAT8_ANYELEMENT, kPercentile, &persons::kDiscretePercentile},
    {F_PERCENTILE_CONT_FLOAT8_FLOAT8, kPercentile, &persons::kContinuousPercentile},
    {F_PERCENTILE_CONT_FLOAT8_INTERVAL, kPercentile, &persons::kContinuousPercentile},
};
// clang-format on

Expr* argument_of(const Aggref* call) {
  return static_cast<TargetEntry*>(linitial(call->args))->expr;
}

// The same without zeros after the last digit. A type modifier gives all values the same number of
// decimals.
Expr* number_in_one_form(Expr* value) {
  Expr* number = short_number(value);
  if (number == nullptr || exprTypmod(as<Node>(value)) >= 0) return number;
  return as<Expr>(makeFuncExpr(F_TRIM_SCALE, NUMERICOID, list_make1(number), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

Aggref* copy_of(const Aggref* call) {
  auto* copy = makeNode(Aggref);
  *copy = *call;
  return copy;
}

Aggref* call_of_argument(const Aggref* call, Expr* argument) {
  if (argument == nullptr) return nullptr;
  Aggref* changed = copy_of(call);
  changed->args = list_make1(makeTargetEntry(argument, 1, nullptr, false));
  return changed;
}

// Whether it counts all rows, in any order, and has single arguments.
bool is_of_all_rows(const Aggref* call) {
  return call->aggdistinct == NIL && call->aggorder == NIL && !call->aggvariadic;
}

// ---- Variants --------------------------------------------------------------------------------

// The value that a variant takes, of its base type: a numeric with few digits. Null if it takes
// none of this type.
Expr* value_for(const PersonVariant* variant, Expr* value) {
  const Oid type = exprType(as<Node>(value));
  const Oid base = getBaseType(type);
  if (!variant->takes(base)) return nullptr;
  const Oid collation = exprCollation(as<Node>(value));
  if (base != type) {
    value = as<Expr>(makeRelabelType(value, base, -1, collation, COERCE_IMPLICIT_CAST));
  }
  return base == NUMERICOID ? short_number(value) : value;
}

// dpquantile.of_person(answer, original, arguments). Null if the database does not have it.
Aggref* call_of_variant(const Aggref* call, List* arguments) {
  const Oid types[] = {ANYARRAYOID, OIDOID, ANYOID};
  const Oid aggregate = own_function("of_person", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(aggregate)) return nullptr;
  Aggref* changed = copy_of(call);
  changed->aggfnoid = aggregate;
  changed->aggargtypes = NIL;
  changed->aggdirectargs = NIL;
  changed->args = NIL;
  changed->aggorder = NIL;
  changed->aggdistinct = NIL;
  changed->aggkind = AGGKIND_NORMAL;
  List* all = list_make2(empty_array(call->aggtype), oid_constant(call->aggfnoid));
  for (auto* argument : each<Expr>(list_concat(all, arguments))) {
    const auto number = static_cast<AttrNumber>(list_length(changed->args) + 1);
    changed->args = lappend(changed->args, makeTargetEntry(argument, number, nullptr, false));
    changed->aggargtypes = lappend_oid(changed->aggargtypes, exprType(as<Node>(argument)));
  }
  return changed;
}

Aggref* variant_of_value(const PersonAggregate* found, const Aggref* call) {
  Expr* value = value_for(found->variant, argument_of(call));
  return value == nullptr ? nullptr : call_of_variant(call, list_make1(value));
}

// count(value) with or without DISTINCT
Aggref* count_of_values(const PersonAggregate* found, const Aggref* call) {
  if (call->aggdistinct == NIL) return copy_of(call);
  const bool has_collation = OidIsValid(call->inputcollid);
  if (has_collation && !is_inside_collation(call->inputcollid)) return nullptr;
  return variant_of_value(found, call);
}

// Whether a percentile is of the ascending or descending order that the type has by default.
bool has_default_order(const Aggref* call, bool* is_descending) {
  if (list_length(call->aggorder) != 1) return false;
  const Oid operation = static_cast<SortGroupClause*>(linitial(call->aggorder))->sortop;
  const TypeCacheEntry* type =
      lookup_type_cache(exprType(as<Node>(argument_of(call))), TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
  *is_descending = operation == type->gt_opr;
  return operation == type->lt_opr || operation == type->gt_opr;
}

// The fraction of a percentile as far as it is known: 0.5 is a numeric that is cast.
Node* fraction_of(const Aggref* call) {
  return eval_const_expressions(nullptr,
                                static_cast<Node*>(copyObjectImpl(linitial(call->aggdirectargs))));
}

bool is_public_fraction(Node* fraction) {
  if (contain_var_clause(fraction)) return false;
  if (!IsA(fraction, Const) || as<Const>(fraction)->constisnull) return true;
  const float8 value = DatumGetFloat8(as<Const>(fraction)->constvalue);
  return value >= 0 && value <= 1;
}

Aggref* percentile(const PersonAggregate* found, const Aggref* call) {
  bool is_descending = false;
  Node* fraction = fraction_of(call);
  if (!has_default_order(call, &is_descending) || !is_public_fraction(fraction)) return nullptr;
  Expr* value = value_for(found->variant, argument_of(call));
  if (value == nullptr) return nullptr;
  return call_of_variant(call, list_make3(value, fraction, makeBoolConst(is_descending, false)));
}

}  // namespace

Expr* short_number(Expr* value) {
  const Oid types[] = {NUMERICOID, INT4OID};
  const Oid function = own_function("short_value", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) return nullptr;
  Const* unused = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(0), false, true);
  return as<Expr>(makeFuncExpr(function, NUMERICOID, list_make2(value, unused), InvalidOid,
                               InvalidOid, COERCE_EXPLICIT_CALL));
}

const PersonAggregate* find_person_aggregate(Oid aggregate) {
  const auto* found = std::ranges::find(kTable, aggregate, &PersonAggregate::aggregate);
  return found == std::end(kTable) ? nullptr : found;
}

bool keeps_values(const Aggref* call) {
  const PersonAggregate* found = find_person_aggregate(call->aggfnoid);
  if (found == nullptr) return false;
  return found->call == kPercentile || (found->call == kCount && call->aggdistinct != NIL);
}

Aggref* person_aggregate_call(const Aggref* call) {
  const PersonAggregate* found = find_person_aggregate(call->aggfnoid);
  if (found == nullptr || call->aggvariadic) return nullptr;
  if (found->call == kPercentile) return percentile(found, call);
  if (found->call == kCount && call->aggorder == NIL) return count_of_values(found, call);
  if (!is_of_all_rows(call)) return nullptr;
  switch (found->call) {
    case kOfText:
      return is_inside_collation(call->inputcollid) ? copy_of(call) : nullptr;
    case kOfNumeric:
      return call_of_argument(call, short_number(argument_of(call)));
    case kOneOfNumerics:
      return call_of_argument(call, number_in_one_form(argument_of(call)));
    case kVariant:
      return variant_of_value(found, call);
    default:
      return copy_of(call);
  }
}

}  // namespace dpquantile
