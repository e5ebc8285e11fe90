#include "pg/staged/staged_node.hpp"

#include "pg/server/custom_node.hpp"
#include "pg/server/mark.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

constexpr char kName[] = "StagedQuery";

// A staged query in its plan.
struct StagedPlan {
  List* queries;  // Query, of the stages
  List* places;   // StagePlace
  List* parameters;
  List* types;
  const Query* rest;
  int own_parameters;

  static constexpr MarkKind kKind = {"dpquantile staged query", 1};
  void each_field(MarkFields* fields) {
    fields->list("queries", T_List, &queries);
    fields->list("places", T_IntList, &places, list_length(queries));
    fields->list("parameters", T_IntList, &parameters, list_length(queries));
    fields->list("types", T_OidList, &types, list_length(queries));
    fields->query("rest", &rest);
    fields->integer("own_parameters", &own_parameters);
  }
};

// What a part of the query has given.
struct PartRows {
  Tuplestorestate* rows;
  TupleDesc columns;
};

struct StagedNode {
  CustomScanState scan;
  StagedQuery query;
  Oid user;          // who opened it
  PartRows answers;  // of the rest; null before it has run
  TupleTableSlot* row;
};

StagedNode* staged_node(CustomScanState* scan) {
  return reinterpret_cast<StagedNode*>(scan);
}

StagedQuery query_of(const CustomScan* plan) {
  const auto mark = decode_mark<StagedPlan>(plan->custom_private);
  StagedQuery query = {NIL, const_cast<Query*>(mark.rest), mark.own_parameters};
  for (int i = 0; i < list_length(mark.queries); ++i) {
    auto* stage = static_cast<Stage*>(palloc0(sizeof(Stage)));
    stage->query = static_cast<Query*>(list_nth(mark.queries, i));
    stage->place = static_cast<StagePlace>(list_nth_int(mark.places, i));
    stage->parameter = list_nth_int(mark.parameters, i);
    stage->type = list_nth_oid(mark.types, i);
    query.stages = lappend(query.stages, stage);
  }
  return query;
}

// ---- One part ------------------------------------------------------------------------------

// The query may have been made long ago: its tables must be locked again.
PlannedStmt* plan_part(Query* query, const char* text, int options, ParamListInfo parameters) {
  AcquireRewriteLocks(query, true, false);
  return DPQ_PLAN(planner, query, text, options & ~CURSOR_OPT_SCROLL, parameters);
}

PartRows run(const EState* state, Query* query, ParamListInfo planned, ParamListInfo executed) {
  PlannedStmt* plan = plan_part(query, state->es_sourceText, CURSOR_OPT_PARALLEL_OK, planned);
  QueryDesc* started = CreateQueryDesc(plan, state->es_sourceText, GetActiveSnapshot(),
                                       InvalidSnapshot, None_Receiver, executed, nullptr, 0);
  ExecutorStart(started, 0);
  const PartRows part = {tuplestore_begin_heap(true, false, work_mem),
                         CreateTupleDescCopy(started->tupDesc)};
  started->dest = CreateDestReceiver(DestTuplestore);
  SetTuplestoreDestReceiverParams(started->dest, part.rows, CurrentMemoryContext, false, nullptr,
                                  nullptr);
  DPQ_RUN_ALL(started);
  ExecutorFinish(started);
  ExecutorEnd(started);
  FreeQueryDesc(started);
  return part;
}

Const* constant_of(const TupleTableSlot* row, int column) {
  const FormData_pg_attribute* attribute = TupleDescAttr(row->tts_tupleDescriptor, column);
  const bool is_null = row->tts_isnull[column];
  const Datum value =
      is_null ? 0 : datumCopy(row->tts_values[column], attribute->attbyval, attribute->attlen);
  return makeConst(attribute->atttypid, attribute->atttypmod, attribute->attcollation,
                   attribute->attlen, value, is_null, attribute->attbyval);
}

[[noreturn]] void refuse_many_rows() {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a subquery of private answers beside protected rows gives more than %d "
                         "rows",
                         kMostStageRows),
                  errdetail("The subquery is charged."),
                  errhint("Add ORDER BY and LIMIT to the subquery.")));
}

// List of List of Const
List* constants_of(const PartRows& part) {
  List* rows = NIL;
  TupleTableSlot* row = MakeSingleTupleTableSlot(part.columns, &TTSOpsMinimalTuple);
  while (tuplestore_gettupleslot(part.rows, true, false, row)) {
    if (list_length(rows) == kMostStageRows) refuse_many_rows();
    slot_getallattrs(row);
    List* constants = NIL;
    for (int i = 0; i < part.columns->natts; ++i)
      constants = lappend(constants, constant_of(row, i));
    rows = lappend(rows, constants);
  }
  ExecDropSingleTupleTableSlot(row);
  tuplestore_end(part.rows);
  return rows;
}

