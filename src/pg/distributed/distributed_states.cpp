#include "pg/distributed/distributed_states.hpp"

#include "pg/distributed/chosen_transaction.hpp"
#include "pg/distributed/citus_settings.hpp"
#include "pg/distributed/function_rights.hpp"
#include "pg/distributed/lost_connections.hpp"
#include "pg/distributed/reading_settings.hpp"
#include "pg/distributed/sent_settings.hpp"
#include "pg/distributed/state_readers.hpp"
#include "pg/release/release_execution.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/nodes.hpp"
#include "pg/state/records_io.hpp"

extern "C" {
#include "access/relation.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

struct StatesNode {
  CustomScanState scan;
  StatesPlan plan;
  QueryDesc* query;       // started and not run yet, or null
  Tuplestorestate* rows;  // what it gave, or null
  TupleTableSlot* row;
  List* relations;  // Relation
  bool has_keys;
  Oid user;      // whose rights were checked
  int64 groups;  // that were given
};

const CustomScan* plan_of(const StatesNode* node) {
  return as<CustomScan>(node->scan.ss.ps.plan);
}

StatesNode* states_node(CustomScanState* scan) {
  return reinterpret_cast<StatesNode*>(scan);
}

// What was checked about the query's relations must still hold when it runs. The session itself
// holds locks that do not keep it from changing them, for example in a function that the query
// calls; relations that are open do.
void open_relations(StatesNode* node) {
  for (const Oid relation : each_oid(node->plan.relations)) {
    node->relations = lappend(node->relations, relation_open(relation, NoLock));
  }
}

void close_relations(StatesNode* node) {
  for (auto* relation : each<RelationData>(node->relations)) relation_close(relation, NoLock);
  node->relations = NIL;
}

void forget_rows(StatesNode* node) {
  if (node->row != nullptr) ExecDropSingleTupleTableSlot(node->row);
  if (node->rows != nullptr) tuplestore_end(node->rows);
  node->row = nullptr;
  node->rows = nullptr;
  node->groups = 0;
}

void end_query(StatesNode* node) {
  if (node->query == nullptr) return;
  QueryDesc* query = node->query;
  node->query = nullptr;
  ExecutorFinish(query);
  ExecutorEnd(query);
  FreeQueryDesc(query);
}

void require_known_settings(Charged charged) {
  require_settings_of_server(charged);
  require_no_sent_settings();
  require_no_chosen_transaction(true);
}

// Citus goes on without a server, but may have some of its rows.
void require_no_lost_connection(bool has_lost) {
  if (!has_lost) return;
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("the connection to a server was lost while it sent states"),
                  errdetail("Some rows could be counted twice. The query keeps its charge."),
                  errhint("Ask again.")));
}

void read_states(QueryDesc* query) {
  const ConnectionWatch watch = begin_connection_watch();
  volatile bool has_lost = true;
  PG_TRY();
  DPQ_RUN(query, 0);
  PG_FINALLY();
  has_lost = end_connection_watch(watch);
  PG_END_TRY();
  require_no_lost_connection(has_lost);
}

void run(StatesNode* node) {
  QueryDesc* query = node->query;
  if (query == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("the query of the states was not started before the charge")));
  }
  const int settings = begin_reading_settings();
  node->row = MakeSingleTupleTableSlot(CreateTupleDescCopy(query->tupDesc), &TTSOpsMinimalTuple);
  node->rows = tuplestore_begin_heap(false, false, work_mem);
  query->dest = CreateDestReceiver(DestTuplestore);
  SetTuplestoreDestReceiverParams(query->dest, node->rows, CurrentMemoryContext, false, nullptr,
                                  nullptr);
  read_states(query);
  end_query(node);
  require_known_settings(Charged::kYes);
  end_reading_settings(settings);
}

void store(StatesNode* node, TupleTableSlot* group) {
  Assert(list_length(node->plan.columns) == group->tts_tupleDescriptor->natts);
  slot_getallattrs(node->row);
  const ListCell* cell;
  foreach (cell, node->plan.columns) {
    const int to = foreach_current_index(cell);
    const int from = lfirst_int(cell) - 1;
    group->tts_values[to] = node->row->tts_values[from];
    group->tts_isnull[to] = node->row->tts_isnull[from];
  }
  ExecStoreVirtualTuple(group);
}

