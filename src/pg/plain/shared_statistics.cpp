#include "pg/plain/shared_statistics.hpp"

#include "pg/plain/standard_aggregate.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_attribute.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

struct Statistic {
  const char* standard;
  const char* field;  // of dp_stats
};

constexpr Statistic kStatistics[] = {{"count", "count"},       {"sum", "sum"},
                                     {"avg", "avg"},           {"variance", "variance"},
                                     {"var_samp", "variance"}, {"stddev", "stddev"},
                                     {"stddev_samp", "stddev"}};

// Null if the call asks for something else.
const char* field_of(const Aggref* call) {
  if (!is_standard_aggregate(call) || call->aggdistinct != NIL || call->aggorder != NIL) {
    return nullptr;
  }
  const char* name = get_func_name(call->aggfnoid);
  for (const Statistic& statistic : kStatistics) {
    if (strcmp(name, statistic.standard) == 0) return statistic.field;
  }
  return nullptr;
}

const Node* value_of(const Aggref* call) {
  return reinterpret_cast<Node*>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

// For expression_tree_walker(). `calls` is a List**.
bool collect_statistics(Node* node, void* calls) {
  if (node == nullptr) return false;
  if (IsA(node, Aggref) && field_of(reinterpret_cast<Aggref*>(node)) != nullptr) {
    auto* list = static_cast<List**>(calls);
    *list = lappend(*list, node);
    return false;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(collect_statistics), calls);
}

bool may_be_null(const PlainLevel* level, Node* value) {
  const auto origin = origin_of(&level->scope, value);
  if (!origin) return true;
  HeapTuple row =
      SearchSysCache2(ATTNUM, ObjectIdGetDatum(origin->relation), Int16GetDatum(origin->column));
  if (!HeapTupleIsValid(row)) return true;
  const bool is_nullable = !reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row))->attnotnull;
  ReleaseSysCache(row);
  return is_nullable;
}

// Whether both are statistics of one column over the same rows.
bool share(const PlainLevel* level, const Aggref* valued, const Aggref* call) {
  if (!equal(valued->aggfilter, call->aggfilter)) return false;
  if (counts_rows(call)) return !may_be_null(level, const_cast<Node*>(value_of(valued)));
  return equal(value_of(valued), value_of(call));
}

// A count alone has no bounds to share.
bool is_of_values(const Aggref* call) {
  return strcmp(field_of(call), "count") != 0;
}

bool has_another(const PlainLevel* level, const List* statistics, const Aggref* valued) {
  const ListCell* cell;
  foreach (cell, statistics) {
    const auto* call = static_cast<const Aggref*>(lfirst(cell));
    if (strcmp(field_of(call), field_of(valued)) != 0 && share(level, valued, call)) return true;
  }
  return false;
}

}  // namespace

List* find_shared_statistics(const PlainLevel* level) {
  const Query* query = level->scope.query;
  List* statistics = NIL;
  (void)collect_statistics(reinterpret_cast<Node*>(query->targetList), &statistics);
  (void)collect_statistics(query->havingQual, &statistics);
  List* shared = NIL;
  ListCell* cell;
  foreach (cell, statistics) {
    auto* call = static_cast<Aggref*>(lfirst(cell));
    if (is_of_values(call) && has_another(level, statistics, call)) shared = lappend(shared, call);
  }
  return shared;
}

Node* shared_statistic(const PlainLevel* level, const List* shared, const Aggref* call) {
  const char* field = field_of(call);
  if (field == nullptr) return nullptr;
  const ListCell* cell;
  foreach (cell, shared) {
    const auto* valued = static_cast<const Aggref*>(lfirst(cell));
    if (share(level, valued, call)) return field_of_statistics(level, call, valued, field);
  }
  return nullptr;
}

}  // namespace dpquantile
