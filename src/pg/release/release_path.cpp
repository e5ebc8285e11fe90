#include "pg/release/release_path.hpp"

#include <algorithm>

#include "pg/limits/grouped_rows_path.hpp"
#include "pg/limits/limited_rows_path.hpp"
#include "pg/parameters/call_arguments.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/release/error_notice.hpp"
#include "pg/release/grouping_states.hpp"
#include "pg/release/parameter_source.hpp"
#include "pg/release/release_columns.hpp"
#include "pg/release/release_node.hpp"
#include "pg/release/release_plan.hpp"
#include "pg/release/state_bytes.hpp"
#include "pg/release/state_source.hpp"
#include "pg/release/value_cast.hpp"
#include "pg/reuse/query_identity.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "catalog/pg_operator_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

create_upper_paths_hook_type previous_hook = nullptr;

// A query level, and what the paths of its release nodes share.
struct ReleaseLevel {
  GroupingLevel grouping;
  ReleaseColumns columns;
  ReleasePlan plan;       // without the number of grouping sets
  RowLimit limit;         // of the rows of each user
  bool waits_for_groups;  // whether no group is answered before all are read
  int listed_groups;      // as in LevelMark
};

// A path for a release node.
struct ReleasePath {
  CustomPath path;
  const ReleaseLevel* level;
  int grouping_sets;
};

// ---- The query level -----------------------------------------------------------------------

void require_order(const SortGroupClause* key, const Expr* column) {
  if (OidIsValid(key->sortop)) return;
  const char* type = format_type_be(exprType(as<Node>(column)));
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("private answers cannot be grouped by a key of type %s", type),
                  errdetail("The type has no order. The groups come in the order of their keys, "
                            "because any other order depends on the rows."),
                  errhint("Cast the key to a type that can be sorted, such as text.")));
}

// A row would be in several groups, and is charged for one.
void require_one_key(const PlannerInfo* root) {
  for (auto* clause : each<SortGroupClause>(root->parse->groupClause)) {
    Node* key = get_sortgroupclause_expr(clause, root->processed_tlist);
    if (!expression_returns_set(key)) continue;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("private answers cannot be grouped by a function that returns a set"),
                    errdetail("It would put a row into several groups, and the charge is for one."),
                    errhint("Write the function in FROM, as in FROM posts, unnest(tags) AS tag. A "
                            "row of posts is then as many rows as it has tags.")));
  }
}

void add_sort_column(ReleaseLevel* level, int column, Oid less_than, bool nulls_first) {
  ReleasePlan* plan = &level->plan;
  const auto* expression =
      static_cast<const Node*>(list_nth(level->columns.target->exprs, column - 1));
  plan->sort_columns = lappend_int(plan->sort_columns, column);
  plan->operators = lappend_oid(plan->operators, less_than);
  plan->collations = lappend_oid(plan->collations, exprCollation(expression));
  plan->nulls_first = lappend_int(plan->nulls_first, nulls_first ? 1 : 0);
}

// All keys, in the order to which the planner has brought GROUP BY: that of ORDER BY if possible.
void add_sort_columns(ReleaseLevel* level) {
  const ReleaseColumns& columns = level->columns;
  ListCell* cell;
  foreach (cell, DPQ_GROUP_CLAUSE(level->grouping.root)) {
    const auto* key = static_cast<SortGroupClause*>(lfirst(cell));
    const int number = foreach_current_index(cell);
    const int column = list_nth_int(columns.keys, number);
    require_order(key, static_cast<Expr*>(list_nth(columns.target->exprs, column - 1)));
    add_sort_column(level, column, key->sortop, key->nulls_first);
    if (columns.grouping_of_keys == NIL) continue;
    add_sort_column(level, list_nth_int(columns.grouping_of_keys, number), Int4LessOperator, false);
  }
}

