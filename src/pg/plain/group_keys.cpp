#include "pg/plain/group_keys.hpp"

#include <cmath>

#include "pg/plain/private_function.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/protect/early_values.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
}

namespace dpquantile {

namespace {

// An enum may have lost a label.
Node* key_of_text(const ColumnDomain& domain, const Node* key, const char* written) {
  const MemoryContext context = CurrentMemoryContext;
  Node* volatile value = nullptr;
  PG_TRY();
  { value = constant_of_text(exprType(key), exprTypmod(key), exprCollation(key), written); }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    FlushErrorState();
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("column \"%s\" has a list of keys with a value that its type no longer "
                           "has: \"%s\"",
                           NameStr(domain.name), written),
                    errhint("Ask the owner of the table to set the list again: dp_set_domain.")));
  }
  PG_END_TRY();
  return value;
}

List* keys_of_domain(const QueryScope* scope, Node* key) {
  const auto origin = origin_of(scope, key);
  const ColumnDomain* domain = origin ? find_domain(origin->relation, origin->column) : nullptr;
  if (domain == nullptr || domain->keys == nullptr) return NIL;
  Datum* texts;
  int count;
  deconstruct_array(domain->keys, TEXTOID, -1, false, TYPALIGN_INT, &texts, nullptr, &count);
  List* values = NIL;
  for (int i = 0; i < count; ++i) {
    values = lappend(values, key_of_text(*domain, key, TextDatumGetCString(texts[i])));
  }
  return values;
}

Node* constant_of_number(ValueType type, double number) {
  const Oid oid = oid_of(type);
  int16 length;
  bool by_value;
  get_typlenbyval(oid, &length, &by_value);
  return reinterpret_cast<Node*>(
      makeConst(oid, -1, InvalidOid, length, value_of_number(type, number), false, by_value));
}

// Whole numbers and dates, with a step of one.
List* series_of_bounds(const QueryScope* scope, Node* key) {
  if (!origin_of(scope, key)) return NIL;
  const auto bounds = bounds_of(scope, key);
  if (!bounds || oid_of(bounds->type) != exprType(key)) return NIL;
  const bool has_steps =
      (is_whole(bounds->type) && !is_temporal(bounds->type)) || bounds->type == ValueType::kDate;
  if (!has_steps) return NIL;
  if ((bounds->upper - bounds->lower) >= kMaxElements) return NIL;
  List* values = NIL;
  for (double number = std::ceil(bounds->lower); number <= bounds->upper; ++number) {
    values = lappend(values, constant_of_number(bounds->type, number));
  }
  return values;
}

// ---- Parts of times ------------------------------------------------------------------------

