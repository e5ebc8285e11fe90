#include "pg/limits/grouped_rows_path.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

struct GroupedRowsPath {
  CustomPath path;
  GroupedRowsPlan plan;
};

// The node's columns are those of the grouping.
Plan* plan_grouped_rows(PlannerInfo*, RelOptInfo*, CustomPath* custom_path, List* target_list,
                        List*, List* children) {
  const auto* path = reinterpret_cast<const GroupedRowsPath*>(custom_path);
  GroupedRowsPlan grouped = path->plan;
  CustomScan* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = target_list;
  plan->flags = custom_path->flags;
  plan->custom_plans = children;
  plan->custom_scan_tlist =
      static_cast<List*>(copyObjectImpl(make_tlist_from_pathtarget(custom_path->path.pathtarget)));
  plan->custom_private = encode_mark(grouped);
  plan->methods = grouped_rows_methods();
  return &plan->scan.plan;
}

const CustomPathMethods kPathMethods = {kGroupedRowsName, plan_grouped_rows, nullptr};

template <class Above>
Path* above_grouped_partial_rows(const Path* path, const GroupedRowsPlan& plan) {
  auto* copy = static_cast<Above*>(palloc(sizeof(Above)));
  memcpy(static_cast<void*>(copy), path, sizeof(Above));
  copy->subpath = with_grouped_partial_rows(copy->subpath, plan);
  return as<Path>(copy);
}

Path* grouped_partial_rows(const AggPath* grouping, const GroupedRowsPlan& plan) {
  auto* copy = static_cast<AggPath*>(palloc(sizeof(AggPath)));
  *copy = *grouping;
  copy->aggstrategy = AGG_SORTED;
  return make_grouped_rows_path(&copy->path, plan);
}

}  // namespace

Path* make_grouped_rows_path(Path* grouping, const GroupedRowsPlan& plan) {
  auto* grouped = static_cast<GroupedRowsPath*>(palloc0(sizeof(GroupedRowsPath)));
  grouped->plan = plan;
  grouped->path.custom_paths = list_make1(grouping);
  grouped->path.methods = &kPathMethods;
  Path* path = &grouped->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = grouping->parent;
  path->pathtarget = grouping->pathtarget;
  path->parallel_safe = grouping->parallel_safe;
  path->parallel_workers = grouping->parallel_workers;
  path->pathkeys = NIL;
  path->rows = grouping->rows;
  path->startup_cost = grouping->startup_cost;
  path->total_cost = grouping->total_cost;
  return path;
}

Path* with_grouped_partial_rows(Path* path, const GroupedRowsPlan& plan) {
  switch (nodeTag(path)) {
    case T_GatherPath:
      return above_grouped_partial_rows<GatherPath>(path, plan);
    case T_GatherMergePath:
      return above_grouped_partial_rows<GatherMergePath>(path, plan);
    case T_SortPath:
      return above_grouped_partial_rows<SortPath>(path, plan);
    case T_AggPath: {
      const auto* grouping = as<AggPath>(path);
      const bool is_hashed =
          DO_AGGSPLIT_SKIPFINAL(grouping->aggsplit) && grouping->aggstrategy == AGG_HASHED;
      return is_hashed ? grouped_partial_rows(grouping, plan) : path;
    }
    default:
      return path;
  }
}

}  // namespace dpquantile
