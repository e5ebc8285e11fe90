#include "pg/distributed/citus_settings.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/guc.h"
#include "utils/guc_tables.h"
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

// A setting of Citus that any user may set.
bool may_change_answers(const config_generic* setting) {
  const std::string_view name = setting->name;
  return name.substr(0, kPrefix.size()) == kPrefix && setting->context == PGC_USERSET &&
         std::find(std::begin(kHarmless), std::end(kHarmless), name) == std::end(kHarmless);
}

// PGC_S_DATABASE and what comes before it is set by those who run the server or own the database.
bool is_of_server(const config_generic* setting) {
  return setting->source <= PGC_S_DATABASE;
}

// Some value was set in this transaction, and perhaps the server's again since. A function with a
// clause SET leaves no trace, but its value ends with it.
bool was_set_in_transaction(const config_generic* setting) {
  return setting->stack != nullptr;
}

// It counts a row once for each shard in some joins, whoever has set it.
bool multiplies_rows() {
  const char* value = GetConfigOption("citus.subquery_pushdown", true, false);
  return value != nullptr && strcmp(value, "on") == 0;
}

[[noreturn]] void refuse_value(const char* name, Charged charged) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("private answers in a database with Citus need the server's value of %s", name),
       errdetail("The role, the client or this transaction has set it. %s",
                 charged == Charged::kYes ? "The query keeps its charge." : "Nothing was charged."),
       errhint("RESET %s, or ALTER ROLE ... RESET %s, and begin another transaction. The "
               "guide docs/citus.md lists the settings that may differ.",
               name, name)));
}

}  // namespace

void require_settings_of_server(Charged charged) {
  int count;
  config_generic** settings = DPQ_SETTINGS(&count);
  for (int i = 0; i < count; ++i) {
    if (!may_change_answers(settings[i])) continue;
    if (!is_of_server(settings[i]) || was_set_in_transaction(settings[i])) {
      refuse_value(settings[i]->name, charged);
    }
  }
  if (multiplies_rows()) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("private answers in a database with Citus need citus.subquery_pushdown to "
                    "be off"),
             errdetail("It has some joins count a row once for each shard."),
             errhint("Set it to off for the server and the database.")));
  }
}

}  // namespace dpquantile
