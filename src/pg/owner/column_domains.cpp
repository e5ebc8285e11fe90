// The functions by which owners state what is publicly known of the columns of protected tables.
#include "pg/owner/column_domains.hpp"

#include <cmath>

#include "pg/grants/protection_catalog.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/distinct_values.hpp"
#include "pg/server/value_type.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

char* text_of(Oid type, Datum value) {
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(type, &output, &is_varlena);
  return OidOutputFunctionCall(output, value);
}

Datum value_of_text(Oid type, int32 modifier, char* text) {
  Oid input;
  Oid element;
  getTypeInputInfo(type, &input, &element);
  return OidInputFunctionCall(input, text, element, modifier);
}

// ---- Bounds --------------------------------------------------------------------------------

// The number of an argument of any type, as a value of the column.
double number_of_argument(FunctionCallInfo fcinfo, int argument, ValueType type) {
  const Oid given = get_fn_expr_argtype(fcinfo->flinfo, argument);
  const Datum value = PG_GETARG_DATUM(argument);
  // A real 0.1 is not the number 0.1, but stands for it.
  const auto given_type = getBaseType(given) == FLOAT4OID ? std::nullopt : find_value_type(given);
  if (given_type && (*given_type == type || !(is_temporal(*given_type) || is_temporal(type)))) {
    return number_of_value(*given_type, value);
  }
  return number_of_text(type, text_of(given, value));
}

double read_bound(FunctionCallInfo fcinfo, int argument, const char* name, ValueType type) {
  const double number = PG_ARGISNULL(argument) ? NAN : number_of_argument(fcinfo, argument, type);
  if (std::isfinite(number)) return number;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s must be a finite value of the column", name),
                  errhint("Choose bounds that hold whatever the data are.")));
}

// In the unit of the numbers of the type.
double step_of_argument(FunctionCallInfo fcinfo, int argument, ValueType type) {
  const Oid given = get_fn_expr_argtype(fcinfo->flinfo, argument);
  const Datum value = PG_GETARG_DATUM(argument);
  const auto number = find_value_type(given);
  const bool is_number = number && !is_temporal(*number);
  if (is_number && (!is_temporal(type) || type == ValueType::kDate)) {
    return number_of_value(*number, value);
  }
  if (is_number || (given == INTERVALOID && !is_temporal(type))) {
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("the granularity of %s must be %s", is_temporal(type) ? "times" : "numbers",
                    is_temporal(type) ? "an interval" : "a number"),
             is_temporal(type) ? errhint("Write for example '1 hour'.")
                               : errhint("Write for example %s.", is_whole(type) ? "1" : "0.01")));
  }
  if (given == INTERVALOID) return step_of_interval(type, value);
  char* written = text_of(given, value);
  if (!is_temporal(type)) return number_of_text(ValueType::kFloat8, written);
  return step_of_interval(type, value_of_text(INTERVALOID, -1, written));
}

void check_steps(double steps) {
  if (steps <= kMostSteps) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("granularity must leave at most 2^32 steps between the bounds, got %.0f", steps),
           errhint("Take a wider granularity or narrower bounds.")));
}

// ---- Keys ----------------------------------------------------------------------------------

void refuse_keys(const char* reason) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keys must be %s", reason),
                  errhint("Write for example '{Engineering,Sales}'.")));
}

// The input functions of arrays, ranges and composite types call those of other types, which may be
// domains with a CHECK. Keys are read while queries of analysts are planned, where no function of
// anybody's may run.
void check_type_of_keys(const Column& column) {
  const Oid base = getBaseType(column.type);
  const char kind = get_typtype(base);
  if (kind == TYPTYPE_ENUM) return;
  if (kind == TYPTYPE_BASE && !OidIsValid(get_element_type(base))) return;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("column \"%s\" cannot have keys: its type %s is made of other types",
                         NameStr(column.name), format_type_be(column.type)),
                  errhint("Protect a view with the parts as columns, and list their keys.")));
}

// Queries compare keys by nothing that an extension or a user has made, so they would be refused,
// or be answered without the list.
void check_equality_of_keys(const Column& column) {
  if (!is_inside_type(column.type)) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("column \"%s\" cannot have keys: its type %s is not PostgreSQL's own",
                           NameStr(column.name), format_type_be(column.type)),
                    errdetail("Private queries do not compare values of such a type."),
                    errhint("Add a column of type text with the same values, and list its keys.")));
  }
  if (!OidIsValid(column.collation) || is_inside_collation(column.collation)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("column \"%s\" cannot have keys: its collation %s is not PostgreSQL's own, or not "
              "deterministic",
              NameStr(column.name), get_collation_name(column.collation)),
       errdetail("Private queries do not compare values by such a collation."),
       errhint("Protect a view with the column COLLATE \"C\", and list its keys.")));
}

