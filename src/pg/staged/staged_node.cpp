#include "pg/staged/staged_node.hpp"

#include "pg/borrowed/borrowed_release.hpp"
#include "pg/plain/shown_rows.hpp"
#include "pg/server/client_messages.hpp"
#include "pg/server/custom_node.hpp"
#include "pg/server/mark.hpp"
#include "pg/server/nodes.hpp"
#include "pg/staged/staged_query.hpp"

extern "C" {
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "access/detoast.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
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
  List* stages;  // encoded
  const Query* rest;
  int own_parameters;
  List* answers;
  bool is_part;  // of another, which has planned all of it, and tried it when it runs

  static constexpr MarkKind kKind = {"dpquantile staged query", 2};
  void each_field(MarkFields* fields) {
    fields->list("stages", T_List, &stages);
    fields->query("rest", &rest);
    fields->integer("own_parameters", &own_parameters);
    fields->list("answers", T_IntList, &answers);
    fields->truth("is_part", &is_part);
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
  bool is_part;
  Oid user;          // who opened it
  PartRows answers;  // of the rest; null before it has run
  TupleTableSlot* row;
  List* relations;  // Relation: those that any part reads
};

StagedNode* staged_node(CustomScanState* scan) {
  return reinterpret_cast<StagedNode*>(scan);
}

StagedQuery query_of(const StagedPlan& mark) {
  StagedQuery query = {NIL, const_cast<Query*>(mark.rest), mark.own_parameters, mark.answers};
  for (const auto* encoded : each<const List>(mark.stages)) {
    auto* stage = static_cast<Stage*>(palloc(sizeof(Stage)));
    *stage = decode_mark<Stage>(encoded);
    query.stages = lappend(query.stages, stage);
  }
  return query;
}

// ---- One part ------------------------------------------------------------------------------

// What is planned of a staged query: a stage or the rest, with these rows of the first stages.
struct Part {
  const StagedQuery* staged;
  const Query* query;
  const List* rows;
};

// The query may have been made long ago: its tables must be locked again.
PlannedStmt* plan_part(const Part& part, const char* text, int options, ParamListInfo parameters) {
  PlannedStmt* volatile plan = nullptr;
  const StagedQuery* staged = part.staged;
  StageRows kind;
  Query* query = with_rows(staged, part.query, part.rows, &kind);
  AcquireRewriteLocks(query, true, false);
  List* before = begin_with_answers(staged->answers);
  const StageRows rows_before = begin_in_stages(kind);
  PG_TRY();
  plan = DPQ_PLAN(planner, query, text, options & ~CURSOR_OPT_SCROLL, parameters);
  PG_FINALLY();
  begin_with_answers(before);
  begin_in_stages(rows_before);
  PG_END_TRY();
  return plan;
}

// While a part is planned again, whose own parts were planned with the whole.
bool plans_part = false;

// What planning has to say it has said when the whole was planned.
PlannedStmt* plan_quietly(const Part& part, const char* text, ParamListInfo parameters) {
  PlannedStmt* volatile plan = nullptr;
  begin_without_messages(Withheld::kAllBelowError);
  plans_part = true;
  PG_TRY();
  plan = plan_part(part, text, CURSOR_OPT_PARALLEL_OK, parameters);
  PG_FINALLY();
  plans_part = false;
  end_without_messages(Withheld::kAllBelowError);
  PG_END_TRY();
  return plan;
}

// `most`: how many rows are read; 0: all.
PartRows run_part(const EState* state, const Part& part, ParamListInfo planned,
                  ParamListInfo executed, uint64 most) {
  PlannedStmt* plan = plan_quietly(part, state->es_sourceText, planned);
  QueryDesc* started =
      CreateQueryDesc(plan, state->es_sourceText, GetActiveSnapshot(), InvalidSnapshot,
                      None_Receiver, executed, state->es_queryEnv, 0);
  ExecutorStart(started, 0);
  const PartRows given = {tuplestore_begin_heap(true, false, work_mem),
                          CreateTupleDescCopy(started->tupDesc)};
  started->dest = CreateDestReceiver(DestTuplestore);
  SetTuplestoreDestReceiverParams(started->dest, given.rows, CurrentMemoryContext, false, nullptr,
                                  nullptr);
  DPQ_RUN(started, most);
  ExecutorFinish(started);
  ExecutorEnd(started);
  FreeQueryDesc(started);
  return given;
}

PartRows run(const EState* state, const Part& part, ParamListInfo planned, ParamListInfo executed,
             uint64 most, bool is_charged) {
  PartRows given{};
  const bool before = begin_after_charge(is_charged || is_after_charge());
  PG_TRY();
  given = run_part(state, part, planned, executed, most);
  PG_FINALLY();
  begin_after_charge(before);
  PG_END_TRY();
  return given;
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
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("a subquery beside protected rows gives more than %d rows", kMostStageRows),
           errdetail("The subquery is not charged."),
           errhint("Add ORDER BY and LIMIT to the subquery.")));
}