// ---- The values of parameters --------------------------------------------------------------

void put_value(const List* row, ParamExternData* value) {
  const auto* constant = static_cast<Const*>(linitial(row));
  value->value = constant->constvalue;
  value->isnull = constant->constisnull;
}

void put_array(const List* rows, ParamExternData* value) {
  const auto count = static_cast<Size>(list_length(rows));
  auto* values = static_cast<Datum*>(palloc0((count + 1) * sizeof(Datum)));
  auto* nulls = static_cast<bool*>(palloc0((count + 1) * sizeof(bool)));
  int elements = 0;
  for (const auto* row : each<const List>(rows)) {
    const auto* constant = static_cast<Const*>(linitial(row));
    values[elements] = constant->constvalue;
    nulls[elements++] = constant->constisnull;
  }
  const Oid element = get_element_type(value->ptype);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(element, &length, &by_value, &alignment);
  int first[] = {1};
  value->value = PointerGetDatum(construct_md_array(values, nulls, elements == 0 ? 0 : 1, &elements,
                                                    first, element, length, by_value, alignment));
  value->isnull = false;
}

// Those of the statement, and those of the stages behind them.
ParamListInfo parameters_of_rest(const EState* state, const StagedQuery& query, const List* rows) {
  ParamListInfo own = copyParamList(state->es_param_list_info);
  ParamListInfo all = null_parameters(&query);
  for (int i = 0; own != nullptr && i < Min(own->numParams, query.own_parameters); ++i) {
    all->params[i] = own->params[i];
  }
  const ListCell* cell;
  foreach (cell, query.stages) {
    const auto* stage = static_cast<Stage*>(lfirst(cell));
    if (stage->place == StagePlace::kTable) continue;
    const auto* values = static_cast<List*>(list_nth(rows, foreach_current_index(cell)));
    ParamExternData* value = &all->params[stage->parameter - 1];
    if (stage->place == StagePlace::kArray) {
      put_array(values, value);
    } else if (values != NIL) {
      put_value(static_cast<List*>(linitial(values)), value);
    }
  }
  return all;
}

// ---- The execution -------------------------------------------------------------------------

// A cursor is opened by one user, and may be read by another, whose budget must not pay.
void require_same_user(const StagedNode* node) {
  if (GetUserId() == node->user) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("a private query is read by another role than the one that opened it"),
                  errdetail("Nothing was charged."),
                  errhint("Read the cursor as the role that opened it.")));
}

// The rest is planned without values of parameters, as for the trial. So it is judged in the same
// way.
void run_all(StagedNode* node) {
  require_same_user(node);
  const EState* state = node->scan.ss.ps.state;
  const MemoryContext previous = MemoryContextSwitchTo(state->es_query_cxt);
  List* rows = NIL;
  for (const auto* stage : each<const Stage>(node->query.stages)) {
    ParamListInfo own = copyParamList(state->es_param_list_info);
    const PartRows part = run(state, with_rows(&node->query, stage->query, rows), own, own);
    rows = lappend(rows, constants_of(part));
  }
  Query* rest = with_rows(&node->query, node->query.rest, rows);
  node->answers = run(state, rest, nullptr, parameters_of_rest(state, node->query, rows));
  node->row = MakeSingleTupleTableSlot(node->answers.columns, &TTSOpsMinimalTuple);
  MemoryContextSwitchTo(previous);
}

void begin(CustomScanState* scan, EState*, int) {
  StagedNode* node = staged_node(scan);
  node->query = query_of(as<CustomScan>(scan->ss.ps.plan));
  node->user = GetUserId();
}

TupleTableSlot* execute(CustomScanState* scan) {
  StagedNode* node = staged_node(scan);
  if (node->answers.rows == nullptr) run_all(node);
  ExprContext* context = scan->ss.ps.ps_ExprContext;
  if (!tuplestore_gettupleslot(node->answers.rows, true, false, node->row)) return nullptr;
  ResetExprContext(context);
  context->ecxt_scantuple = ExecCopySlot(scan->ss.ss_ScanTupleSlot, node->row);
  if (scan->ss.ps.ps_ProjInfo == nullptr) return context->ecxt_scantuple;
  return ExecProject(scan->ss.ps.ps_ProjInfo);
}

// The answers stay what they are.
void rescan(CustomScanState* scan) {
  StagedNode* node = staged_node(scan);
  ExecClearTuple(scan->ss.ss_ScanTupleSlot);
  if (node->answers.rows != nullptr) tuplestore_rescan(node->answers.rows);
}

