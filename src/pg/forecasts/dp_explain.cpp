// What a query would cost, and what standard aggregates become, before it runs.
#include "core/quantiles/quantiles_error.hpp"
#include "pg/borrowed/borrowed_plan.hpp"
#include "pg/borrowed/borrowed_release.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/owner/closed_table.hpp"
#include "pg/plain/plain_hooks.hpp"
#include "pg/plain/shown_rows.hpp"
#include "pg/protect/protect_hooks.hpp"
#include "pg/protect/references.hpp"
#include "pg/release/release_prices.hpp"
#include "pg/restricted/restricted_hooks.hpp"
#include "pg/server/decimal.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/table_name.hpp"
#include "pg/server/trees.hpp"
#include "pg/staged/staged_query.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/resowner.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_text(const char* got) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("query must be one SELECT, got %s", got),
                  errhint("Write for example dp_explain('SELECT count(*) FROM staff').")));
}

// The query that the text is, as the planner would get it.
Query* read_query(const char* written) {
  const List* statements = raw_parser(written, RAW_PARSE_DEFAULT);
  if (list_length(statements) != 1) {
    refuse_text(psprintf("%d statements", list_length(statements)));
  }
  Query* query = parse_analyze_fixedparams(static_cast<RawStmt*>(linitial(statements)), written,
                                           nullptr, 0, nullptr);
  if (query->commandType != CMD_SELECT || query->utilityStmt != nullptr) {
    refuse_text("another statement");
  }
  return static_cast<Query*>(linitial(QueryRewrite(query)));
}

// ---- Rows ----------------------------------------------------------------------------------

constexpr int kColumns = 11;
constexpr int kProblem = 8;
constexpr int kTables = 9;
constexpr int kLongestValue = 10;

struct Row {
  Datum values[kColumns];
  bool nulls[kColumns];
};

void set_text(Row* row, int column, const char* value) {
  row->nulls[column] = value == nullptr;
  if (value != nullptr) row->values[column] = CStringGetTextDatum(value);
}

void set_number(Row* row, int column, std::optional<double> value) {
  row->nulls[column] = !value;
  if (value) row->values[column] = Float8GetDatum(*value);
}

