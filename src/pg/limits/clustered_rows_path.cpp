#include "pg/limits/clustered_rows_path.hpp"

#include <cmath>

#include "pg/limits/clustered_rows_node.hpp"
#include "pg/limits/row_partitions.hpp"
#include "pg/limits/stored_columns.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

struct ClusteredRowsPath {
  CustomPath path;
  ClusteredRowsPlan plan;
};

// From 1.
int column_of_key(const PathTarget* columns, Index reference) {
  for (int i = 0; i < list_length(columns->exprs); ++i) {
    if (get_pathtarget_sortgroupref(columns, i) == reference) return i + 1;
  }
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the rows lack a key of the groups")));
}

void add_keys(PlannerInfo* root, const PathTarget* columns, ClusteredRowsPlan* plan) {
  for (const auto* key : each<SortGroupClause>(DPQ_GROUP_CLAUSE(root))) {
    const int column = column_of_key(columns, key->tleSortGroupRef);
    plan->columns = lappend_int(plan->columns, column);
    plan->equalities = lappend_oid(plan->equalities, key->eqop);
    plan->orders = lappend_oid(plan->orders, key->sortop);
    plan->collations = lappend_oid(
        plan->collations, exprCollation(static_cast<Node*>(list_nth(columns->exprs, column - 1))));
  }
}

// The child's columns are those of custom_scan_tlist.
Plan* plan_clustered_rows(PlannerInfo*, RelOptInfo*, CustomPath* custom_path, List* target_list,
                          List*, List* children) {
  const auto* path = reinterpret_cast<const ClusteredRowsPath*>(custom_path);
  CustomScan* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = target_list;
  plan->flags = custom_path->flags;
  plan->custom_plans = children;
  plan->custom_scan_tlist =
      static_cast<List*>(copyObjectImpl(make_tlist_from_pathtarget(custom_path->path.pathtarget)));
  plan->custom_private = encode_mark(path->plan);
  plan->methods = clustered_rows_methods();
  return &plan->scan.plan;
}

const CustomPathMethods kPathMethods = {kClusteredRowsName, plan_clustered_rows, nullptr};

}  // namespace

Path* make_clustered_rows_path(const GroupingLevel& level, Path* rows, bool in_parts) {
  auto* clustered = static_cast<ClusteredRowsPath*>(palloc0(sizeof(ClusteredRowsPath)));
  const PathTarget* used = rows->pathtarget;
  rows = rows_as_stored(level.root, rows);
  add_keys(level.root, rows->pathtarget, &clustered->plan);
  clustered->plan.in_parts = in_parts;
  clustered->plan.left_out = columns_left_out(rows->pathtarget, used);
  clustered->path.custom_paths = list_make1(rows);
  clustered->path.methods = &kPathMethods;
  Path* path = &clustered->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = level.groups;
  path->pathtarget = copy_pathtarget(rows->pathtarget);
  path->pathkeys = NIL;
  path->rows = rows->rows;
  path->startup_cost = rows->total_cost + rows->rows * cpu_operator_cost;
  path->total_cost = path->startup_cost + rows->rows * cpu_operator_cost;
  return path;
}

double groups_of_part(double groups) {
  return std::ceil(groups / kMostParts);
}

}  // namespace dpquantile