void end(CustomScanState* scan) {
  StagedNode* node = staged_node(scan);
  ExecClearTuple(scan->ss.ss_ScanTupleSlot);
  if (node->answers.rows == nullptr) return;
  ExecDropSingleTupleTableSlot(node->row);
  tuplestore_end(node->answers.rows);
  node->answers.rows = nullptr;
}

void explain(CustomScanState* scan, List*, ExplainState* explain) {
  ExplainPropertyInteger("Subqueries First", nullptr, list_length(staged_node(scan)->query.stages),
                         explain);
}

const CustomExecMethods kExecMethods = custom_methods(kName, begin, execute, end, rescan, explain);

Node* make_node(CustomScan*) {
  return make_custom_state<StagedNode>(&kExecMethods);
}

const CustomScanMethods kScanMethods = {kName, make_node};

// ---- The plan ------------------------------------------------------------------------------

StagedPlan mark_of(const StagedQuery* staged) {
  StagedPlan mark = {NIL, NIL, NIL, NIL, staged->rest, staged->own_parameters};
  for (const auto* stage : each<const Stage>(staged->stages)) {
    mark.queries = lappend(mark.queries, const_cast<Query*>(stage->query));
    mark.places = lappend_int(mark.places, static_cast<int>(stage->place));
    mark.parameters = lappend_int(mark.parameters, stage->parameter);
    mark.types = lappend_oid(mark.types, stage->type);
  }
  return mark;
}

// The node gives the columns that the query shows, under their names.
CustomScan* make_scan(const StagedQuery* staged) {
  CustomScan* scan = makeNode(CustomScan);
  scan->methods = &kScanMethods;
  scan->custom_private = encode_mark(mark_of(staged));
  for (const auto* column : each<const TargetEntry>(staged->rest->targetList)) {
    if (column->resjunk) continue;
    const auto* value = as<Node>(column->expr);
    const Oid type = exprType(value);
    const int32 modifier = exprTypmod(value);
    const Oid collation = exprCollation(value);
    Const* shape = makeNullConst(type, modifier, collation);
    scan->custom_scan_tlist =
        lappend(scan->custom_scan_tlist,
                makeTargetEntry(as<Expr>(shape), column->resno, column->resname, false));
    auto* shown = static_cast<TargetEntry*>(copyObjectImpl(column));
    shown->expr = as<Expr>(makeVar(INDEX_VAR, column->resno, type, modifier, collation, 0));
    shown->ressortgroupref = 0;
    scan->scan.plan.targetlist = lappend(scan->scan.plan.targetlist, shown);
  }
  return scan;
}

// The plan is made anew when what a part depends on changes.
void depend_on(PlannedStmt* plan, const PlannedStmt* part) {
  for (const Oid relation : each_oid(part->relationOids)) {
    plan->relationOids = list_append_unique_oid(plan->relationOids, relation);
  }
  plan->invalItems = list_concat(plan->invalItems, part->invalItems);
  plan->transientPlan |= part->transientPlan;
}

planner_hook_type previous_planner = nullptr;

// Answers can be beside rows only where a query is in another.
bool may_have_stages(const Query* query) {
  if (query->hasSubLinks || query->cteList != NIL) return true;
  for (const auto* entry : each<const RangeTblEntry>(query->rtable)) {
    if (entry->rtekind == RTE_SUBQUERY) return true;
  }
  return false;
}

PlannedStmt* plan(DPQ_PLANNER_PARAMETERS) {
  const StagedQuery* staged = may_have_stages(query) ? stage_query(query, text) : nullptr;
  if (staged != nullptr) return plan_staged(staged, text, options);
  return (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
}

}  // namespace

PlannedStmt* plan_staged(const StagedQuery* staged, const char* text, int options) {
  CustomScan* scan = make_scan(staged);
  PlannedStmt* made = makeNode(PlannedStmt);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  made->dependsOnRole = true;
  made->planTree = as<Plan>(scan);
  made->stmt_location = staged->rest->stmt_location;
  made->stmt_len = staged->rest->stmt_len;
  for (const auto* stage : each<const Stage>(staged->stages)) {
    depend_on(made, plan_part(for_trial(staged, stage->query), text, options, nullptr));
  }
  depend_on(made, plan_part(for_trial(staged, staged->rest), text, options, nullptr));
  if ((options & CURSOR_OPT_SCROLL) != 0)
    made->planTree = materialize_finished_plan(made->planTree);
  return made;
}

void install_staged_queries() {
  RegisterCustomScanMethods(&kScanMethods);
  previous_planner = planner_hook;
  planner_hook = plan;
}

}  // namespace dpquantile