void set_tables(Row* row, const List* tables) {
  row->nulls[kTables] = tables == NIL;
  if (tables == NIL) return;
  auto* names = static_cast<Datum*>(palloc(sizeof(Datum) * list_length(tables)));
  int count = 0;
  for (const Oid table : each_oid(tables)) {
    const char* name = name_with_schema(table);
    names[count++] = CStringGetTextDatum(name == nullptr ? "?" : name);
  }
  row->values[kTables] =
      PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

void set_longest_value(Row* row, int bytes) {
  row->nulls[kLongestValue] = bytes == 0;
  row->values[kLongestValue] = Int32GetDatum(bytes);
}

// What the aggregates up to one cost together, of a table, or for InvalidOid all of them.
struct Total {
  Oid table;
  double epsilon;
  double delta;
  double rho;
  bool knows_epsilon;
  bool knows_rho;
};

Total* total_of(List** totals, Oid table) {
  for (auto* total : each<Total>(*totals)) {
    if (total->table == table) return total;
  }
  auto* total = static_cast<Total*>(palloc0(sizeof(Total)));
  *total = {table, 0, 0, 0, true, true};
  *totals = lappend(*totals, total);
  return total;
}

// Adds the price of a call to the total of a table. What is left of the budget, if the total is
// more; else null.
const char* add_price(List** totals, Oid table, const PricedCall& call) {
  Total* total = total_of(totals, table);
  const double times = Max(call.times, 1);
  total->epsilon += times * call.cost->epsilon.value_or(0);
  total->delta += times * call.cost->delta;
  total->rho += times * call.cost->rho.value_or(0);
  total->knows_epsilon &= call.cost->epsilon.has_value();
  total->knows_rho &= call.cost->rho.has_value();
  return exceeded_budget(GetOuterUserId(), table,
                         {{Float8GetDatum(total->epsilon), !total->knows_epsilon},
                          {Float8GetDatum(total->delta), false},
                          {Float8GetDatum(total->rho), !total->knows_rho}});
}

void set_problem_of_amount(Row* row, Oid table, const char* left) {
  const char* name = OidIsValid(table) ? name_with_schema(table) : nullptr;
  set_text(row, kProblem,
           psprintf("The budget of role %s%s has %s left, less than the aggregates up to this one "
                    "cost, so the query is refused unless its answers are kept. Ask for a smaller "
                    "epsilon, in plain SQL by SET dpquantile.epsilon, or have the owner of the "
                    "extension raise the limit with dp_grant_budget.",
                    GetUserNameFromId(GetOuterUserId(), true),
                    name == nullptr ? "" : psprintf(" for table %s", name), left));
}

// Adds up what calls cost, and tells where that is more than a budget has.
void set_problem_of_price(Row* row, const PricedCall& call, List** totals) {
  List* tables = lcons_oid(InvalidOid, list_copy(call.tables));
  for (const Oid table : each_oid(tables)) {
    const char* left = add_price(totals, table, call);
    if (left != nullptr && row->nulls[kProblem]) set_problem_of_amount(row, table, left);
  }
}

// A query over a table whose budget has been revoked is refused when it runs.
void set_problem_of_budget(Row* row, const List* tables) {
  row->nulls[kProblem] = true;
  for (const Oid oid : each_oid(tables)) {
    if (!is_closed_table(GetOuterUserId(), oid)) continue;
    const char* name = name_with_schema(oid);
    set_text(
        row, kProblem,
        psprintf("The budget of role %s for table %s has been revoked, so the query would be "
                 "refused. Ask for another one: dp_grant_budget(role, epsilon, on_table => ...).",
                 GetUserNameFromId(GetOuterUserId(), true), name == nullptr ? "?" : name));
    return;
  }
}

void put(FunctionCallInfo fcinfo, Row* row) {
  const auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  tuplestore_putvalues(result->setResult, result->setDesc, row->values, row->nulls);
}

const char* unit_of_error(const ExpectedError& error) {
  const char* unit = psprintf("%s%s", error.unit, error.at_most ? ", at most" : "");
  if (!error.fields) return unit;
  return psprintf("%s; count %.3g, sum %.3g, variance %.3g, deviation %.3g", unit,
                  error.fields->count, error.fields->sum, error.fields->variance,
                  error.fields->stddev);
}

// min and max, which are no private aggregates, and look like answers about the rows.
void put_bound(FunctionCallInfo fcinfo, const char* name) {
  Row row{};
  for (bool& is_null : row.nulls) is_null = true;
  set_text(&row, 0, name);
  set_text(&row, 1, "public bound");
  for (int amount = 2; amount <= 4; ++amount) set_number(&row, amount, 0);
  set_text(&row, 5, "nothing");
  set_text(&row, 7,
           strcmp(name, "min") == 0 ? "nothing of the rows: ask percentile_disc(0.01)"
                                    : "nothing of the rows: ask percentile_disc(0.99)");
  put(fcinfo, &row);
}

void put_call(FunctionCallInfo fcinfo, const PricedCall& call, const BorrowedPlan& mark,
              List** totals) {
  Row row{};
  const PrivacyCost unknown{};
  const PrivacyCost& cost = call.cost == nullptr ? unknown : *call.cost;
  set_text(&row, 0, call.function);
  set_text(&row, 1, call.method);
  set_number(&row, 2, cost.epsilon);
  set_number(&row, 3, call.cost == nullptr ? std::nullopt : std::optional(cost.delta));
  set_number(&row, 4, cost.rho);
  set_text(&row, 5,
           call.cost == nullptr ? "unknown before the query runs: a subquery gives a parameter"
           : call.by_group      ? "each group"
           : call.times > 1     ? psprintf("each of %d grouping sets", call.times)
                                : "the query");
  set_number(&row, 6, call.error ? std::optional(call.error->amount) : std::nullopt);
  set_text(&row, 7, call.error ? unit_of_error(*call.error) : nullptr);
  const bool is_known = call.tables != NIL && call.cost != nullptr;
  const char* problem = is_known ? problem_of_price(mark, call.function, *call.cost) : nullptr;
  if (problem == nullptr && is_known) problem = problem_of_method(call.function, *call.stated);
  if (problem != nullptr) {
    set_text(&row, kProblem, problem);
  } else {
    set_problem_of_budget(&row, call.tables);
  }
  if (call.cost != nullptr) set_problem_of_price(&row, call, totals);
  set_tables(&row, call.tables);
  set_longest_value(&row, call.tables == NIL ? 0 : mark.longest_value);
  put(fcinfo, &row);
}

void put_problem(FunctionCallInfo fcinfo, const ErrorData* error) {
  Row row{};
  for (bool& is_null : row.nulls) is_null = true;
  StringInfoData problem;
  initStringInfo(&problem);
  appendStringInfoString(&problem, error->message);
  appendStringInfoChar(&problem, '.');
  if (error->detail != nullptr) appendStringInfo(&problem, " %s", error->detail);
  if (error->hint != nullptr) appendStringInfo(&problem, " %s", error->hint);
  if (error->internalpos > 0) {
    appendStringInfo(&problem, " At character %d.", error->internalpos);
  } else if (error->cursorpos > 0) {
    appendStringInfo(&problem, " At character %d.", error->cursorpos);
  }
  set_text(&row, kProblem, problem.data);
  put(fcinfo, &row);
}

// ---- The query -----------------------------------------------------------------------------

double rows_argument(FunctionCallInfo fcinfo) {
  const int64 rows = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
  if (rows >= 1 && static_cast<uint64>(rows) <= kMaxForecastRecords)
    return static_cast<double>(rows);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("rows must be between 1 and %llu, got %s",
                         static_cast<unsigned long long>(kMaxForecastRecords),
                         PG_ARGISNULL(1) ? "NULL" : psprintf("%lld", static_cast<long long>(rows))),
                  errhint("Give a public guess of the number of rows of a group.")));
}

