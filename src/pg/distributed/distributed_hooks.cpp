#include "pg/distributed/distributed_hooks.hpp"

#include <climits>

#include "pg/distributed/chosen_transaction.hpp"
#include "pg/distributed/citus_catalog.hpp"
#include "pg/distributed/citus_settings.hpp"
#include "pg/distributed/distributed_query.hpp"
#include "pg/distributed/distributed_states.hpp"
#include "pg/distributed/expected_rows.hpp"
#include "pg/distributed/lost_connections.hpp"
#include "pg/distributed/sent_settings.hpp"
#include "pg/distributed/states_query.hpp"
#include "pg/grants/borrowed_relations.hpp"
#include "pg/release/state_source.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

planner_hook_type previous_planner = nullptr;

// While states are read, work_mem is no limit. Citus has its parts of a query planned here, too.
PlannedStmt* plan_as_before(DPQ_PLANNER_PARAMETERS) {
  PlannedStmt* plan =
      (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
  if (work_mem == MAX_KILOBYTES) limit_expected_rows(plan);
  return plan;
}

void refuse_protected(Query* query) {
  const List* borrowed = borrowed_oids(query);
  if (borrowed == NIL || !database_has_citus()) return;
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("private access to %s is not supported in a database with Citus",
                  get_rel_name(linitial_oid(borrowed))),
           errdetail("The rules for protected tables hold on one server, and Citus has functions "
                     "that measure any query. Nothing was charged."),
           errhint("The owner can write a function with SECURITY DEFINER that asks the private "
                   "query, or protect the table in a database without Citus.")));
}

// The plan is made anew when a table of the states' query changes, and so are the locks of a kept
// plan.
void depend_on(PlannedStmt* plan, const List* levels) {
  for (const auto* level : each<const Level>(levels)) {
    List* relations;
    List* items;
    bool has_row_security;
    extract_query_dependencies(as<Node>(level->query), &relations, &items, &has_row_security);
    plan->relationOids = list_concat(plan->relationOids, relations);
    plan->invalItems = list_concat(plan->invalItems, items);
    add_relations(plan, level);
  }
  plan->dependsOnRole = true;
}

PlannedStmt* plan_cut(DPQ_PLANNER_PARAMETERS) {
  const List* states = cut_query(query);
  if (states != NIL) require_settings_of_server(Charged::kNo);
  PlannedStmt* plan = plan_as_before(DPQ_PLANNER_ARGUMENTS);
  require_no_placeholder(plan);
  if (states != NIL) depend_on(plan, states);
  return plan;
}

PlannedStmt* plan_distributed(DPQ_PLANNER_PARAMETERS) {
  refuse_protected(query);
  if (!has_private_aggregates(query) || !database_has_citus()) {
    return plan_as_before(DPQ_PLANNER_ARGUMENTS);
  }
  return plan_cut(DPQ_PLANNER_ARGUMENTS);
}

// ---- The execution -------------------------------------------------------------------------

void refuse_other_servers() {
  if (!database_has_citus()) return;
  if (is_coordinator() && !is_session_of_citus()) return;
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("private answers are released on the coordinator of Citus only"),
           errdetail("This server is a worker, or Citus opened this session. Nothing was charged."),
           errhint("Connect to the coordinator. If this session is there, plan the query again: "
                   "preload the library, so that it sees the query before Citus.")));
}

// The rows of a query of the coordinator's own tables may come from the workers as well: by a
// function in FROM, or by a temporary table.
void require_usual_session() {
  if (!database_has_citus()) return;
  require_settings_of_server(Charged::kNo);
  require_no_chosen_transaction(false);
}

bool prepare_states(ReleaseNode* node) {
  refuse_other_servers();
  require_usual_session();
  return start_distributed_states(node);
}

const StateSource kSource = {states_path_for, prepare_states};

}  // namespace

void install_distributed_hooks() {
  if (!server_has_citus()) return;
  install_distributed_states();
  watch_sent_settings();
  watch_chosen_transactions();
  watch_lost_connections();
  install_state_source(&kSource);
  previous_planner = planner_hook;
  planner_hook = plan_distributed;
}

}  // namespace dpquantile