// The ledger would tell the exact number of groups, also of those that are not to be shown.
void refuse_charge_by_hidden_group(bool hides_groups, bool charges_by_group) {
  if (!hides_groups || !charges_by_group) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("dp_keep_group cannot be used with an aggregate that is charged for each group"),
       errdetail(
           "The charge would reveal the number of all groups, also of those that are not shown."),
       errhint("Ask dp_keep_group in a query of its own, and then the other aggregate for the "
               "groups that were shown.")));
}

// ereports if equal keys may look different. A group shows the key of one of its rows.
void require_bytewise_keys(const ReleaseLevel& level) {
  // Also the keys that the planner leaves out of the grouping because of a condition such as k = 1.
  const PlannerInfo* root = level.grouping.root;
  for (auto* clause : each<SortGroupClause>(root->parse->groupClause)) {
    const Node* key = get_sortgroupclause_expr(clause, root->processed_tlist);
    if (looks_like_its_equals(key)) continue;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("dp_keep_group cannot be used with a key of type %s",
                           format_type_with_typemod(exprType(key), exprTypmod(key))),
                    errdetail("Equal keys may look different, such as 1.0 and 1.00, or \"Oslo\" "
                              "and \"oslo\". A single row would decide which is shown."),
                    errhint("Cast the key to a type in which they are the same, such as integer, "
                            "numeric(10,2) or text.")));
  }
}

// ereports if a parameter of a call is not constant, or may come from data.
void add_calls(ReleaseLevel* level) {
  bool hides_groups = false;
  bool charges_by_group = false;
  ListCell* cell;
  foreach (cell, level->columns.target->exprs) {
    const FamilyRow* family = private_family(static_cast<Node*>(lfirst(cell)));
    if (family == nullptr) continue;
    const auto* call = static_cast<const Aggref*>(lfirst(cell));
    check_constant_parameters(call, *family);
    check_parameters_source(level->grouping.root, call, *family);
    check_value(call, *family);
    level->plan.calls = lappend_int(level->plan.calls, foreach_current_index(cell) + 1);
    level->plan.noted = lappend_int(level->plan.noted, noted_answers(level->grouping.root, call));
    const bool waits = family->charged == ChargeRule::kOncePerGroup && level->plan.has_keys;
    if (waits || family->bounds_groups_of_users()) level->waits_for_groups = true;
    hides_groups |= family->selects_groups;
    charges_by_group |= waits;
  }
  refuse_charge_by_hidden_group(hides_groups, charges_by_group);
  if (hides_groups && level->plan.has_keys) require_bytewise_keys(*level);
}

ReleaseLevel* describe_level(PlannerInfo* root, RelOptInfo* input, RelOptInfo* groups) {
  auto* level = static_cast<ReleaseLevel*>(palloc0(sizeof(ReleaseLevel)));
  require_one_key(root);
  level->grouping = {root, input, groups, as<List>(root->parse->havingQual)};
  level->columns = release_columns(level->grouping);
  level->plan.has_keys = root->parse->groupClause != NIL;
  level->plan.identity = identity_with_columns(root->parse, level->columns.target);
  const LevelMark mark = mark_of_level(root->parse);
  level->plan.knows_tables = mark.knows_tables;
  level->plan.joins_rows = mark.joins_rows;
  level->plan.has_one_row = mark.has_one_row;
  level->plan.protects_persons = mark.protects_persons;
  level->plan.tables = mark.tables;
  level->listed_groups = mark.listed_groups;
  level->limit = row_limit_of(level->grouping, level->columns.target);
  add_sort_columns(level);
  add_calls(level);
  return level;
}

// ---- The plan ------------------------------------------------------------------------------

// The conditions of HAVING: calls of dp_keep_group, then conditions with such a call, then the
// others. What else is computed of a hidden group may be charged, raise an error or be seen in
// another way.
List* conditions_in_order(const List* having) {
  List* calls = NIL;
  List* with_calls = NIL;
  List* others = NIL;
  ListCell* cell;
  foreach (cell, having) {
    auto* condition = static_cast<Node*>(copyObjectImpl(lfirst(cell)));
    List** kind = is_keep_group(condition)    ? &calls
                  : has_keep_group(condition) ? &with_calls
                                              : &others;
    *kind = lappend(*kind, condition);
  }
  return list_concat(list_concat(calls, with_calls), others);
}

