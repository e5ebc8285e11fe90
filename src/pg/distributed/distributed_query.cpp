#include "pg/distributed/distributed_query.hpp"

#include "pg/distributed/citus_catalog.hpp"
#include "pg/distributed/distributed_states.hpp"
#include "pg/distributed/states_query.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/server/level_mark.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parse_relation.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- What a query has ----------------------------------------------------------------------

// For query_tree_walker() and expression_tree_walker().
bool find_private(Node* node, void*) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(find_private), nullptr, 0);
  }
  if (private_family(node) != nullptr) return true;
  return expression_tree_walker(node, DPQ_TREE_WALKER(find_private), nullptr);
}

// The same. Private aggregates of the level `*context` levels above.
bool find_private_of_level(Node* node, void* context) {
  if (node == nullptr) return false;
  const Index depth = *static_cast<const Index*>(context);
  if (IsA(node, Query)) {
    Index below = depth + 1;
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(find_private_of_level), &below, 0);
  }
  if (private_family(node) != nullptr && as<Aggref>(node)->agglevelsup == depth) {
    return true;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(find_private_of_level), context);
}

bool is_private_level(const Query* query) {
  Index depth = 0;
  return query->hasAggs && (find_private_of_level(as<Node>(query->targetList), &depth) ||
                            find_private_of_level(query->havingQual, &depth));
}

// For query_tree_walker() and expression_tree_walker(). `levels` is an int*.
bool count_levels(Node* node, void* levels) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return expression_tree_walker(node, DPQ_TREE_WALKER(count_levels), levels);
  auto* query = as<Query>(node);
  if (is_private_level(query)) ++*static_cast<int*>(levels);
  return query_tree_walker(query, DPQ_TREE_WALKER(count_levels), levels, 0);
}

// PostgreSQL's own tables cannot be distributed, nor can what is no table.
bool may_be_distributed(Oid relation) {
  const char kind = get_rel_relkind(relation);
  return relation >= FirstNormalObjectId &&
         (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
          kind == RELKIND_FOREIGN_TABLE);
}

// For query_tree_walker() and expression_tree_walker(). `context` is a function from an OID to a
// truth value.
bool find_relation(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) {
    const auto* entry = as<RangeTblEntry>(node);
    return entry->rtekind == RTE_RELATION && may_be_distributed(entry->relid) &&
           (*static_cast<bool (**)(Oid)>(context))(entry->relid);
  }
  if (IsA(node, Query)) {
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(find_relation), context,
                             QTW_EXAMINE_RTES_BEFORE);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(find_relation), context);
}

bool reads_any(Query* query, bool (*is_kind)(Oid)) {
  return find_relation(as<Node>(query), static_cast<void*>(&is_kind));
}

bool is_elsewhere(Oid relation) {
  return is_citus_table(relation) || is_shard(relation);
}

// ---- Rows of a WITH query around a level ---------------------------------------------------

struct Enclosing {
  const Query* query;
  const Enclosing* around;
};

struct OuterReader {
  const Enclosing* around;  // of the level
  Index depth;              // of a query below the level
};

bool reads_outer_citus(Node* node, void* context);

bool with_reads_citus(const Enclosing* enclosing, const char* name) {
  for (const auto* with : each<const CommonTableExpr>(enclosing->query->cteList)) {
    if (strcmp(with->ctename, name) != 0) continue;
    auto* query = as<Query>(with->ctequery);
    OuterReader reader = {enclosing, 0};
    return reads_any(query, is_elsewhere) ||
           (!with->cterecursive && query_tree_walker(query, DPQ_TREE_WALKER(reads_outer_citus),
                                                     &reader, QTW_EXAMINE_RTES_BEFORE));
  }
  return false;
}

// For query_tree_walker() and expression_tree_walker(). `context` is an OuterReader*.
bool reads_outer_citus(Node* node, void* context) {
  if (node == nullptr) return false;
  const auto* reader = static_cast<const OuterReader*>(context);
  if (IsA(node, Query)) {
    OuterReader below = {reader->around, reader->depth + 1};
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(reads_outer_citus), &below,
                             QTW_EXAMINE_RTES_BEFORE);
  }
  if (!IsA(node, RangeTblEntry)) {
    return expression_tree_walker(node, DPQ_TREE_WALKER(reads_outer_citus), context);
  }
  const auto* entry = as<RangeTblEntry>(node);
  if (entry->rtekind != RTE_CTE || entry->ctelevelsup <= reader->depth) return false;
  const Enclosing* enclosing = reader->around;
  for (Index level = reader->depth + 1; enclosing != nullptr && level < entry->ctelevelsup; ++level)
    enclosing = enclosing->around;
  return enclosing != nullptr && with_reads_citus(enclosing, entry->ctename);
}