// Without keys there is one group, whether or not it has rows.
void store_empty_group(TupleTableSlot* group) {
  const Size columns = group->tts_tupleDescriptor->natts;
  memset(group->tts_values, 0, columns * sizeof(Datum));
  memset(group->tts_isnull, true, columns * sizeof(bool));
  ExecStoreVirtualTuple(group);
}

void require_one_group(const StatesNode* node) {
  if (node->has_keys || node->groups <= 1) return;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                  errmsg("the states of a query without GROUP BY came in several parts"),
                  errhint("The guide docs/citus.md names the versions of Citus that are "
                          "supported.")));
}

// Null after the last group.
TupleTableSlot* next_group(CustomScanState* scan) {
  StatesNode* node = states_node(scan);
  TupleTableSlot* group = scan->ss.ss_ScanTupleSlot;
  ExecClearTuple(group);
  if (node->rows == nullptr) run(node);
  const bool found = tuplestore_gettupleslot(node->rows, true, false, node->row);
  if (!found && (node->has_keys || node->groups > 0)) return nullptr;
  ++node->groups;
  require_one_group(node);
  if (found) {
    store(node, group);
  } else {
    store_empty_group(group);
  }
  return group;
}

// The node's conditions are on keys (distributed_query.hpp).
TupleTableSlot* execute(CustomScanState* scan) {
  ExprContext* context = scan->ss.ps.ps_ExprContext;
  while (TupleTableSlot* group = next_group(scan)) {
    CHECK_FOR_INTERRUPTS();
    ResetExprContext(context);
    context->ecxt_scantuple = group;
    if (!ExecQual(scan->ss.ps.qual, context)) continue;
    return scan->ss.ps.ps_ProjInfo == nullptr ? group : ExecProject(scan->ss.ps.ps_ProjInfo);
  }
  return nullptr;
}

void rescan(CustomScanState* scan) {
  StatesNode* node = states_node(scan);
  ExecClearTuple(scan->ss.ss_ScanTupleSlot);
  forget_rows(node);
}

void end(CustomScanState* scan) {
  StatesNode* node = states_node(scan);
  ExecClearTuple(scan->ss.ss_ScanTupleSlot);
  forget_rows(node);
  end_query(node);
  close_relations(node);
}

// ---- The plan ------------------------------------------------------------------------------

Oid type_of(const TargetEntry* column) {
  return exprType(as<Node>(column->expr));
}

// A planner could have put an aggregate with another result in the place of the states'.
void require_columns(const PlannedStmt* plan, const List* columns) {
  bool same = plan->commandType == CMD_SELECT &&
              list_length(plan->planTree->targetlist) == list_length(columns);
  for (int i = 0; same && i < list_length(columns); ++i) {
    same = type_of(static_cast<TargetEntry*>(list_nth(plan->planTree->targetlist, i))) ==
           type_of(static_cast<TargetEntry*>(list_nth(columns, i)));
  }
  if (same) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the plan of the states has other columns than the query"),
                  errdetail("Nothing was charged."),
                  errhint("Look for functions named %s that are not of this extension.",
                          kCombiningAggregate)));
}

// The query was made before, perhaps long ago: the tables must be locked again.
PlannedStmt* plan_states(const EState* state, Query* query) {
  const StateAggregates own = state_aggregates(query);
  const List* columns = static_cast<List*>(copyObjectImpl(query->targetList));
  require_no_function_named_as_combination();
  AcquireRewriteLocks(query, true, false);
  ParamListInfo parameters = copyParamList(state->es_param_list_info);
  PlannedStmt* plan = DPQ_PLAN(planner, query, state->es_sourceText, 0, parameters);
  require_columns(plan, columns);
  require_own_state_readers(plan, own);
  return plan;
}

QueryDesc* start_states(const EState* state, Query* query, int flags) {
  PlannedStmt* plan = plan_states(state, query);
  QueryDesc* started =
      CreateQueryDesc(plan, state->es_sourceText, GetActiveSnapshot(), InvalidSnapshot,
                      None_Receiver, copyParamList(state->es_param_list_info), nullptr, 0);
  ExecutorStart(started, flags);
  // auto_explain may have asked for the rows of each node. Citus gets them from the workers by a
  // query that names the type of the states, which analysts may not do.
  started->instrument_options = 0;
  started->estate->es_instrument = 0;
  return started;
}

