#include "pg/limits/row_limit.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
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
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("the most rows of a person must be a positive constant"),
             errhint("The owner of the table states it: dp_protect_table(..., max_rows => 20).")));
  }
  return {condition, static_cast<Node*>(linitial(condition->args)),
          DatumGetInt32(most->constvalue)};
}

RowLimit find_in(Node* term) {
  if (term == nullptr) return {};
  if (IsA(term, FuncExpr)) {
    auto* call = as<FuncExpr>(term);
    return is_row_limit(call->funcid) ? limit_of(call) : RowLimit{};
  }
  if (!is_andclause(term)) return {};
  for (auto* node : each<Node>(as<BoolExpr>(term)->args)) {
    const RowLimit found = find_in(node);
    if (found.condition != nullptr) return found;
  }
  return {};
}

}  // namespace

RowLimit find_row_limit(const Aggref* call) {
  return find_in(as<Node>(call->aggfilter));
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