// For query_tree_walker() and expression_tree_walker(). `around` is an Enclosing*. Whether a
// private level has rows of Citus from a WITH query around it.
bool find_outer_reader(Node* node, void* around) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) {
    return expression_tree_walker(node, DPQ_TREE_WALKER(find_outer_reader), around);
  }
  auto* query = as<Query>(node);
  OuterReader reader = {static_cast<const Enclosing*>(around), 0};
  if (is_private_level(query) && query_tree_walker(query, DPQ_TREE_WALKER(reads_outer_citus),
                                                   &reader, QTW_EXAMINE_RTES_BEFORE)) {
    return true;
  }
  Enclosing here = {query, static_cast<const Enclosing*>(around)};
  return query_tree_walker(query, DPQ_TREE_WALKER(find_outer_reader), &here, 0);
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
  if (!may_be_distributed(entry->relid) || !is_elsewhere(entry->relid)) return;
  RangeTblEntry* added = add_relation(plan, query, entry);
  DPQ_CHECK_AS_CALLER(plan, added);
}

// For query_tree_walker(). `context` is a PlannedStmt*. From PostgreSQL 16 on a view that is
// replaced by its query keeps its OID and its rights.
bool add_relations_below(Node* node, void* context) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) {
    return expression_tree_walker(node, DPQ_TREE_WALKER(add_relations_below), context);
  }
  auto* query = as<Query>(node);
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    const bool has_relation = entry->rtekind == RTE_RELATION ||
                              (entry->rtekind == RTE_SUBQUERY && OidIsValid(entry->relid));
    if (!has_relation) continue;
    auto* plan = static_cast<PlannedStmt*>(context);
    (void)add_relation(plan, query, entry);
    add_rights_of_caller(plan, query, entry);
  }
  return query_tree_walker(query, DPQ_TREE_WALKER(add_relations_below), context, 0);
}

// ---- The cuts ------------------------------------------------------------------------------

struct Cut {
  List* states;   // the queries that were taken out
  bool is_alone;  // as in LevelMark
};

// For query_tree_walker() and expression_tree_walker(). `context` is a Cut*.
bool cut_levels(Node* node, void* context) {
  if (node == nullptr) return false;
  if (!IsA(node, Query)) return expression_tree_walker(node, DPQ_TREE_WALKER(cut_levels), context);
  auto* query = as<Query>(node);
  if (is_private_level(query) && reads_citus(query)) {
    auto* cut = static_cast<Cut*>(context);
    Query* states = take_states_query(query);
    cut->states = lappend(cut->states, states);
    LevelMark mark{};
    mark.states = states;
    mark.is_alone = cut->is_alone;
    put_mark(&query->rtable, mark);
  }
  return query_tree_walker(query, DPQ_TREE_WALKER(cut_levels), context, 0);
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
  told.states = static_cast<Query*>(copyObjectImpl(told.states));
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
  made->plan = {mark.states, columns_of(target), mark.is_alone};
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
void refuse_shards(Query* query) {
  if (!reads_any(query, is_shard)) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("private answers about a single shard are not supported"),
                  errdetail("Nothing was charged."), errhint("Query the distributed table.")));
}

}  // namespace

bool has_private_aggregates(Query* query) {
  return find_private(as<Node>(query), nullptr);
}

bool reads_citus(Query* query) {
  return reads_any(query, is_elsewhere);
}

List* cut_query(Query* query) {
  refuse_shards(query);
  int levels = 0;
  (void)count_levels(as<Node>(query), &levels);
  Cut cut = {NIL, levels == 1};
  (void)cut_levels(as<Node>(query), &cut);
  if (!reads_citus(query)) return cut.states;
  if (find_outer_reader(as<Node>(query), nullptr)) refuse_outer_query();
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

void add_relations(PlannedStmt* plan, Query* query) {
  (void)add_relations_below(as<Node>(query), plan);
}

}  // namespace dpquantile
