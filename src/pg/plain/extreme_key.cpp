#include "pg/plain/extreme_key.hpp"

#include "pg/plain/group_keys.hpp"
#include "pg/plain/keyed_query.hpp"
#include "pg/plain/subquery_join.hpp"
#include "pg/plain/value_bounds.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// 1 for max, -1 for min, 0 for other calls.
int direction_of(const Aggref* call) {
  if (call->aggfnoid >= FirstUnpinnedObjectId || call->agglevelsup != 0) return 0;
  const char* name = get_func_name(call->aggfnoid);
  if (strcmp(name, "max") == 0) return 1;
  return strcmp(name, "min") == 0 ? -1 : 0;
}

Node* value_of(const Aggref* call) {
  return as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

// Whether a call answers the value itself where all rows of a group have one. FILTER may leave
// none.
bool answers_one_value(const Query* query, const Aggref* call) {
  return call->aggfilter == nullptr && query->groupingSets == NIL &&
         exprType(value_of(call)) == call->aggtype;
}

bool is_among(const List* keys, Node* value) {
  for (auto* key : each<Node>(keys)) {
    if (equal(without_relabel(key), value)) return true;
  }
  return false;
}

// As many calls as columns ask this: a list of the keys for each of them would take long.
bool is_key(const Query* query, Node* value) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->ressortgroupref != 0 && equal(without_relabel(as<Node>(column->expr)), value) &&
        get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) != nullptr) {
      return true;
    }
  }
  return false;
}

// The last of values that are not NULL in the order of their type, or the first; null if there is
// none.
const Const* extreme_of(const List* values, int direction, Oid collation) {
  const Const* extreme = nullptr;
  for (const auto* value : each<const Const>(values)) {
    if (value->constisnull) continue;
    auto* order = lookup_type_cache(value->consttype, TYPECACHE_CMP_PROC_FINFO);
    const bool is_beyond =
        extreme == nullptr ||
        direction * DatumGetInt32(FunctionCall2Coll(&order->cmp_proc_finfo, collation,
                                                    value->constvalue, extreme->constvalue)) >
            0;
    if (is_beyond) extreme = value;
  }
  return extreme;
}

bool has_usual_order(const Node* value, Oid collation) {
  const Oid type = exprType(value);
  return is_inside_type(type) &&
         OidIsValid(lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc) &&
         (!OidIsValid(collation) || is_inside_collation(collation));
}

}  // namespace

void group_by_fixed_values(const PlainLevel* level) {
  Query* query = level->select->query;
  if (query->groupClause == NIL) return;
  const List* keys = get_sortgrouplist_exprs(query->groupClause, query->targetList);
  List* fixed = NIL;
  const auto find = [&](Node* node) {
    CHECK_FOR_INTERRUPTS();
    if (!IsA(node, Aggref)) return;
    const auto* call = as<Aggref>(node);
    if (direction_of(call) == 0 || !answers_one_value(query, call)) return;
    Node* value = without_relabel(value_of(call));
    if (!is_key(query, value) && !is_among(fixed, value) &&
        is_fixed_by_keys(level->select, keys, value)) {
      fixed = lappend(fixed, value);
    }
  };
  visit_nodes(query->targetList, find);
  visit_nodes(query->havingQual, find);
  if (fixed != NIL) group_by_more(query, fixed);
}

Node* extreme_key(const PlainLevel* level, const Aggref* call) {
  const int direction = direction_of(call);
  if (direction == 0) return nullptr;
  CHECK_FOR_INTERRUPTS();
  Node* value = value_of(call);
  const Query* query = level->select->query;
  if (answers_one_value(query, call) && is_key(query, without_relabel(value))) return value;
  if (type_with_bounds(exprType(value)) || !has_usual_order(value, call->inputcollid) ||
      other_value_of(level->select, without_relabel(value)) != nullptr) {
    return nullptr;
  }
  Node* key = without_relabel(value);
  const List* values = shown_values_of(level->select, key);
  if (values != NIL) values = values_left_by_where(level->select, key, const_cast<List*>(values));
  const Const* extreme = extreme_of(values, direction, call->inputcollid);
  if (extreme == nullptr) return nullptr;
  Statement* statement = level->select->statement;
  statement->answered_by_bounds =
      lappend(statement->answered_by_bounds, get_func_name(call->aggfnoid));
  auto* answer = static_cast<Const*>(copyObjectImpl(extreme));
  // A varchar is a text.
  answer->consttype = call->aggtype;
  answer->consttypmod = -1;
  answer->constcollid = call->aggcollid;
  return as<Node>(answer);
}

}  // namespace dpquantile
