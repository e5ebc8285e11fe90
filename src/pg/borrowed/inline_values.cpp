#include "pg/borrowed/inline_values.hpp"

#include "pg/release/below_release.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

struct Change {
  const List* range_table;
  const List* tables;
};

Oid inline_value() {
  const Oid type = ANYELEMENTOID;
  const Oid function = own_function("inline_value", buildoidvector(&type, 1));
  if (OidIsValid(function)) return function;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("a function of this extension is missing: inline_value"),
                  errhint("This call was not charged. Ask the administrator whether the library "
                          "and the SQL objects are of one version: dpquantile.check_version().")));
}

// `number`: of the entry of the range table that is scanned.
List* only_inline(List* columns, Index number) {
  return mapped(columns, [=](Node* node) -> Node* {
    if (!IsA(node, Var)) return nullptr;
    const auto* column = as<Var>(node);
    // A scan of an index alone has its columns, which are never stored elsewhere.
    const bool is_of_table = static_cast<Index>(column->varno) == number;
    if (!is_of_table || column->varattno < 1 || get_typlen(column->vartype) != -1) return node;
    FuncExpr* call = makeFuncExpr(inline_value(), column->vartype, list_make1(node),
                                  column->varcollid, column->varcollid, COERCE_EXPLICIT_CALL);
    return as<Node>(makeRelabelType(as<Expr>(call), column->vartype, column->vartypmod,
                                    column->varcollid, COERCE_IMPLICIT_CAST));
  });
}

bool stores_elsewhere(Oid table) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
  if (!HeapTupleIsValid(row)) return true;
  const bool stores = OidIsValid(reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->reltoastrelid);
  ReleaseSysCache(row);
  return stores;
}

// The entry of the range table that a node scans, or 0.
Index scanned_by(const Plan* node) {
  switch (nodeTag(node)) {
    case T_SeqScan:
    case T_SampleScan:
    case T_IndexScan:
    case T_BitmapHeapScan:
    case T_TidScan:
    case T_TidRangeScan:
      return as<Scan>(node)->scanrelid;
    default:
      return 0;
  }
}

// For visit_below_releases(). `context` is a const Change*.
void change_scan(Plan** place, void* context) {
  const auto* change = static_cast<const Change*>(context);
  const Index number = scanned_by(*place);
  if (number == 0) return;
  const Oid table = rt_fetch(number, change->range_table)->relid;
  if (!list_member_oid(change->tables, table) || !stores_elsewhere(table)) return;
  (*place)->targetlist = only_inline((*place)->targetlist, number);
}

}  // namespace

void leave_out_stored_values(PlannedStmt* plan, const List* tables) {
  if (tables == NIL) return;
  Change change = {plan->rtable, tables};
  visit_below_releases(plan, change_scan, &change);
}

}  // namespace dpquantile