Keys elements_of(ArrayType* array) {
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  Keys keys{};
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &keys.values,
                    &keys.nulls, &keys.count);
  return keys;
}

// A value of any type as one of the column.
Datum value_of_key(Oid given, Datum value, const Column& column) {
  int32 modifier = column.modifier;
  const Oid base = getBaseTypeAndTypmod(column.type, &modifier);
  return value_of_text(base, modifier, text_of(given, value));
}

Keys values_of(const Keys& given, Oid type, const Column& column) {
  Keys keys = given;
  keys.values = static_cast<Datum*>(palloc0(static_cast<Size>(keys.count) * sizeof(Datum)));
  for (int i = 0; i < keys.count; ++i) {
    if (!keys.nulls[i]) keys.values[i] = value_of_key(type, given.values[i], column);
  }
  return keys;
}

Keys read_keys(FunctionCallInfo fcinfo, const Column& column) {
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(2);
  return values_of(elements_of(array), ARR_ELEMTYPE(array), column);
}

struct Comparison {
  FmgrInfo* function;
  Oid collation;
};

int compare(const void* left, const void* right, void* context) {
  const auto* comparison = static_cast<const Comparison*>(context);
  return DatumGetInt32(FunctionCall2Coll(comparison->function, comparison->collation,
                                         *static_cast<const Datum*>(left),
                                         *static_cast<const Datum*>(right)));
}

const TypeCacheEntry* order_of(const Column& column) {
  return lookup_type_cache(column.type, TYPECACHE_CMP_PROC_FINFO | TYPECACHE_EQ_OPR);
}

Comparison comparison_of(const Column& column) {
  return {const_cast<FmgrInfo*>(&order_of(column)->cmp_proc_finfo), column.collation};
}

void check_order_of_keys(const Column& column) {
  const TypeCacheEntry* type = order_of(column);
  if (!OidIsValid(type->cmp_proc_finfo.fn_oid) || !OidIsValid(type->eq_opr)) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("column \"%s\" cannot have keys: its type %s has no order",
                           NameStr(column.name), format_type_be(column.type)),
                    errhint("List keys of a column of a type that GROUP BY can sort.")));
  }
  if (is_total(get_opcode(type->eq_opr))) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("column \"%s\" cannot have keys: queries do not group by type %s",
                         NameStr(column.name), format_type_be(column.type)),
                  errhint("Protect a view with a part of it as a column, such as doc ->> 'kind', "
                          "and list its keys.")));
}

// The different keys in the order of the type, NULL last.
Keys different_keys(const Keys& keys, const Column& column) {
  Keys different{static_cast<Datum*>(palloc(static_cast<Size>(keys.count) * sizeof(Datum))),
                 static_cast<bool*>(palloc0(static_cast<Size>(keys.count))), 0};
  int values = 0;
  for (int i = 0; i < keys.count; ++i) {
    if (!keys.nulls[i]) different.values[values++] = keys.values[i];
  }
  Comparison comparison = comparison_of(column);
  qsort_arg(different.values, static_cast<Size>(values), sizeof(Datum), compare, &comparison);
  for (int i = 0; i < values; ++i) {
    const Datum* last = &different.values[different.count - 1];
    if (different.count > 0 && compare(last, &different.values[i], &comparison) == 0) continue;
    different.values[different.count++] = different.values[i];
  }
  if (values < keys.count) different.nulls[different.count++] = true;
  return different;
}

void check_different(const Keys& keys, const Column& column) {
  const Keys different = different_keys(keys, column);
  if (different.count < keys.count) refuse_keys("different values");
  if (different.nulls[0]) refuse_keys("a list with another value than NULL");
}

// The number of a key in the list of a column, from 0; -1 if it is not there.
int find_key(const Keys& keys, NullableDatum key, const Column& column) {
  Comparison comparison = comparison_of(column);
  for (int i = 0; i < keys.count; ++i) {
    if (keys.nulls[i] != key.isnull) continue;
    if (key.isnull || compare(&keys.values[i], &key.value, &comparison) == 0) return i;
  }
  return -1;
}

InternalCall call_set_domain(Oid relation, Column* column) {
  InternalCall call("set_domain");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  call.add(NAMEOID, {NameGetDatum(&column->name), false});
  call.add(REGTYPEOID, {ObjectIdGetDatum(column->type), false});
  return call;
}

}  // namespace

