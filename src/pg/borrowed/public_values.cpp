// The values of a list in FROM that protected rows are joined with: unnest() and generate_series().
#include "pg/borrowed/early_values.hpp"
#include "pg/server/distinct_values.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_long_list() {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a list that is joined with protected rows is too long"),
                  errdetail("It has more than %d values.", kMaxElements),
                  errhint("Join a table that has a unique key, or ask several queries.")));
}

struct Elements {
  Oid type;
  int16 length;
  bool by_value;
  char alignment;
};

Elements elements_of(Oid type) {
  Elements elements{type, 0, false, '\0'};
  get_typlenbyvalalign(type, &elements.length, &elements.by_value, &elements.alignment);
  return elements;
}

// ---- Series --------------------------------------------------------------------------------

Oid series_function(Oid type) {
  switch (type) {
    case INT4OID:
      return F_GENERATE_SERIES_INT4_INT4_INT4;
    case INT8OID:
      return F_GENERATE_SERIES_INT8_INT8_INT8;
    case NUMERICOID:
      return F_GENERATE_SERIES_NUMERIC_NUMERIC_NUMERIC;
    case TIMESTAMPOID:
      return F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL;
    case TIMESTAMPTZOID:
      return F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL;
    default:
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("series of type %s are not supported", format_type_be(type)),
                      errhint("Use integer, bigint, numeric, timestamp or timestamptz.")));
  }
}

ReturnSetInfo rows_of(ExprContext* context) {
  ReturnSetInfo rows{};
  rows.type = T_ReturnSetInfo;
  rows.econtext = context;
  rows.allowedModes = SFRM_ValuePerCall;
  rows.returnMode = SFRM_ValuePerCall;
  return rows;
}

// The values of a function that returns a set, one a call. Returns how many there are.
int call_for_each(FunctionCallInfo call, ReturnSetInfo* rows, const Elements& elements,
                  Datum* values) {
  for (int count = 0;; ++count) {
    CHECK_FOR_INTERRUPTS();
    rows->isDone = ExprSingleResult;
    call->isnull = false;
    const Datum value = FunctionCallInvoke(call);
    if (rows->isDone != ExprMultipleResult) return count;
    if (count == kMaxElements) refuse_long_list();
    values[count] = datumCopy(value, elements.by_value, elements.length);
  }
}

ArrayType* series(FunctionCallInfo arguments) {
  const Elements elements = elements_of(get_fn_expr_argtype(arguments->flinfo, 0));
  FmgrInfo function;
  fmgr_info(series_function(elements.type), &function);
  ExprContext* context = CreateStandaloneExprContext();
  ReturnSetInfo rows = rows_of(context);
  LOCAL_FCINFO(call, 3);
  InitFunctionCallInfoData(*call, &function, 3, InvalidOid, nullptr,
                           reinterpret_cast<Node*>(&rows));
  for (int i = 0; i < 3; ++i) call->args[i] = arguments->args[i];
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * kMaxElements));
  const int count = call_for_each(call, &rows, elements, values);
  FreeExprContext(context, true);
  return construct_array(values, count, elements.type, elements.length, elements.by_value,
                         elements.alignment);
}

// ---- Distinct values -----------------------------------------------------------------------

// Moves the values that are not NULL to the front. Returns how many there are.
int without_nulls(Datum* values, const bool* nulls, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    if (!nulls[i]) values[kept++] = values[i];
  }
  return kept;
}

void require_distinct(ArrayType* array, Oid collation) {
  const Elements elements = elements_of(ARR_ELEMTYPE(array));
  Datum* values;
  bool* nulls;
  int count;
  deconstruct_array(array, elements.type, elements.length, elements.by_value, elements.alignment,
                    &values, &nulls, &count);
  if (count > kMaxElements) refuse_long_list();
  const int present = without_nulls(values, nulls, count);
  if (!are_distinct(values, present, elements.type, collation)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("a list that is joined with protected rows has a value twice"),
                    errdetail("Each row would count twice."), errhint("Leave out one of them.")));
  }
  if (are_spread_by_hash(values, present, elements.type, collation)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("a list that is joined with protected rows has many values with one hash"),
                  errdetail("A row would be compared with each of them."),
                  errhint("Leave out some of them.")));
}

}  // namespace

}  // namespace dpquantile

// (start, stop, step) returns array: the values of generate_series(), at most 1000 (error 54000).
DPQ_FUNCTION(dpq_series) {
  PG_RETURN_ARRAYTYPE_P(dpquantile::series(fcinfo));
}

// (list anyarray) returns the same array. Raises error 22023 if two of its elements are equal, or
// many have one hash, and 54000 if there are more than 1000.
DPQ_FUNCTION(dpq_distinct_values) {
  dpquantile::require_distinct(PG_GETARG_ARRAYTYPE_P(0), PG_GET_COLLATION());
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
