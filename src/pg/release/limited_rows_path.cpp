#include "pg/release/limited_rows_path.hpp"

#include "pg/release/limited_rows_node.hpp"
#include "pg/release/private_call.hpp"

extern "C" {
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

struct LimitedRowsPath {
  CustomPath path;
  int user_column;
  int most;
};

[[noreturn]] void refuse_limit(const char* reason) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("the rows of each user cannot be limited: %s", reason),
           errhint("Ask aggregates over users, such as dp_count_distinct or dp_user_mean.")));
}

// From 1.
int column_of_user(const PathTarget* columns, const RowLimit& limit) {
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    if (equal(lfirst(cell), limit.user)) return foreach_current_index(cell) + 1;
  }
  refuse_limit("the user is not a column of the rows");
}

// The child's columns are the first of custom_scan_tlist.
Plan* plan_limited_rows(PlannerInfo*, RelOptInfo*, CustomPath* custom_path, List* target_list,
                        List*, List* children) {
  const auto* path = reinterpret_cast<const LimitedRowsPath*>(custom_path);
  CustomScan* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = target_list;
  plan->flags = custom_path->flags;
  plan->custom_plans = children;
  plan->custom_scan_tlist =
      static_cast<List*>(copyObjectImpl(make_tlist_from_pathtarget(custom_path->path.pathtarget)));
  plan->custom_private = list_make2_int(path->user_column, path->most);
  plan->methods = limited_rows_methods();
  return &plan->scan.plan;
}

const CustomPathMethods kPathMethods = {kLimitedRowsName, plan_limited_rows, nullptr};

}  // namespace

RowLimit row_limit_of(const GroupingLevel& level, const PathTarget* columns) {
  RowLimit limit{};
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    if (private_family(static_cast<const Node*>(lfirst(cell))) == nullptr) continue;
    const RowLimit found = find_row_limit(static_cast<const Aggref*>(lfirst(cell)));
    if (found.condition == nullptr) continue;
    if (limit.condition != nullptr && !equal(limit.condition, found.condition)) {
      refuse_limit("its aggregates have several limits");
    }
    limit = found;
  }
  if (limit.condition != nullptr && level.root->parse->groupingSets != NIL) {
    refuse_limit("the query has grouping sets");
  }
  return limit;
}

Path* make_limited_rows_path(const GroupingLevel& level, Path* rows, const RowLimit& limit) {
  auto* limited = static_cast<LimitedRowsPath*>(palloc0(sizeof(LimitedRowsPath)));
  limited->user_column = column_of_user(rows->pathtarget, limit);
  limited->most = limit.most;
  limited->path.custom_paths = list_make1(rows);
  limited->path.methods = &kPathMethods;
  Path* path = &limited->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = level.groups;
  path->pathtarget = copy_pathtarget(rows->pathtarget);
  add_column_to_pathtarget(path->pathtarget, reinterpret_cast<Expr*>(limit.condition), 0);
  path->pathkeys = rows->pathkeys;
  path->rows = rows->rows;
  path->startup_cost = rows->total_cost;
  path->total_cost = 2 * rows->total_cost;
  return path;
}

}  // namespace dpquantile