Column find_column(FunctionCallInfo fcinfo, Oid relation) {
  if (PG_ARGISNULL(1)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("column_name must be the name of a column, got NULL"),
                    errhint("Write for example 'salary'.")));
  }
  Column column{};
  column.name = *PG_GETARG_NAME(1);
  HeapTuple row = SearchSysCacheAttName(relation, NameStr(column.name));
  if (!HeapTupleIsValid(row) || reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row))->attnum < 0) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("%s has no column \"%s\"", get_rel_name(relation), NameStr(column.name)),
                    errhint("The view dp_protected_tables lists the columns.")));
  }
  const auto* attribute = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row));
  column.type = attribute->atttypid;
  column.modifier = attribute->atttypmod;
  column.collation = attribute->attcollation;
  ReleaseSysCache(row);
  return column;
}

ValueType value_type_of(const Column& column) {
  const Oid type = getBaseType(column.type);
  const auto found = find_value_type(type == FLOAT4OID ? FLOAT8OID : type);
  if (found) return *found;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("column \"%s\" cannot have bounds: it is of type %s", NameStr(column.name),
                  format_type_be(column.type)),
           errhint("%s", has_known_keys(column)
                             ? "Its type tells all values. Queries group by it without a domain."
                             : "Numbers, dates and times have bounds. To list keys to group by, "
                               "write dp_set_domain('staff', 'department', '{Engineering,Sales}'), "
                               "or have them found: dp_learn_keys('staff', 'department', 0.5, "
                               "1e-6).")));
}

bool has_known_keys(const Column& column) {
  const Oid type = getBaseType(column.type);
  return type == BOOLOID || get_typtype(type) == TYPTYPE_ENUM;
}

PortableTexts::PortableTexts() : level_(NewGUCNestLevel()) {
  const auto set = [](const char* name, const char* value) {
    (void)set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
  };
  set("datestyle", "ISO");
  set("intervalstyle", "postgres");
  set("extra_float_digits", "1");
  set("bytea_output", "hex");
  set("lc_monetary", "C");
}

void PortableTexts::end() const {
  AtEOXact_GUC(true, level_);
}

void check_column_of_keys(const Column& column) {
  check_type_of_keys(column);
  check_equality_of_keys(column);
  check_order_of_keys(column);
}

Keys keys_of_texts(char* const* texts, int count, const Column& column) {
  int32 modifier = column.modifier;
  const Oid base = getBaseTypeAndTypmod(column.type, &modifier);
  Keys keys{static_cast<Datum*>(palloc0(static_cast<Size>(count) * sizeof(Datum))),
            static_cast<bool*>(palloc0(static_cast<Size>(count))), count};
  for (int i = 0; i < count; ++i) {
    keys.nulls[i] = texts[i] == nullptr;
    if (!keys.nulls[i]) keys.values[i] = value_of_text(base, modifier, texts[i]);
  }
  return different_keys(keys, column);
}

const char* problem_of_list(const Keys& keys, const Column& column) {
  if (keys.count == 0 || keys.count > kMostListed) {
    return psprintf("1 to %d values, got %d", kMostListed, keys.count);
  }
  if (keys.count <= kMaxElements) return nullptr;
  auto* known = static_cast<Datum*>(palloc(static_cast<Size>(keys.count) * sizeof(Datum)));
  int values = 0;
  for (int i = 0; i < keys.count; ++i) {
    if (!keys.nulls[i]) known[values++] = keys.values[i];
  }
  if (!are_spread_by_hash(known, values, column.type, column.collation)) {
    return psprintf("at most %d values, where many have one hash or their type has none, got %d",
                    kMaxElements, values);
  }
  const Size bytes = VARSIZE_ANY(DatumGetPointer(texts_of(keys, column.type)));
  if (bytes <= kMostListedBytes) return nullptr;
  return psprintf("at most %zu bytes together, where they are more than %d, got %zu",
                  kMostListedBytes, kMaxElements, bytes);
}

Datum texts_of(const Keys& keys, Oid type) {
  auto* texts = static_cast<Datum*>(palloc(static_cast<Size>(keys.count) * sizeof(Datum)));
  const PortableTexts portable;
  for (int i = 0; i < keys.count; ++i) {
    if (!keys.nulls[i]) texts[i] = CStringGetTextDatum(text_of(type, keys.values[i]));
  }
  portable.end();
  int dimension = keys.count;
  int first = 1;
  return PointerGetDatum(construct_md_array(texts, keys.nulls, 1, &dimension, &first, TEXTOID, -1,
                                            false, TYPALIGN_INT));
}

void set_keys(Oid relation, Column* column, const Keys& keys) {
  InternalCall call = call_set_domain(relation, column);
  call.add_text(nullptr);
  call.add_text(nullptr);
  call.add_text(nullptr);
  call.add(TEXTARRAYOID, {texts_of(keys, column->type), false});
  (void)call.result();
}

