#include "pg/distributed/citus_settings.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pg/distributed/citus_catalog.hpp"
#include "pg/distributed/states_query.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr std::string_view kPrefix = "citus.";

// They choose how Citus runs a query and what it logs about its plan. test/distributed/charges.pl
// asks queries under most of them.
constexpr std::string_view kHarmless[] = {
    "citus.coordinator_aggregation_strategy",
    "citus.enable_binary_protocol",
    "citus.enable_ddl_propagation",
    "citus.enable_fast_path_router_planner",
    "citus.enable_local_execution",
    "citus.enable_repartition_joins",
    "citus.enable_router_execution",
    "citus.executor_slow_start_interval",
    "citus.explain_all_tasks",
    "citus.force_max_query_parallelization",
    "citus.local_table_join_policy",
    "citus.log_remote_commands",
    "citus.max_adaptive_executor_pool_size",
    "citus.multi_shard_modify_mode",
    "citus.multi_task_query_log_level",
    "citus.shard_count",
    "citus.shard_replication_factor",
    "citus.task_assignment_policy",
};

// PGC_S_DATABASE and what comes before it is set by those who run the server or own the database.
bool is_of_server(const config_generic* setting) {
  return setting->context != PGC_USERSET || setting->source <= PGC_S_DATABASE;
}

bool is_allowed(const config_generic* setting) {
  const std::string_view name = setting->name;
  return name.substr(0, kPrefix.size()) != kPrefix || is_of_server(setting) ||
         std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless);
}

// For query_tree_walker() and expression_tree_walker(). Another function of the name counts too.
bool collects_states(Node* node, void*) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    return query_tree_walker(reinterpret_cast<Query*>(node), DPQ_TREE_WALKER(collects_states),
                             nullptr, 0);
  }
  Oid function = InvalidOid;
  if (IsA(node, Aggref)) function = reinterpret_cast<Aggref*>(node)->aggfnoid;
  if (IsA(node, FuncExpr)) function = reinterpret_cast<FuncExpr*>(node)->funcid;
  if (function >= FirstNormalObjectId) {
    const char* name = get_func_name(function);
    if (name != nullptr && strcmp(name, kCollectingAggregate) == 0) return true;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(collects_states), nullptr);
}

// ALTER ROLE ... SET is of the role whose session it is, so it is as good as the server's here.
bool has_own_search_path() {
  int count;
  config_generic** settings = DPQ_SETTINGS(&count);
  for (int i = 0; i < count; ++i) {
    if (std::string_view(settings[i]->name) == "search_path") {
      return settings[i]->source > PGC_S_DATABASE_USER;
    }
  }
  return true;
}

}  // namespace

void require_settings_of_server() {
  int count;
  config_generic** settings = DPQ_SETTINGS(&count);
  for (int i = 0; i < count; ++i) {
    if (is_allowed(settings[i])) continue;
    const char* name = settings[i]->name;
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("private answers over distributed tables need the server's value of %s", name),
             errdetail("The role, the client or this session has set it. Nothing was charged."),
             errhint("RESET %s, or ALTER ROLE ... RESET %s. The guide docs/citus.md lists the "
                     "settings that may differ.",
                     name, name)));
  }
}

void require_search_path_of_server(Query* query) {
  if (!has_own_search_path() || !collects_states(reinterpret_cast<Node*>(query), nullptr)) return;
  if (!database_has_citus() || is_coordinator()) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("states are collected on a worker only with the server's search_path"),
                  errdetail("This session has set another one."),
                  errhint("Leave citus.propagate_set_commands at none, and start the transaction "
                          "again.")));
}

}  // namespace dpquantile