void require_one_row(const Stage* stage, const List* rows) {
  if (stage->place != StagePlace::kValue || list_length(rows) <= 1) return;
  ereport(ERROR, (errcode(ERRCODE_CARDINALITY_VIOLATION),
                  errmsg("more than one row returned by a subquery used as an expression"),
                  errhint("Add LIMIT 1.")));
}

// What is charged is answered: the warnings follow from answers.
void warn_of_many_rows(int used) {
  ereport(WARNING, (errmsg("only the first %d rows of a subquery beside protected rows are used, "
                           "as with LIMIT %d",
                           used, used),
                    errdetail("A list may have %d rows and %d bytes.", kMostStageRows,
                              static_cast<int>(kMaxValueBytes)),
                    errhint("Add ORDER BY and LIMIT to the subquery.")));
}

void warn_of_long_values() {
  ereport(
      WARNING,
      (errmsg("rows of a subquery beside protected rows have values that are too long, and are "
              "left out; an only row has NULL in their place"),
       errdetail("Protected rows are joined with values of at most %d bytes.", kMostAnswerBytes),
       errhint("Shorten them in the subquery: left(value, 200).")));
}

Size bytes_of(const Const* value) {
  return value->constisnull || value->constlen != -1 ? 0 : toast_raw_datum_size(value->constvalue);
}

// Sets values to NULL that are longer than the trial has taken them to be. Returns whether there
// are any.
bool forget_long_values(const List* row) {
  bool has_long = false;
  for (auto* value : each<Const>(row)) {
    if (bytes_of(value) <= kMostAnswerBytes) continue;
    value->constvalue = 0;
    value->constisnull = has_long = true;
  }
  return has_long;
}

// Rows that VALUES may have.
List* short_rows(const List* rows) {
  List* found = NIL;
  bool has_long = false;
  for (auto* row : each<List>(rows)) {
    const bool is_long = forget_long_values(row);
    has_long |= is_long;
    if (!is_long || list_length(rows) == 1) found = lappend(found, row);
  }
  if (has_long) warn_of_long_values();
  return found;
}

// The first rows, whose values are an array that rows may be compared with.
List* rows_of_array(List* rows) {
  constexpr Size kMostOfElement = 8;  // for NULL, a place and an alignment
  Size bytes = kMostOfElement * kMostStageRows;
  int count = 0;
  for (const auto* row : each<const List>(rows)) {
    bytes += bytes_of(static_cast<const Const*>(linitial(row)));
    if (bytes > kMaxValueBytes) break;
    ++count;
  }
  if (count < list_length(rows)) warn_of_many_rows(count);
  return list_truncate(rows, count);
}

// List of List of Const
List* constants_of(const Stage* stage, const PartRows& part) {
  List* rows = NIL;
  TupleTableSlot* row = MakeSingleTupleTableSlot(part.columns, &TTSOpsMinimalTuple);
  while (tuplestore_gettupleslot(part.rows, true, false, row)) {
    if (list_length(rows) == kMostStageRows) {
      if (stage->is_public) refuse_many_rows();
      warn_of_many_rows(kMostStageRows);
      break;
    }
    slot_getallattrs(row);
    List* constants = NIL;
    for (int i = 0; i < part.columns->natts; ++i)
      constants = lappend(constants, constant_of(row, i));
    rows = lappend(rows, constants);
    require_one_row(stage, rows);
  }
  ExecDropSingleTupleTableSlot(row);
  tuplestore_end(part.rows);
  if (stage->is_public || stage->place == StagePlace::kValue) return rows;
  return stage->place == StagePlace::kTable ? short_rows(rows) : rows_of_array(rows);
}

// ---- The values of parameters --------------------------------------------------------------