bool is_trying = false;

// Ends what it starts, and so it does nothing but report errors.
void try_to_start(const EState* state, const Query* query) {
  const bool was_trying = is_trying;
  is_trying = true;
  PG_TRY();
  {
    QueryDesc* started =
        start_states(state, static_cast<Query*>(copyObjectImpl(query)), EXEC_FLAG_EXPLAIN_ONLY);
    ExecutorEnd(started);
    FreeQueryDesc(started);
  }
  PG_FINALLY();
  is_trying = was_trying;
  PG_END_TRY();
}

// All levels of a statement begin before the first is charged, but they are planned one after the
// other. So a query that cannot be planned must be found here.
void begin(CustomScanState* scan, EState* state, int) {
  StatesNode* node = states_node(scan);
  node->plan = decode_mark<StatesPlan>(plan_of(node)->custom_private);
  open_relations(node);
  node->has_keys = node->plan.states->groupClause != NIL;
  node->user = GetUserId();
  require_function_rights(as<Node>(plan_of(node)->custom_scan_tlist));
  require_function_rights(as<Node>(node->plan.states));
  if (!node->plan.is_alone || is_trying) try_to_start(state, node->plan.states);
}

const CustomExecMethods kExecMethods =
    custom_methods(kDistributedStatesName, begin, execute, end, rescan);

Node* make_states_node(CustomScan*) {
  return make_custom_state<StatesNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kDistributedStatesName, make_states_node};

// Null if the node is of another kind.
StatesNode* find_states_node(PlanState* state) {
  if (!IsA(state, CustomScanState)) return nullptr;
  auto* scan = as<CustomScanState>(state);
  return scan->methods == &kExecMethods ? states_node(scan) : nullptr;
}

// ---- Before the charge ---------------------------------------------------------------------

RecordsState* make_empty_state(const AggregateParameters* parameters) {
  switch (method_of(parameters).records) {
    case RecordKind::kRuns:
      return make_runs(parameters, 0, 0);
    default:
      return make_state(parameters);
  }
}

// PostgreSQL leaves out of a level what the query around it does not use. Such a private aggregate
// has no parameters, and an error of another one would tell about rows.
Query* query_with_parameters(const ReleaseNode* release, const StatesNode* node) {
  auto* query = static_cast<Query*>(copyObjectImpl(node->plan.states));
  for (int i = 0; i < release->call_count; ++i) {
    const ReleaseCall& call = release->calls[i];
    const bytea* empty = bytes_of_state({make_empty_state(call.checked), nullptr});
    set_parameters(query, list_nth_int(node->plan.columns, call.column - 1), empty);
  }
  leave_out_other_aggregates(query, node->plan.columns);
  return query;
}

// A cursor is opened by one user, and may be read by another, whose rights must not count.
void require_same_user(const StatesNode* node) {
  if (GetUserId() == node->user) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("a private query over distributed tables is read by another role than "
                         "the one that opened it"),
                  errdetail("Nothing was charged."),
                  errhint("Read the cursor in the function, or as the role, that opened it.")));
}

}  // namespace

void StatesPlan::each_field(MarkFields* fields) {
  fields->query("states", &states);
  fields->list("columns", T_IntList, &columns);
  fields->list("relations", T_OidList, &relations);
  fields->truth("is_alone", &is_alone);
}

const CustomScanMethods* distributed_states_methods() {
  return &kScanMethods;
}

bool start_distributed_states(ReleaseNode* release) {
  StatesNode* node = find_states_node(release->child);
  if (node == nullptr) return false;
  require_same_user(node);
  require_known_settings(Charged::kNo);
  end_query(node);
  forget_rows(node);
  const int settings = begin_reading_settings();
  node->query = start_states(release->scan.ss.ps.state, query_with_parameters(release, node), 0);
  require_known_settings(Charged::kNo);
  end_reading_settings(settings);
  return true;
}

void install_distributed_states() {
  RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace dpquantile