// Times of day and intervals have other parts.
bool is_in_calendar(Oid type) {
  return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

const char* text_constant(const Node* expression) {
  if (!IsA(expression, Const)) return nullptr;
  const auto* constant = reinterpret_cast<const Const*>(expression);
  if (constant->constisnull || constant->consttype != TEXTOID) return nullptr;
  return TextDatumGetCString(constant->constvalue);
}

struct Unit {
  const char* name;
  const char* step;  // to the next beginning of the unit, as an interval
};
constexpr Unit kUnits[] = {{"hour", "1 hour"},    {"day", "1 day"},        {"week", "7 days"},
                           {"month", "1 month"},  {"quarter", "3 months"}, {"year", "1 year"},
                           {"decade", "10 years"}};

// date_trunc casts a date to a timestamp.
Node* without_cast_of_date(Node* moment) {
  if (!IsA(moment, FuncExpr)) return moment;
  const List* arguments = reinterpret_cast<FuncExpr*>(moment)->args;
  auto* cast = list_length(arguments) == 1 ? static_cast<Node*>(linitial(arguments)) : moment;
  return exprType(cast) == DATEOID ? cast : moment;
}

// The beginnings of the units between the bounds: date_trunc itself of the lower bound, and so on.
List* truncated_times(const QueryScope* scope, const FuncExpr* call) {
  auto* moment = static_cast<Node*>(lsecond(call->args));
  const char* unit_name = text_constant(static_cast<Node*>(linitial(call->args)));
  if (unit_name == nullptr || list_length(call->args) != 2) return NIL;
  Node* column = without_cast_of_date(moment);
  const auto bounds = bounds_of(scope, column);
  if (!bounds || !is_in_calendar(exprType(column))) return NIL;
  const bool has_zone = call->funcresulttype == TIMESTAMPTZOID;
  if (!has_zone && call->funcresulttype != TIMESTAMPOID) return NIL;
  const Oid type = call->funcresulttype;
  const auto at = [&](double number) {
    const char* written = iso_text_of_number(bounds->type, number, TextZone::kUtc);
    return reinterpret_cast<Const*>(constant_of_text(type, -1, InvalidOid, written))->constvalue;
  };
  for (const Unit& unit : kUnits) {
    if (strcmp(unit_name, unit.name) != 0) continue;
    const Datum name = CStringGetTextDatum(unit.name);
    const PGFunction truncate = has_zone ? timestamptz_trunc : timestamp_trunc;
    const PGFunction add = has_zone ? timestamptz_pl_interval : timestamp_pl_interval;
    const Datum step = DirectFunctionCall3(interval_in, CStringGetDatum(unit.step),
                                           ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
    Datum moment_of_unit = DirectFunctionCall2(truncate, name, at(bounds->lower));
    const Datum last = at(bounds->upper);
    List* values = NIL;
    while (DatumGetTimestamp(moment_of_unit) <= DatumGetTimestamp(last)) {
      if (list_length(values) == kMaxElements) return NIL;
      values = lappend(values, makeConst(type, -1, InvalidOid, sizeof(Timestamp), moment_of_unit,
                                         false, FLOAT8PASSBYVAL));
      // Where the clock changes, the next unit may not begin a whole step later.
      moment_of_unit =
          DirectFunctionCall2(truncate, name, DirectFunctionCall2(add, moment_of_unit, step));
    }
    return values;
  }
  return NIL;
}

struct Part {
  const char* name;
  int least;
  int most;
};
constexpr Part kParts[] = {{"month", 1, 12}, {"quarter", 1, 4}, {"day", 1, 31},
                           {"hour", 0, 23},  {"minute", 0, 59}, {"dow", 0, 6},
                           {"isodow", 1, 7}, {"week", 1, 53},   {"doy", 1, 366}};

List* whole_numbers(Oid type, int least, int most) {
  List* values = NIL;
  for (int number = least; number <= most; ++number) {
    values = lappend(values, constant_of_text(type, -1, InvalidOid, psprintf("%d", number)));
  }
  return values;
}

// 0 for a year before the year 1.
int year_of(const ValueBounds& bounds, double number) {
  const char* moment = iso_text_of_number(bounds.type, number, TextZone::kUtc);
  return strstr(moment, "BC") == nullptr ? atoi(moment) : 0;
}

List* extracted_parts(const QueryScope* scope, const FuncExpr* call) {
  const char* part_name = text_constant(static_cast<Node*>(linitial(call->args)));
  auto* moment = static_cast<Node*>(lsecond(call->args));
  if (part_name == nullptr || !is_in_calendar(exprType(moment))) return NIL;
  for (const Part& part : kParts) {
    if (strcmp(part_name, part.name) == 0) {
      return whole_numbers(call->funcresulttype, part.least, part.most);
    }
  }
  if (strcmp(part_name, "year") != 0) return NIL;
  const auto bounds = bounds_of(scope, moment);
  if (!bounds) return NIL;
  // The year of a moment near New Year depends on the time zone.
  const int zone = bounds->type == ValueType::kTimestamptz ? 1 : 0;
  const int first = year_of(*bounds, bounds->lower) - zone;
  if (first < 1) return NIL;
  const int last = year_of(*bounds, bounds->upper) + zone;
  return last - first < kMaxElements ? whole_numbers(call->funcresulttype, first, last) : NIL;
}

// The buckets, and those below and above them.
List* bucket_numbers(const FuncExpr* call) {
  if (list_length(call->args) != 4) return NIL;
  const auto* count = static_cast<const Node*>(lfourth(call->args));
  if (!IsA(count, Const) || reinterpret_cast<const Const*>(count)->constisnull) return NIL;
  const int32 buckets = DatumGetInt32(reinterpret_cast<const Const*>(count)->constvalue);
  if (buckets < 1 || buckets > kMaxElements - 2) return NIL;
  return whole_numbers(call->funcresulttype, 0, buckets + 1);
}

List* values_of_function(const QueryScope* scope, const FuncExpr* call) {
  if (call->funcid >= FirstUnpinnedObjectId) return NIL;
  const char* name = get_func_name(call->funcid);
  if (name == nullptr || list_length(call->args) < 2) return NIL;
  if (strcmp(name, "date_trunc") == 0) return truncated_times(scope, call);
  if (strcmp(name, "width_bucket") == 0) return bucket_numbers(call);
  const bool is_part = strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0;
  return is_part ? extracted_parts(scope, call) : NIL;
}

// ---- Few values ----------------------------------------------------------------------------

// All labels of an enum.
List* labels_of_enum(const Node* key) {
  const Oid type = exprType(key);
  if (get_typtype(type) != TYPTYPE_ENUM) return NIL;
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  List* values = NIL;
  if (labels->n_members <= kMaxElements) {
    for (int i = 0; i < labels->n_members; ++i) {
      const auto* label = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[i]->tuple));
      values = lappend(values, makeConst(type, -1, InvalidOid, sizeof(Oid),
                                         ObjectIdGetDatum(label->oid), false, true));
    }
  }
  ReleaseSysCacheList(labels);
  return values;
}

List* both_booleans() {
  return list_make2(bool_constant(false), bool_constant(true));
}

// ---- Choices -------------------------------------------------------------------------------

List* values_of_case(const CaseExpr* choice) {
  List* results = choice->defresult == nullptr ? NIL : list_make1(choice->defresult);
  const ListCell* cell;
  foreach (cell, choice->args) {
    results = lappend(results, static_cast<CaseWhen*>(lfirst(cell))->result);
  }
  List* values = NIL;
  foreach (cell, results) {
    auto* value = static_cast<Node*>(lfirst(cell));
    if (!IsA(value, Const)) return NIL;
    auto* constant = static_cast<Const*>(copyObjectImpl(value));
    constant->location = -1;
    if (!constant->constisnull) values = list_append_unique(values, constant);
  }
  return values;
}

}  // namespace

List* public_values_of(const QueryScope* scope, Node* key) {
  check_stack_depth();
  if (IsA(key, Var)) {
    if (List* values = keys_of_domain(scope, key)) return values;
    if (List* values = series_of_bounds(scope, key)) return values;
    if (exprType(key) == BOOLOID) return both_booleans();
    if (List* values = labels_of_enum(key)) return values;
    const auto definition = definition_of(scope, reinterpret_cast<Var*>(key));
    return definition ? public_values_of(definition->scope, definition->expression) : NIL;
  }
  if (IsA(key, FuncExpr)) return values_of_function(scope, reinterpret_cast<FuncExpr*>(key));
  if (IsA(key, CaseExpr)) return values_of_case(reinterpret_cast<CaseExpr*>(key));
  return exprType(key) == BOOLOID && !IsA(key, Const) ? both_booleans() : NIL;
}

}  // namespace dpquantile