void put_value(const List* rows, ParamExternData* value) {
  const auto* constant = static_cast<Const*>(linitial(static_cast<List*>(linitial(rows))));
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

// Those of the statement, and those of the stages behind them, as far as these have been asked.
ParamListInfo parameters_of(ParamListInfo given, const StagedQuery& query, const List* rows) {
  ParamListInfo own = copyParamList(given);
  ParamListInfo all = null_parameters(&query);
  for (int i = 0; own != nullptr && i < Min(own->numParams, query.own_parameters); ++i) {
    all->params[i] = own->params[i];
  }
  for (int i = 0; i < list_length(rows); ++i) {
    const auto* stage = static_cast<Stage*>(list_nth(query.stages, i));
    const auto* values = static_cast<List*>(list_nth(rows, i));
    ParamExternData* value = &all->params[stage->parameter - 1];
    switch (stage->place) {
      case StagePlace::kArray:
        put_array(values, value);
        break;
      case StagePlace::kValue:
        if (values != NIL) put_value(values, value);
        break;
      case StagePlace::kTable:
        value->value = BoolGetDatum(values != NIL);
        value->isnull = false;
        break;
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
                  errdetail("Nothing more is charged."),
                  errhint("Read the cursor as the role that opened it.")));
}

// One more than it may have. One of answers may run in parallel if all are read.
uint64 most_rows(const Stage* stage) {
  if (!stage->is_public) return 0;
  return stage->place == StagePlace::kValue ? 2 : kMostStageRows + 1;
}

// The node of a part that has parts itself, or null.
const CustomScan* staged_scan(const PlannedStmt* plan) {
  const auto* scan = as<CustomScan>(plan->planTree);
  return IsA(scan, CustomScan) && strcmp(scan->methods->CustomName, kName) == 0 ? scan : nullptr;
}

std::optional<int> shown_rows(const PlannedStmt* plan) {
  ShownRows shown;
  return find_mark(plan->rtable, &shown) ? std::optional(shown.most) : std::nullopt;
}

std::optional<int> try_parts(const EState* state, const StagedQuery* query, ParamListInfo given,
                             const List* rows);

// Returns how many rows it shows at most, if that is known.
std::optional<int> try_part(const EState* state, const StagedQuery* staged, const Query* query,
                            ParamListInfo known, const List* rows) {
  const char* text = state->es_sourceText;
  PlannedStmt* plan = plan_quietly({staged, query, rows}, text, known);
  const CustomScan* scan = staged_scan(plan);
  if (scan == nullptr) {
    check_execution(plan, text, known, state->es_queryEnv);
    return shown_rows(plan);
  }
  const StagedQuery below = query_of(decode_mark<StagedPlan>(scan->custom_private));
  return try_parts(state, &below, known, NIL);
}

// What is seen before a charge: public rows are joined with protected ones by columns in which they
// differ, or not at all; what is computed of public values and of the statement's parameters may
// fail; and private aggregates may have parameters or prices for which they are refused. So the
// parts after the public ones are planned for a trial again, with these, and started. `rows`: those
// of the public parts.
std::optional<int> try_parts(const EState* state, const StagedQuery* query, ParamListInfo given,
                             const List* rows) {
  ParamListInfo known = parameters_of(given, *query, rows);
  for (int i = list_length(rows); i < list_length(query->stages); ++i) {
    auto* stage = static_cast<Stage*>(list_nth(query->stages, i));
    limit_rows(stage, try_part(state, query, stage->query, known, rows));
  }
  return try_part(state, query, query->rest, known, rows);
}

// Tries all parts; once more without lists of rows of stages, if one of these is too long, and
// leaves noted which it is for the parts when they run. Of each trial are the numbers of rows.
template <class Callable>
void try_lists(const StagedQuery& query, Callable try_all) {
  const auto try_once = [&] {
    StagedQuery tried = query;
    tried.stages = NIL;
    for (const auto* stage : each<const Stage>(query.stages)) {
      auto* copy = static_cast<Stage*>(palloc(sizeof(Stage)));
      *copy = *stage;
      tried.stages = lappend(tried.stages, copy);
    }
    try_all(&tried);
  };
  if (row_lists() == RowLists::kTooLong) begin_with_row_lists(RowLists::kTaken);
  try_once();
  if (row_lists() != RowLists::kTooLong) return;
  begin_with_row_lists(RowLists::kNotTaken);
  try_once();
}

// Whether a query shows no row whatever there is, as BI tools ask it for its columns.
bool is_empty(const Query* query) {
  const auto* limit = as<Const>(eval_const_expressions(nullptr, query->limitCount));
  if (limit != nullptr && IsA(limit, Const) && !limit->constisnull &&
      DatumGetInt64(limit->constvalue) == 0) {
    return true;
  }
  // A group without keys has a row.
  const bool has_group =
      query->groupingSets != NIL ||
      (query->groupClause == NIL && (query->hasAggs || query->havingQual != nullptr));
  const auto* where = as<Const>(eval_const_expressions(nullptr, query->jointree->quals));
  const bool is_false = where != nullptr && IsA(where, Const) &&
                        (where->constisnull || !DatumGetBool(where->constvalue));
  return is_false && !has_group && query->setOperations == nullptr;
}

bool has_public_stage(const StagedQuery& query) {
  return query.stages != NIL && static_cast<const Stage*>(linitial(query.stages))->is_public;
}

// Whether the query around has tried all parts with what is known of them. Rows of public parts and
// answers have come since then.
bool is_tried_already(const StagedNode* node) {
  return node->is_part && !has_public_stage(node->query) && !is_after_charge();
}

// Whether a part before this one has been charged. Those of public tables come first.
bool is_charged_before(const StagedQuery* staged, int stages) {
  return stages > 0 && !static_cast<const Stage*>(list_nth(staged->stages, stages - 1))->is_public;
}

// The rest is planned without values of parameters, as for the trial. So it is judged in the same
// way.
void run_parts(StagedNode* node) {
  const EState* state = node->scan.ss.ps.state;
  const MemoryContext previous = MemoryContextSwitchTo(state->es_query_cxt);
  List* rows = NIL;
  bool is_tried = is_tried_already(node);
  const bool asks = !is_empty(node->query.rest);
  for (const auto* stage : each<const Stage>(node->query.stages)) {
    if (!asks) break;
    require_same_user(node);  // a function in a part may have changed it
    if (!stage->is_public && !is_tried) {
      try_lists(node->query, [&](const StagedQuery* tried) {
        (void)try_parts(state, tried, state->es_param_list_info, rows);
      });
    }
    is_tried = is_tried || !stage->is_public;
    ParamListInfo own = copyParamList(state->es_param_list_info);
    const PartRows part = run(state, {&node->query, stage->query, rows}, own,
                              parameters_of(state->es_param_list_info, node->query, rows),
                              most_rows(stage), is_charged_before(&node->query, list_length(rows)));
    rows = lappend(rows, constants_of(stage, part));
  }
  require_same_user(node);
  node->answers = run(state, {&node->query, node->query.rest, rows}, nullptr,
                      parameters_of(state->es_param_list_info, node->query, rows), 0,
                      is_charged_before(&node->query, list_length(rows)));
  node->row = MakeSingleTupleTableSlot(node->answers.columns, &TTSOpsMinimalTuple);
  MemoryContextSwitchTo(previous);
}

// A part has the lists that the trial of the whole has decided on.
void run_all(StagedNode* node) {
  const RowLists before = row_lists();
  PG_TRY();
  if (!node->is_part) begin_with_row_lists(RowLists::kTaken);
  run_parts(node);
  PG_FINALLY();
  begin_with_row_lists(before);
  PG_END_TRY();
}

// The trees of the parts were made for the tables and views as they were. What is open cannot be
// altered in the session, also not by a function that one of the parts calls.
void open_relations(StagedNode* node, const PlannedStmt* plan) {
  for (const Oid oid : each_oid(plan->relationOids)) {  // of other objects, too
    Relation relation = try_relation_open(oid, AccessShareLock);
    if (relation != nullptr) node->relations = lappend(node->relations, relation);
  }
}

void close_relations(StagedNode* node) {
  for (auto* relation : each<RelationData>(node->relations)) relation_close(relation, NoLock);
  node->relations = NIL;
}

void begin(CustomScanState* scan, EState* state, int) {
  StagedNode* node = staged_node(scan);
  open_relations(node, state->es_plannedstmt);
  const auto mark = decode_mark<StagedPlan>(as<CustomScan>(scan->ss.ps.plan)->custom_private);
  node->query = query_of(mark);
  node->is_part = mark.is_part;
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
  close_relations(node);
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

StagedPlan mark_of(const StagedQuery* staged, bool is_part) {
  StagedPlan mark = {NIL, staged->rest, staged->own_parameters, staged->answers, is_part};
  for (const auto* stage : each<const Stage>(staged->stages)) {
    mark.stages = lappend(mark.stages, encode_mark(*stage));
  }
  return mark;
}

// The node gives the columns that the query shows, under their names.
CustomScan* make_scan(const StagedQuery* staged, bool is_part) {
  CustomScan* scan = makeNode(CustomScan);
  scan->methods = &kScanMethods;
  scan->custom_private = encode_mark(mark_of(staged, is_part));
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

// What a part depends on the plan depends on.
void depend_on(PlannedStmt* plan, const PlannedStmt* part) {
  for (const Oid relation : each_oid(part->relationOids)) {
    plan->relationOids = list_append_unique_oid(plan->relationOids, relation);
  }
  plan->invalItems = list_concat(plan->invalItems, part->invalItems);
}

// The plan cache locks the tables in the range table of a plan before it looks whether the plan is
// still good.
void name_relations(PlannedStmt* plan) {
  for (const Oid oid : each_oid(plan->relationOids)) {
    const char kind = get_rel_relkind(oid);
    const bool has_rows = kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
                          kind == RELKIND_MATVIEW || kind == RELKIND_FOREIGN_TABLE;
    if (!has_rows) continue;  // such as a view, whose query has been put in its place
    RangeTblEntry* entry = makeNode(RangeTblEntry);
    entry->rtekind = RTE_RELATION;
    entry->relid = oid;
    entry->relkind = kind;
    entry->rellockmode = AccessShareLock;
    entry->eref = makeAlias(get_rel_name(oid), NIL);
    plan->rtable = lappend(plan->rtable, entry);
  }
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

// The node with nothing in it.
PlannedStmt* make_plan(const StagedQuery* staged, bool is_part) {
  PlannedStmt* made = makeNode(PlannedStmt);
  made->commandType = CMD_SELECT;
  made->canSetTag = true;
  made->planTree = as<Plan>(make_scan(staged, is_part));
  made->stmt_location = staged->rest->stmt_location;
  made->stmt_len = staged->rest->stmt_len;
  return made;
}

// All parts are planned for a trial, so that what is refused is refused before anything is charged.
PlannedStmt* plan_parts(const StagedQuery* staged, const char* text, int options) {
  PlannedStmt* made = make_plan(staged, false);
  ShownRows shown;
  for (auto* stage : each<Stage>(staged->stages)) {
    const PlannedStmt* part = plan_part({staged, stage->query, NIL}, text, options, nullptr);
    limit_rows(stage, shown_rows(part));
    depend_on(made, part);
  }
  const PlannedStmt* rest = plan_part({staged, staged->rest, NIL}, text, options, nullptr);
  depend_on(made, rest);
  if (find_mark(rest->rtable, &shown)) put_mark(&made->rtable, shown);
  name_relations(made);
  if ((options & CURSOR_OPT_SCROLL) != 0)
    made->planTree = materialize_finished_plan(made->planTree);
  return made;
}

PlannedStmt* plan_staged(const StagedQuery* staged, const char* text, int options) {
  if (is_in_stages()) return plan_parts(staged, text, options);
  PlannedStmt* volatile made = nullptr;
  const RowLists before = begin_with_row_lists(RowLists::kTaken);
  PG_TRY();
  try_lists(*staged, [&](const StagedQuery* tried) { made = plan_parts(tried, text, options); });
  PG_FINALLY();
  begin_with_row_lists(before);
  PG_END_TRY();
  return made;
}

PlannedStmt* plan(DPQ_PLANNER_PARAMETERS) {
  const bool is_part = plans_part;
  plans_part = false;
  const StagedQuery* staged = may_have_stages(query) ? stage_query(query, text) : nullptr;
  if (staged != nullptr) {
    return is_part ? make_plan(staged, true) : plan_staged(staged, text, options);
  }
  return (previous_planner != nullptr ? previous_planner : standard_planner)(DPQ_PLANNER_ARGUMENTS);
}

}  // namespace

void install_staged_queries() {
  RegisterCustomScanMethods(&kScanMethods);
  previous_planner = planner_hook;
  planner_hook = plan;
}

}  // namespace dpquantile