// A query, or a part of one that is asked in stages.
struct Part {
  Query* query;
  ParamListInfo parameters;
  List* answers;   // which of them are answers of other parts
  StageRows rows;  // that stand in VALUES
};

// Does something as it is done for a part that is asked after these answers, with these rows.
template <class Callable>
void with_answers(List* answers, StageRows rows, Callable ask) {
  List* answers_before = begin_with_answers(answers);
  const StageRows rows_before = begin_in_stages(rows);
  PG_TRY();
  ask();
  PG_FINALLY();
  begin_with_answers(answers_before);
  begin_in_stages(rows_before);
  PG_END_TRY();
}

struct PartSearch {
  const char* written;
  bool is_accepted;  // by the rules, as far as they look at the text of each part
  List* parts;       // Part
};

// How many rows a part shows at most, if that is known.
std::optional<int> shown_rows(const PartSearch* search, const Query* query,
                              ParamListInfo parameters) {
  auto* copy = static_cast<Query*>(copyObjectImpl(query));
  if (borrowed_oids(copy) == NIL) return std::nullopt;
  Reasons refused{};
  const Statement* statement = translate_for_session(copy, search->written, &refused);
  const bool is_refused = refused.is_last || refused.errors != NIL;
  return is_refused ? std::nullopt : most_shown_rows(statement, parameters);
}

