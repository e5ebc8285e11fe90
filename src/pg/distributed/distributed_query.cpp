#include "pg/distributed/distributed_query.hpp"

#include "pg/distributed/citus_catalog.hpp"
#include "pg/distributed/distributed_states.hpp"
#include "pg/distributed/states_query.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parse_relation.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- What a query has ----------------------------------------------------------------------

bool is_private(const Level* level) {
  for (const auto* call : each<const Aggref>(level->aggregates)) {
    if (private_family(call) != nullptr) return true;
  }
  return false;
}

int count_private(const Level* level) {
  int count = is_private(level) ? 1 : 0;
  for (const auto* below : each<const Level>(level->below)) count += count_private(below);
  return count;
}

// PostgreSQL's own tables cannot be distributed, nor can what is no table.
bool may_be_distributed(Oid relation) {
  const char kind = get_rel_relkind(relation);
  return relation >= FirstNormalObjectId &&
         (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
          kind == RELKIND_FOREIGN_TABLE);
}

// Whether a relation is a Citus table or a shard.
bool is_elsewhere(Oid relation) {
  return may_be_distributed(relation) && (is_citus_table(relation) || is_shard(relation));
}

bool reads_citus(const Level* level) {
  for (const Oid relation : each_oid(level->relations)) {
    if (is_elsewhere(relation)) return true;
  }
  return false;
}

// The same of a query that is being planned.
bool reads_citus(const Query* query) {
  return any_node(
      query,
      [](const Node* node) {
        if (!IsA(node, RangeTblEntry)) return false;
        const auto* entry = as<RangeTblEntry>(node);
        return entry->rtekind == RTE_RELATION && is_elsewhere(entry->relid);
      },
      kIntoQueries | QTW_EXAMINE_RTES_BEFORE);
}

// ---- Rows of a WITH query around a level ---------------------------------------------------

// `seen` are levels that have no rows of Citus.
bool has_rows_of_citus(const Level* level, List** seen) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (level == nullptr || list_member_ptr(*seen, level)) return false;
  if (reads_citus(level)) return true;
  *seen = lappend(*seen, const_cast<Level*>(level));
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    if (has_rows_of_citus(entry_of(level, i).below, seen)) return true;
  }
  for (const auto* below : each<const Level>(level->below)) {
    if (has_rows_of_citus(below, seen)) return true;
  }
  return false;
}

// Whether a level that was not cut, as it names no Citus table, has private aggregates and rows of
// Citus.
bool has_outer_reader(const Level* level, List** seen) {
  if (level->outer_ctes > 0 && is_private(level) && has_rows_of_citus(level, seen)) return true;
  for (const auto* below : each<const Level>(level->below)) {
    if (has_outer_reader(below, seen)) return true;
  }
  return false;
}

// ---- Rights --------------------------------------------------------------------------------

RangeTblEntry* add_relation(PlannedStmt* plan, const Query* query, RangeTblEntry* entry) {
  RangeTblEntry* added = makeNode(RangeTblEntry);
  added->rtekind = RTE_RELATION;
  added->relid = entry->relid;
  added->relkind = entry->relkind;
  added->rellockmode = entry->rellockmode;
  added->eref = makeAlias("states", NIL);
  DPQ_COPY_PERMISSIONS(plan, added, query, entry);
  plan->rtable = lappend(plan->rtable, added);
  return added;
}

// Workers ask for the rights of the role that asks, also where those of a view's owner would do.
void add_rights_of_caller(PlannedStmt* plan, const Query* query, RangeTblEntry* entry) {
  if (!is_elsewhere(entry->relid)) return;
  RangeTblEntry* added = add_relation(plan, query, entry);
  DPQ_CHECK_AS_CALLER(plan, added);
}

// ---- The cuts ------------------------------------------------------------------------------

struct Cut {
  List* states;   // Level: the queries that were taken out
  bool is_alone;  // as in LevelMark
};

void cut_levels(Cut* cut, Level* level) {
  if (is_private(level) && reads_citus(level)) {
    LevelMark mark{};
    Query* states = take_states_query(level);
    cut->states = lappend(cut->states, read_statement(states, NIL)->top);
    mark.states = states;
    mark.is_alone = cut->is_alone;
    put_mark(&level->query->rtable, mark);
  }
  for (auto* below : each<Level>(level->below)) cut_levels(cut, below);
}

// ---- The path ------------------------------------------------------------------------------

struct StatesPath {
  CustomPath path;
  StatesPlan plan;
  List* conditions;  // on the keys
};

List* columns_of(const PathTarget* target) {
  List* columns = NIL;
  for (const auto* node : each<const Node>(target->exprs)) {
    columns = lappend_int(columns, placeholder_column(node));
  }
  return columns;
}

// PostgreSQL moves conditions on the keys from HAVING, and from outside a derived table, down to
// the placeholder. Without GROUP BY they stay in HAVING too, and there is one group in any case.
List* conditions_on_keys(const GroupingLevel& level) {
  if (level.root->parse->groupClause == NIL) return NIL;
  List* restrictions = level.input->baserestrictinfo;
  return list_concat(extract_actual_clauses(restrictions, true),
                     extract_actual_clauses(restrictions, false));
}