List* plan_columns(const PathTarget* columns) {
  List* entries = NIL;
  ListCell* cell;
  foreach (cell, columns->exprs) {
    const int index = foreach_current_index(cell);
    TargetEntry* entry = makeTargetEntry(static_cast<Expr*>(copyObjectImpl(lfirst(cell))),
                                         static_cast<AttrNumber>(index + 1), nullptr, false);
    entry->ressortgroupref = get_pathtarget_sortgroupref(columns, index);
    entries = lappend(entries, entry);
  }
  return entries;
}

// The node returns the first columns of custom_scan_tlist as they are (release_node.cpp).
//
// The parameters of the calls are not in custom_exprs: the planner would take a parameter that is
// also a group key for a column. The child depends on the same parameters, so rescans are right.
Plan* plan_release(PlannerInfo*, RelOptInfo*, CustomPath* custom_path, List* target_list, List*,
                   List* children) {
  const auto* path = reinterpret_cast<const ReleasePath*>(custom_path);
  ReleasePlan release = path->level->plan;
  release.grouping_sets = path->grouping_sets;
  CustomScan* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = target_list;
  plan->scan.plan.qual = conditions_in_order(path->level->grouping.having);
  plan->flags = custom_path->flags;
  plan->custom_plans = children;
  plan->custom_scan_tlist = plan_columns(path->level->columns.target);
  plan->custom_private = static_cast<List*>(copyObjectImpl(encode_mark(release)));
  plan->methods = release_scan_methods();
  return &plan->scan.plan;
}

const CustomPathMethods kPathMethods = {kReleaseName, plan_release, nullptr};

// ---- The paths -----------------------------------------------------------------------------

int count_grouping_sets(const Path* path) {
  if (!IsA(path, GroupingSetsPath)) return 1;
  int sets = 0;
  for (auto* item : each<RollupData>(as<GroupingSetsPath>(path)->rollups)) {
    sets += list_length(item->gsets);
  }
  return sets;
}

// The order that the planner may rely on. It has no notion of the order of grouping sets.
List* promised_order(PlannerInfo* root) {
  if (root->parse->groupingSets != NIL) return NIL;
  return make_pathkeys_for_sortclauses(root, DPQ_GROUP_CLAUSE(root), root->processed_tlist);
}

// Costs and rows are constants. The plan around the node decides in which order rows are shown and
// how often a node is executed and charged, and must not depend on the number of rows below.
void set_costs(Path* release, bool has_keys) {
  constexpr double kGroups = 100;
  constexpr Cost kStartupCost = 1000;
  release->rows = has_keys ? kGroups : 1;
  release->startup_cost = kStartupCost;
  release->total_cost = kStartupCost + 1;
}

// Null if the path cannot be the child of a release node.
Path* make_child(const ReleaseLevel* level, const Path* grouping) {
  // States that wait for other groups outlive the memory of their groups.
  const bool directly = IsA(grouping, AggPath) || IsA(grouping, GroupingSetsPath);
  const StatePassing passing =
      directly && !level->waits_for_groups ? StatePassing::kPointer : StatePassing::kValue;
  return with_states(level->grouping, level->columns.target, grouping, passing);
}

Path* make_release_path(const ReleaseLevel* level, Path* child, int grouping_sets) {
  auto* release = static_cast<ReleasePath*>(palloc0(sizeof(ReleasePath)));
  release->level = level;
  release->grouping_sets = grouping_sets;
  release->path.custom_paths = list_make1(child);
  release->path.methods = &kPathMethods;
  Path* path = &release->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = level->grouping.groups;
  path->pathtarget =
      level->columns.begin_with_target ? level->grouping.groups->reltarget : level->columns.target;
  path->pathkeys = promised_order(level->grouping.root);
  set_costs(path, level->plan.has_keys);
  return path;
}

