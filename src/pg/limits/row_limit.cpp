#include "pg/limits/row_limit.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr char kSymbol[] = "dpq_limited_row";

// Only a superuser can make a function in C, so its symbol can be trusted.
bool is_row_limit(Oid function) {
  if (function < FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return false;
  bool is_limit = false;
  if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == ClanguageId) {
    bool is_null;
    const Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
    is_limit = !is_null && strcmp(TextDatumGetCString(symbol), kSymbol) == 0;
  }
  ReleaseSysCache(tuple);
  return is_limit;
}

RowLimit limit_of(FuncExpr* condition) {
  const auto* most = static_cast<const Const*>(lsecond(condition->args));
  const bool is_number = IsA(most, Const) && most->consttype == INT4OID && !most->constisnull;
  if (!is_number || DatumGetInt32(most->constvalue) < 1) {
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
         errmsg("the most rows of a person must be a positive constant"),
         errhint(
             "The owner of the table states it, dp_protect_table(..., max_rows => 20), or has it "
             "found by dp_learn_limits.")));
  }
  return {condition, static_cast<Node*>(linitial(condition->args)),
          DatumGetInt32(most->constvalue)};
}

}  // namespace

RowLimit find_row_limit(const Aggref* call) {
  for (auto* term : each<FuncExpr>(terms_of(as<Node>(call->aggfilter)))) {
    if (IsA(term, FuncExpr) && is_row_limit(term->funcid)) return limit_of(term);
  }
  return {};
}

int most_rows_of(const Aggref* call) {
  return find_row_limit(call).most;
}

bool sees_no_row(const Aggref* call) {
  const auto* filter = as<Const>(call->aggfilter);
  if (filter == nullptr || !IsA(filter, Const)) return false;
  return filter->constisnull || !DatumGetBool(filter->constvalue);
}

}  // namespace dpquantile