double granularity_argument(FunctionCallInfo fcinfo, int argument, ValueType type) {
  const double step = step_of_argument(fcinfo, argument, type);
  const bool is_step = std::isfinite(step) && step > 0;
  if (is_step && (!is_whole(type) || step == std::floor(step))) return step;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("granularity must be a %snumber above 0, got %s",
                         is_whole(type) && is_step ? "whole " : "", decimal_text(step)),
                  errhint("It is the step of the values. Leave it out for the default.")));
}

const char* granularity_text(ValueType type, double step) {
  if (!is_temporal(type)) return decimal_text(step);
  const Datum interval = interval_of_step(type, step);
  return iso_text_of_number(ValueType::kInterval, number_of_value(ValueType::kInterval, interval),
                            TextZone::kUtc);
}

const char* bound_text(ValueType type, double number) {
  return is_temporal(type) ? iso_text_of_number(type, number, TextZone::kUtc)
                           : text_of_number(type, number);
}

void set_bounds(Oid relation, Column* column, const char* lower, const char* upper,
                const char* granularity) {
  InternalCall call = call_set_domain(relation, column);
  call.add_text(lower);
  call.add_text(upper);
  call.add_text(granularity);
  call.add(TEXTARRAYOID, {0, true});
  (void)call.result();
}

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, column_name name, lower anycompatible, upper anycompatible, granularity text
// or float8 or interval) returns void
DPQ_FUNCTION(dpq_set_bounds) {
  const Oid relation = lock_own_relation(fcinfo);
  Column column = find_column(fcinfo, relation);
  const ValueType type = value_type_of(column);
  const double lower = read_bound(fcinfo, 2, "lower", type);
  const double upper = read_bound(fcinfo, 3, "upper", type);
  if (!(lower < upper)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("lower must be below upper, got %s and %s", bound_text(type, lower),
                           bound_text(type, upper)),
                    errhint("Choose bounds that hold whatever the data are.")));
  }
  const char* granularity = nullptr;
  if (!PG_ARGISNULL(4)) {
    const double step = granularity_argument(fcinfo, 4, type);
    check_steps((upper - lower) / step);
    granularity = granularity_text(type, step);
  }
  set_bounds(relation, &column, bound_text(type, lower), bound_text(type, upper), granularity);
  PG_RETURN_VOID();
}

// (relation regclass, column_name name, keys anycompatiblearray) returns void
DPQ_FUNCTION(dpq_set_keys) {
  const Oid relation = lock_own_relation(fcinfo);
  Column column = find_column(fcinfo, relation);
  check_column_of_keys(column);
  if (PG_ARGISNULL(2)) refuse_keys("a list, not NULL");
  const Keys keys = read_keys(fcinfo, column);
  if (keys.count > 0 && keys.count <= kMostListed) check_different(keys, column);
  if (const char* problem = problem_of_list(keys, column)) refuse_keys(problem);
  set_keys(relation, &column, keys);
  PG_RETURN_VOID();
}

// (relation regclass, column_name name, key anycompatible) returns void
DPQ_FUNCTION(dpq_set_other_key) {
  const Oid relation = lock_own_relation(fcinfo);
  Column column = find_column(fcinfo, relation);
  const ColumnDomain* domain = find_domain(relation, get_attnum(relation, NameStr(column.name)));
  if (domain == nullptr || domain->keys == nullptr) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("column \"%s\" has no list of keys", NameStr(column.name)),
             errhint("State the list first, with a key for all others: dp_set_domain('staff', "
                     "'department', '{Engineering,Sales,other}').")));
  }
  const Keys texts = elements_of(domain->keys);
  const NullableDatum key = fcinfo->args[2];
  const Oid given = get_fn_expr_argtype(fcinfo->flinfo, 2);
  const int number = find_key(
      values_of(texts, TEXTOID, column),
      key.isnull ? key : NullableDatum{value_of_key(given, key.value, column), false}, column);
  if (number < 0) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("key must be one of the list of keys of column \"%s\", got %s",
                           NameStr(column.name), key.isnull ? "NULL" : text_of(given, key.value)),
                    errhint("The view dp_protected_tables shows the list. State another one with "
                            "dp_set_domain.")));
  }
  InternalCall call("set_other_key");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  call.add(NAMEOID, {NameGetDatum(&column.name), false});
  call.add(TEXTOID, {texts.values[number], texts.nulls[number]});
  return call.result();
}

// (relation regclass, column_name name) returns void
DPQ_FUNCTION(dpq_drop_domain) {
  const Oid relation = lock_own_relation(fcinfo);
  InternalCall call("end_domain");
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  call.add(NAMEOID, fcinfo->args[1]);
  return call.result();
}