// Only above the node the planner tells equal keys apart, so the node does not project.
Path* with_target(const ReleaseLevel* level, Path* release) {
  if (level->columns.begin_with_target) return release;
  const GroupingLevel& grouping = level->grouping;
  return as<Path>(
      create_projection_path(grouping.root, grouping.groups, release, grouping.groups->reltarget));
}

// Removes all paths to the groups: also those of parallel workers, and those that a foreign server
// would make from answers of its own.
void clear_paths(RelOptInfo* groups) {
  groups->pathlist = NIL;
  groups->partial_pathlist = NIL;
  groups->consider_parallel = false;
  groups->fdwroutine = nullptr;
  groups->fdw_private = nullptr;
}

bool may_hash_groups(const ReleaseLevel* level) {
  const PlannerInfo* root = level->grouping.root;
  return level->limit.condition != nullptr && enable_hashagg && root->numOrderedAggs == 0 &&
         DPQ_GROUP_CLAUSE(root) != NIL && grouping_is_hashable(DPQ_GROUP_CLAUSE(root));
}

AggStrategy local_strategy(const ReleaseLevel* level) {
  if (may_hash_groups(level)) return AGG_HASHED;
  return level->plan.has_keys ? AGG_SORTED : AGG_PLAIN;
}

// A path that groups these rows here.
Path* make_grouping(const ReleaseLevel* level, Path* rows, AggStrategy strategy, double groups) {
  PlannerInfo* root = level->grouping.root;
  AggClauseCosts costs{};
  get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
  RelOptInfo* grouped = level->grouping.groups;
  return as<Path>(create_agg_path(root, grouped, rows, grouped->reltarget, strategy,
                                  AGGSPLIT_SIMPLE, DPQ_GROUP_CLAUSE(root), level->grouping.having,
                                  &costs, groups));
}

// The same, hashed or sorted as their keys allow.
Path* make_local_grouping(const ReleaseLevel* level, Path* rows, double groups) {
  PlannerInfo* root = level->grouping.root;
  const AggStrategy strategy = local_strategy(level);
  if (strategy == AGG_SORTED && !pathkeys_contained_in(root->group_pathkeys, rows->pathkeys)) {
    rows = as<Path>(create_sort_path(root, level->grouping.input, rows, root->group_pathkeys, -1));
  }
  return make_grouping(level, rows, strategy, groups);
}

void add_release_above(const ReleaseLevel* level, Path* child, int grouping_sets) {
  Path* release = make_release_path(level, child, grouping_sets);
  add_path(level->grouping.groups, with_target(level, release));
}

void add_release(const ReleaseLevel* level, const Path* grouping) {
  Path* child = make_child(level, grouping);
  if (child != nullptr) add_release_above(level, child, count_grouping_sets(grouping));
}

bool are_all_private(const PathTarget* columns) {
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    const auto* column = static_cast<const Node*>(lfirst(cell));
    if (IsA(column, Aggref) && private_family(column) == nullptr) return false;
  }
  return true;
}

// The rows below a grouping that keeps all states in a hash table, that sorts the rows, or that
// combines states of parallel workers. Null for others, such as one of rows that an index sorts.
Path* rows_of_grouping(const ReleaseLevel* level, const AggPath* grouping) {
  Path* below = grouping->subpath;
  if (grouping->aggsplit != AGGSPLIT_SIMPLE) return level->grouping.input->cheapest_total_path;
  if (grouping->aggstrategy == AGG_HASHED) return below;
  if (grouping->aggstrategy != AGG_SORTED || !IsA(below, SortPath)) return nullptr;
  return as<SortPath>(below)->subpath;
}

bool has_protected_rows(const ReleaseLevel* level) {
  return level->plan.tables != NIL;
}

// Whether there may be many groups: as PostgreSQL expects; of protected rows, unless lists of keys
// in the query, which is public, name few.
bool may_have_many_groups(const ReleaseLevel* level, double expected) {
  constexpr double kManyGroups = 2000;
  if (!has_protected_rows(level)) return expected >= kManyGroups;
  return level->listed_groups == 0 || level->listed_groups >= kManyGroups;
}

