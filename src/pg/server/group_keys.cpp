#include "pg/server/group_keys.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

bool is_integer(Oid type) {
  return type == INT2OID || type == INT4OID || type == INT8OID;
}

// A column gets the place in the text that one of the expressions has.
void restore_location(Var* column, const List* expressions) {
  for (const auto* expression : each<const Node>(expressions)) {
    if (equal(column, expression)) column->location = exprLocation(expression);
  }
}

// Whether expressions have columns of the entry for the group keys.
bool refers_to_group_keys(Query* query) {
  int number = 0;
  for (const auto* entry : each<const RangeTblEntry>(query->rtable)) {
    ++number;
    if (DPQ_GROUP_KEYS(entry) == NIL) continue;
    if (rangeTableEntry_used(as<Node>(query->targetList), number, 0) ||
        rangeTableEntry_used(query->havingQual, number, 0)) {
      return true;
    }
  }
  return false;
}

void restore_locations(Query* query) {
  for (auto* item : each<TargetEntry>(query->targetList)) {
    auto* column = item->expr;
    if (!IsA(column, Var) || as<Var>(column)->location >= 0) continue;
    for (auto* table : each<RangeTblEntry>(query->rtable)) {
      restore_location(as<Var>(column), DPQ_GROUP_KEYS(table));
    }
  }
}

}  // namespace

bool resolve_group_keys(Query* query) {
  if (!refers_to_group_keys(query)) return false;
  DPQ_RESOLVE_GROUP_KEYS(query);
  restore_locations(query);
  if (query->groupingSets != NIL) return true;
  for (auto* entry : each<RangeTblEntry>(query->rtable)) DPQ_FORGET_GROUP_ENTRY(entry);
  DPQ_FORGET_GROUP_KEYS(query);
  return true;
}

bool tells_groups_apart(const OpExpr* equality, const Var* column) {
  const Oid family = lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
  if (!OidIsValid(family) || equality->inputcollid != column->varcollid ||
      get_op_opfamily_strategy(equality->opno, family) != BTEqualStrategyNumber) {
    return false;
  }
  Oid left;
  Oid right;
  op_input_types(equality->opno, &left, &right);
  return left == right || (is_integer(left) && is_integer(right));
}

}  // namespace dpquantile