// Adds the stages of a query, and then its rest: each may have stages itself. Returns how many rows
// it shows at most, if that is known.
std::optional<int> add_parts(PartSearch* search, Query* query, ParamListInfo parameters) {
  const StagedQuery* staged = stage_query(query, search->written);
  if (staged == nullptr) {
    auto* part = static_cast<Part*>(palloc(sizeof(Part)));
    *part = {query, parameters, const_cast<List*>(parameters_of_answers()), rows_in_stages()};
    search->parts = lappend(search->parts, part);
    return shown_rows(search, query, parameters);
  }
  ParamListInfo all = null_parameters(staged);
  for (int i = 0; parameters != nullptr && i < Min(parameters->numParams, staged->own_parameters);
       ++i) {
    all->params[i] = parameters->params[i];
  }
  std::optional<int> shown;
  const auto add = [&](const Query* part) {
    StageRows rows;
    Query* filled = with_rows(staged, part, NIL, &rows);
    with_answers(staged->answers, rows, [&] { shown = add_parts(search, filled, all); });
  };
  for (auto* stage : each<Stage>(staged->stages)) {
    add(stage->query);
    if (search->is_accepted || shown <= kMostStageRows) limit_rows(stage, shown);
  }
  add(staged->rest);
  return shown;
}

// Leaves decided which lists the parts have.
List* parts_of(const char* written, bool is_accepted) {
  begin_with_row_lists(RowLists::kTaken);
  PartSearch search = {written, is_accepted, NIL};
  (void)add_parts(&search, read_query(written), nullptr);
  if (row_lists() == RowLists::kTaken) return search.parts;
  begin_with_row_lists(RowLists::kNotTaken);
  search.parts = NIL;
  (void)add_parts(&search, read_query(written), nullptr);
  return search.parts;
}

void explain_part(FunctionCallInfo fcinfo, const Part* part, const char* written, double rows,
                  List** totals) {
  PlannedStmt* plan =
      DPQ_PLAN(pg_plan_query, part->query, written, CURSOR_OPT_PARALLEL_OK, nullptr);
  QueryDesc* query = CreateQueryDesc(plan, written, GetActiveSnapshot(), InvalidSnapshot,
                                     None_Receiver, part->parameters, nullptr, 0);
  start_without_running(query);
  BorrowedPlan mark{};
  (void)find_mark(plan->rtable, &mark);
  for (const auto* call : each<const PricedCall>(priced_calls(query->planstate, rows))) {
    put_call(fcinfo, *call, mark, totals);
  }
  ExecutorEnd(query);
  FreeQueryDesc(query);
}

// Without planning: that ends at the first reason. Returns the names of standard aggregates of
// which a public bound is the answer.
List* find_all_reasons(const char* written, Reasons* reasons) {
  List* answered_by_bounds = NIL;
  for (const auto* part : each<const Part>(parts_of(written, false))) {
    reasons->is_last = false;
    with_answers(part->answers, part->rows, [&] {
      const Statement* statement = translate_for_session(part->query, written, reasons);
      answered_by_bounds = list_concat(answered_by_bounds, statement->answered_by_bounds);
      if (!reasons->is_last) find_reasons(part->query, written, reasons);
    });
  }
  return answered_by_bounds;
}

void explain_query(FunctionCallInfo fcinfo, const char* written, double rows) {
  List* totals = NIL;  // Total
  for (const auto* part : each<const Part>(parts_of(written, true))) {
    with_answers(part->answers, part->rows,
                 [&] { explain_part(fcinfo, part, written, rows, &totals); });
  }
}

// A refusal is an answer. What interrupts the session is not.
bool is_answer(const ErrorData* error) {
  const int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
  return error->sqlerrcode != ERRCODE_QUERY_CANCELED && category != ERRCODE_OPERATOR_INTERVENTION &&
         category != ERRCODE_INSUFFICIENT_RESOURCES && category != ERRCODE_INTERNAL_ERROR;
}