bool are_narrow(const Path* rows) {
  constexpr int kWideRow = 200;  // bytes
  return rows->pathtarget->width <= kWideRow;
}

// Whether it takes less time to spread the rows over parts first, of which each has few groups,
// than to keep a state for each group while the rows come. Beside few groups, whose states are in
// the processor's caches, it does not, nor for wide rows. Of protected rows the time is not asked:
// those of many groups are always spread, so that the states of all are never in memory.
bool is_worth_spreading(const ReleaseLevel* level, double expected, const Path* rows) {
  return may_have_many_groups(level, expected) && (has_protected_rows(level) || are_narrow(rows));
}

// How large the states of so many groups are together. By the number of protected rows nothing is
// decided.
double expected_bytes(const ReleaseLevel* level, double groups, const Path* rows) {
  if (has_protected_rows(level)) return 0;
  return bytes_of_states(level->columns.target, rows->rows, groups);
}

// Whether the states would take more memory than the groups may have together.
bool has_large_states(const ReleaseLevel* level, double groups, const Path* rows) {
  return are_narrow(rows) &&
         expected_bytes(level, groups, rows) > static_cast<double>(room_for_groups(false));
}

// Parallel workers save more where many rows are in few states.
bool is_better_than_workers(const ReleaseLevel* level, double groups, const Path* rows) {
  constexpr double kRowsPerState = 400;
  return is_worth_spreading(level, groups, rows) && rows->rows < kRowsPerState * groups;
}

bool may_group_rows(const ReleaseLevel* level) {
  const PlannerInfo* root = level->grouping.root;
  return root->parse->groupingSets == NIL && root->numOrderedAggs == 0 && level->plan.has_keys &&
         grouping_is_hashable(DPQ_GROUP_CLAUSE(root)) && are_all_private(level->columns.target);
}

// The rows that the node GroupedRows is to group in the place of this path, or null.
Path* rows_to_group(const ReleaseLevel* level, const AggPath* grouping, double groups) {
  Path* rows = rows_of_grouping(level, grouping);
  if (rows == nullptr || grouping->aggsplit == AGGSPLIT_SIMPLE) return rows;
  return is_better_than_workers(level, groups, rows) ? rows : nullptr;
}

GroupedRowsPlan plan_of_rows(const ReleaseLevel* level, const Path* rows, double groups) {
  constexpr double kMost = 1e9;
  const double bytes = expected_bytes(level, groups, rows) / groups;
  return {false, !has_protected_rows(level), static_cast<int>(std::min(bytes, kMost))};
}

void add_release_of_rows(const ReleaseLevel* level, Path* rows, double groups) {
  GroupedRowsPlan plan = plan_of_rows(level, rows, groups);
  plan.in_parts = is_worth_spreading(level, groups, rows) || has_large_states(level, groups, rows);
  // As for sorted rows, so that PostgreSQL makes no hash table; the grouping is never executed.
  Path* grouping = make_child(level, make_grouping(level, rows, AGG_SORTED, groups));
  add_release_above(level, make_grouped_rows_path(grouping, plan), 1);
}

// Parallel workers group rows, and their states are combined.
void add_release_of_workers(const ReleaseLevel* level, const Path* grouping, double groups) {
  Path* child = make_child(level, grouping);
  if (child == nullptr) return;
  const RelOptInfo* input = level->grouping.input;
  const auto* rows = input->partial_pathlist == NIL
                         ? input->cheapest_total_path
                         : static_cast<const Path*>(linitial(input->partial_pathlist));
  Path** partial = &as<AggPath>(child)->subpath;
  *partial = with_grouped_partial_rows(*partial, plan_of_rows(level, rows, groups));
  add_release_above(level, child, 1);
}

