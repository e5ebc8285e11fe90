#include "pg/limits/limited_rows_path.hpp"

#include "pg/limits/limited_rows_node.hpp"
#include "pg/limits/stored_columns.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

struct LimitedRowsPath {
  CustomPath path;
  LimitedRowsPlan plan;
};

[[noreturn]] void refuse_limit(const char* reason) {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("the rows of each person cannot be limited: %s", reason),
       errhint("Ask aggregates that protect persons, such as dp_count_distinct or dp_user_mean.")));
}

// From 1.
int column_of_user(const PathTarget* columns, const RowLimit& limit) {
  const int column = find_column(columns, limit.user);
  if (column == 0) refuse_limit("no column of the rows identifies the persons");
  return column;
}

// ---- What is above the rows -----------------------------------------------------------------

bool has_unlimited_aggregate(const List* expressions) {
  return search(expressions, [](Node* node) {
    if (!IsA(node, Aggref)) return Look::kBelow;
    return find_row_limit(as<Aggref>(node)).condition == nullptr ? Look::kFound : Look::kPast;
  });
}

// Whether there is another use of the user than in the limit itself.
bool uses_user(const List* expressions, const RowLimit& limit) {
  return search(expressions, [&](Node* node) {
    if (equal(node, limit.condition)) return Look::kPast;
    return equal(node, limit.user) ? Look::kFound : Look::kBelow;
  });
}

// What is computed of the rows: the columns of the groups, HAVING, and keys that no column shows.
List* expressions_above(const GroupingLevel& level) {
  const PlannerInfo* root = level.root;
  List* expressions = list_copy(level.groups->reltarget->exprs);
  expressions = list_concat(expressions, level.having);
  for (auto* key : each<SortGroupClause>(root->parse->groupClause)) {
    expressions = lappend(expressions, get_sortgroupclause_expr(key, root->processed_tlist));
  }
  return expressions;
}

// A row that is not chosen may be the only one of its group, and other aggregates see it.
bool needs_all_rows(const GroupingLevel& level, const List* above) {
  return level.root->parse->groupClause != NIL || has_unlimited_aggregate(above);
}

// ---- The plan ------------------------------------------------------------------------------

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
  plan->custom_private = encode_mark(path->plan);
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
      refuse_limit("the aggregates have different limits");
    }
    limit = found;
  }
  if (limit.condition != nullptr && level.root->parse->groupingSets != NIL) {
    refuse_limit("the query has grouping sets");
  }
  return limit;
}

Path* make_limited_rows_path(const GroupingLevel& level, Path* rows, const RowLimit& limit,
                             bool are_sorted) {
  auto* limited = static_cast<LimitedRowsPath*>(palloc0(sizeof(LimitedRowsPath)));
  limited->plan.most = limit.most;
  List* above = expressions_above(level);
  limited->plan.gives_all_rows = needs_all_rows(level, above);
  const bool keeps_user = uses_user(above, limit);
  const PathTarget* used = rows->pathtarget;
  // Not for rows that are sorted: PostgreSQL may sort them by any column that WHERE says to be
  // equal to a key, also by one that is left out.
  if (!are_sorted) rows = rows_as_stored(level.root, rows);
  limited->plan.user_column = column_of_user(rows->pathtarget, limit);
  limited->plan.left_out = columns_left_out(rows->pathtarget, used);
  if (!keeps_user) {
    limited->plan.left_out =
        list_append_unique_int(limited->plan.left_out, limited->plan.user_column);
  }
  limited->path.custom_paths = list_make1(rows);
  limited->path.methods = &kPathMethods;
  Path* path = &limited->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = level.groups;
  path->pathtarget = copy_pathtarget(rows->pathtarget);
  add_column_to_pathtarget(path->pathtarget, as<Expr>(limit.condition), 0);
  path->pathkeys = NIL;  // users come in an order of their own
  path->rows = rows->rows;
  path->startup_cost = rows->total_cost;
  path->total_cost = 2 * rows->total_cost;
  return path;
}

}  // namespace dpquantile