// Explains the query in a subtransaction, or notes why it is refused. Ends in the same way with an
// error that is no answer, which is returned.
ErrorData* explain_or_refuse(FunctionCallInfo fcinfo, const char* written, double rows,
                             Reasons* reasons) {
  const MemoryContext context = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  const RowLists lists_before = row_lists();
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    const List* answered_by_bounds = find_all_reasons(written, reasons);
    if (reasons->errors == NIL) {
      explain_query(fcinfo, written, rows);
      for (const auto* name : each<const char>(answered_by_bounds)) put_bound(fcinfo, name);
    }
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
  }
  PG_END_TRY();
  begin_with_row_lists(lists_before);
  if (error == nullptr && reasons->errors == NIL) {
    ReleaseCurrentSubTransaction();
  } else {
    RollbackAndReleaseCurrentSubTransaction();
  }
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  return error;
}

int place_of(const ErrorData* error) {
  return Max(error->internalpos, error->cursorpos);
}

int compare_places(const ListCell* one, const ListCell* other) {
  return place_of(static_cast<const ErrorData*>(lfirst(one))) -
         place_of(static_cast<const ErrorData*>(lfirst(other)));
}

char* written_query(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) refuse_text("NULL");
  return text_to_cstring(PG_GETARG_TEXT_PP(0));
}

bool has_join(const Query* level, int number) {
  return any_node(level->jointree, [=](const Node* node) {
    return IsA(node, JoinExpr) && as<JoinExpr>(node)->rtindex == number;
  });
}

// Whether a level has a join of which PostgreSQL cannot write the columns: one that takes the place
// of a subquery (pg/plain/subquery_join.hpp) has no names, and of one that FROM lacks it would
// follow sides that are not there.
bool has_join_without_names(const Query* level) {
  int number = 0;
  for (const auto* entry : each<const RangeTblEntry>(level->rtable)) {
    ++number;
    if (entry->rtekind != RTE_JOIN) continue;
    if (entry->eref->colnames == NIL || !has_join(level, number)) return true;
  }
  return false;
}

[[noreturn]] void refuse_writing(const char* why) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("the private query cannot be written: %s", why),
           errhint("Ask the query itself: it is answered. dp_explain shows what it costs.")));
}

bool any_level(const Query* query, bool (*is_such)(const Query* level)) {
  return any_node(
      query, [=](const Node* node) { return IsA(node, Query) && is_such(as<Query>(node)); },
      kIntoQueries);
}

void check_can_be_written(const Query* query) {
  if (any_level(query, names_added_persons)) {
    refuse_writing("it names the persons of a table that is protected through another one");
  }
  if (any_level(query, has_join_without_names)) {
    refuse_writing("it has a join in the place of a subquery");
  }
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (query text, rows bigint) returns table (private_aggregate text, method text, epsilon float8,
// delta float8, rho float8, charged_for text, expected_error float8, error_in text, problem text,
// tables text[], longest_value integer)
DPQ_FUNCTION(dpq_explain) {
  InitMaterializedSRF(fcinfo, 0);
  const double rows = rows_argument(fcinfo);
  Reasons reasons{};
  ErrorData* error = explain_or_refuse(fcinfo, written_query(fcinfo), rows, &reasons);
  if (error != nullptr && !is_answer(error)) ReThrowError(error);
  list_sort(reasons.errors, compare_places);
  if (error != nullptr) reasons.errors = lappend(reasons.errors, error);
  for (const auto* reason : each<const ErrorData>(reasons.errors)) put_problem(fcinfo, reason);
  return 0;
}

// (query text) returns text: the query with private aggregates in the place of standard ones
DPQ_FUNCTION(dpq_private_query) {
  const char* written = written_query(fcinfo);
  if (stage_query(read_query(written), written) != nullptr) {
    refuse_writing("subqueries of it are asked first, each as a query of its own");
  }
  Query* query = read_query(written);
  translate_for_session(query, written, nullptr);
  check_can_be_written(query);
  PG_RETURN_TEXT_P(cstring_to_text(pg_get_querydef(query, true)));
}