void add_grouped_release(const ReleaseLevel* level, const Path* path) {
  if (level->limit.condition != nullptr || !may_group_rows(level) || !IsA(path, AggPath)) return;
  const auto* grouping = as<AggPath>(path);
  const double groups = std::max<double>(grouping->numGroups, level->listed_groups);
  Path* rows = rows_to_group(level, grouping, groups);
  if (rows != nullptr) return add_release_of_rows(level, rows, groups);
  if (grouping->aggsplit == AGGSPLIT_FINAL_DESERIAL) add_release_of_workers(level, path, groups);
}

// The cheapest path comes first (add_path). All release paths have the same order and costs.
void add_cheapest_release(const ReleaseLevel* level, const List* groupings) {
  for (const auto* item : each<const Path>(groupings)) {
    if (level->grouping.groups->pathlist != NIL) return;
    add_release(level, item);
  }
}

// Returns whether the states of the level come from elsewhere.
bool add_release_from_source(const ReleaseLevel* level) {
  if (state_source() == nullptr) return false;
  Path* child = state_source()->child_for(level->grouping,
                                          states_of(level->columns.target, StatePassing::kValue));
  if (child == nullptr) return false;
  clear_paths(level->grouping.groups);
  add_release_above(level, child, 1);
  return true;
}

// Adds a release node above the rows that are chosen of each user.
void add_limited_release(const ReleaseLevel* level, double groups) {
  const AggStrategy strategy = local_strategy(level);
  Path* rows = make_limited_rows_path(level->grouping, level->grouping.input->cheapest_total_path,
                                      level->limit, strategy == AGG_SORTED);
  const bool is_hashed = strategy == AGG_HASHED;
  if (is_hashed && may_group_rows(level)) return add_release_of_rows(level, rows, groups);
  add_release(level, make_local_grouping(level, rows, groups));
}

// A path that groups the rows here is made for a query whose paths are all of a foreign server (no
// foreign server takes GROUPING SETS over), and above the node that limits the rows of each user,
// which must see all rows. A release node is never a part of a parallel plan, but its child may be
// one.
void release_groups(PlannerInfo* root, RelOptInfo* input, RelOptInfo* groups) {
  const ReleaseLevel* level = describe_level(root, input, groups);
  if (add_release_from_source(level)) return;
  generate_useful_gather_paths(root, groups, false);
  List* groupings = groups->pathlist;
  clear_paths(groups);
  if (groupings != NIL) add_grouped_release(level, static_cast<Path*>(linitial(groupings)));
  if (level->limit.condition == nullptr) add_cheapest_release(level, groupings);
  if (groups->pathlist == NIL && groupings != NIL && root->parse->groupingSets == NIL) {
    const double expected = static_cast<Path*>(linitial(groupings))->rows;
    level->limit.condition == nullptr
        ? add_release(level, make_local_grouping(level, input->cheapest_total_path, expected))
        : add_limited_release(level, expected);
  }
  if (groups->pathlist == NIL) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the private aggregates of the query cannot be planned"),
                    errhint("Another extension may have replaced PostgreSQL's own plans.")));
  }
}

// A level over protected rows of which the planner has left no private aggregate would read them
// without a charge. The validator refuses what it sees of that.
void require_no_charge(const PlannerInfo* root) {
  if (mark_of_level(root->parse).tables == NIL) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the query has no private aggregate when it is planned"),
                  errhint("Show an answer that depends on the rows.")));
}

void wrap_grouping_paths(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input,
                         RelOptInfo* output, void* extra) {
  if (previous_hook != nullptr) previous_hook(root, stage, input, output, extra);
  // The groups of a partition are planned as a part of all groups.
  if (stage != UPPERREL_GROUP_AGG || IS_OTHER_REL(output)) return;
  if (!has_private_calls(root)) {
    require_no_charge(root);
    return;
  }
  require_matching_sql();
  release_groups(root, input, output);
}

}  // namespace

void install_release_paths() {
  previous_hook = create_upper_paths_hook;
  create_upper_paths_hook = wrap_grouping_paths;
}

}  // namespace dpquantile