// A condition may read a key that the node's target leaves out, because it is constant.
void add_columns_of_conditions(CustomScan* plan, List* conditions, List** columns) {
  for (auto* column : each<Expr>(pull_var_clause(as<Node>(conditions), 0))) {
    if (tlist_member(column, plan->custom_scan_tlist) != nullptr) continue;
    plan->custom_scan_tlist = add_to_flat_tlist(plan->custom_scan_tlist, list_make1(column));
    *columns = lappend_int(*columns, placeholder_column(as<Node>(column)));
  }
}

Plan* plan_states(PlannerInfo*, RelOptInfo*, CustomPath* custom_path, List* target_list, List*,
                  List*) {
  const auto* path = reinterpret_cast<const StatesPath*>(custom_path);
  CustomScan* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = target_list;
  plan->flags = custom_path->flags;
  plan->custom_scan_tlist =
      static_cast<List*>(copyObjectImpl(make_tlist_from_pathtarget(custom_path->path.pathtarget)));
  StatesPlan told = path->plan;
  auto* states = static_cast<Query*>(copyObjectImpl(told.states));
  told.states = states;
  told.relations = read_statement(states, NIL)->top->relations;
  told.columns = list_copy(told.columns);
  add_columns_of_conditions(plan, path->conditions, &told.columns);
  plan->scan.plan.qual = static_cast<List*>(copyObjectImpl(path->conditions));
  plan->custom_private = encode_mark(told);
  plan->methods = distributed_states_methods();
  return &plan->scan.plan;
}

const CustomPathMethods kPathMethods = {kDistributedStatesName, plan_states, nullptr};

// Costs and rows are constants, as those of the release node.
Path* make_states_path(const GroupingLevel& level, const PathTarget* target,
                       const LevelMark& mark) {
  auto* made = static_cast<StatesPath*>(palloc0(sizeof(StatesPath)));
  made->plan = {mark.states, columns_of(target), NIL, mark.is_alone};
  made->conditions = conditions_on_keys(level);
  made->path.methods = &kPathMethods;
  Path* path = &made->path.path;
  NodeSetTag(path, T_CustomPath);
  path->pathtype = T_CustomScan;
  path->parent = level.groups;
  path->pathtarget = const_cast<PathTarget*>(target);
  path->rows = 1;
  path->startup_cost = 1;
  path->total_cost = 1;
  return path;
}

// Either Citus planned the query before the library was loaded, or PostgreSQL put the query of an
// SQL function in its place.
void refuse_citus(const PlannerInfo* root) {
  for (const PlannerInfo* planner = root; planner != nullptr; planner = planner->parent_root) {
    if (!reads_citus(planner->parse)) continue;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the query over distributed tables was planned without a release node for its "
                    "private answers"),
             errdetail("Nothing was charged."),
             errhint("Run the query again, or preload the library: shared_preload_libraries = "
                     "'citus, dpquantile'. If the error stays, write the query itself, without "
                     "a function around it.")));
  }
}

// Citus could have sent such a query, as the part of another that this library has not seen.
void refuse_shards(const Level* level) {
  for (const Oid relation : each_oid(level->relations)) {
    if (!may_be_distributed(relation) || !is_shard(relation)) continue;
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("private answers about a single shard are not supported"),
                    errdetail("Nothing was charged."), errhint("Query the distributed table.")));
  }
}

}  // namespace

bool has_private_aggregates(Query* query) {
  return any_node(
      query, [](const Node* node) { return private_family(node) != nullptr; }, kIntoQueries);
}

List* cut_query(Query* query) {
  Level* top = read_statement(query, NIL)->top;
  refuse_shards(top);
  Cut cut = {NIL, count_private(top) == 1};
  cut_levels(&cut, top);
  read_again(top);
  if (!reads_citus(top)) return cut.states;
  List* seen = NIL;
  if (has_outer_reader(top, &seen)) refuse_outer_query();
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("private answers cannot be in one query with other rows of distributed tables"),
           errdetail("Nothing was charged."),
           errhint("Keep the private answers first: CREATE TEMP TABLE answers AS SELECT ....")));
}

Path* states_path_for(const GroupingLevel& level, const PathTarget* states) {
  if (!database_has_citus()) return nullptr;
  const LevelMark mark = mark_of_level(level.root->parse);
  if (mark.states != nullptr) return make_states_path(level, states, mark);
  refuse_citus(level.root);
  return nullptr;
}

void add_relations(PlannedStmt* plan, const Level* level) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    RangeTblEntry* entry = entry_of(level, i).table;
    const bool has_relation = entry->rtekind == RTE_RELATION ||
                              (entry->rtekind == RTE_SUBQUERY && OidIsValid(entry->relid));
    if (!has_relation) continue;
    (void)add_relation(plan, level->query, entry);
    add_rights_of_caller(plan, level->query, entry);
  }
  for (const auto* below : each<const Level>(level->below)) add_relations(plan, below);
}

}  // namespace dpquantile
