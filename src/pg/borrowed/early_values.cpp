#include "pg/borrowed/early_values.hpp"

#include "pg/server/numeric.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/regex_weight.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

List* earlier_answers = NIL;
bool parts_are_charged = false;
StageRows planned_rows = StageRows::kNone;
RowLists planned_lists = RowLists::kTaken;

// The query's own parameters, with room for the early values. The query uses none that is left out.
// What is too large stays where it is: it must not be compared with rows.
ParamListInfo copy_own(const BorrowedPlan& plan, ParamListInfo parameters) {
  const int all = plan.own_parameters + list_length(plan.expressions);
  ParamListInfo copy = makeParamList(all);
  for (int i = 0; i < all; ++i) copy->params[i] = {0, true, 0, InvalidOid};
  const int given = parameters == nullptr ? 0 : parameters->numParams;
  for (int i = 0; i < Min(given, plan.own_parameters); ++i) {
    ParamExternData fetched;
    const ParamExternData* parameter =
        parameters->paramFetch == nullptr
            ? &parameters->params[i]
            : parameters->paramFetch(parameters, i + 1, true, &fetched);
    copy->params[i] = *parameter;
    if (parameter->isnull || !OidIsValid(parameter->ptype)) continue;
    const Oid type = parameter->ptype;
    copy->params[i].value = is_too_large(parameter->value, type)
                                ? datumCopy(parameter->value, get_typbyval(type), get_typlen(type))
                                : value_in_memory(parameter->value, type);
  }
  return copy;
}

bool has_few_digits_if_numeric(Datum value, Oid type) {
  return getBaseType(type) != NUMERICOID || has_few_digits(value, kMostNumericDigits);
}

// PostgreSQL takes a parameter without PARAM_FLAG_CONST for estimates only.
ParamExternData evaluate(Expr* expression, ParamListInfo parameters, ExprContext* context) {
  ParamExternData early{};
  early.ptype = exprType(as<Node>(expression));
  // The limit of texts, which each plan with functions of texts has
  if (IsA(expression, Const) && as<Const>(expression)->constbyval) {
    early.value = as<Const>(expression)->constvalue;
    early.isnull = as<Const>(expression)->constisnull;
    return early;
  }
  const MemoryContext previous = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
  early.value =
      ExecEvalExpr(ExecInitExprWithParams(expression, parameters), context, &early.isnull);
  MemoryContextSwitchTo(previous);
  return early;
}

// Whether rows may be compared with a value, or searched for it.
bool may_be_compared(const BorrowedPlan& plan, int number, const ParamExternData& early) {
  if (early.isnull) return true;
  if (is_too_large(early.value, early.ptype)) return false;
  if (!list_member_int(plan.short_values, number)) return true;
  return toast_raw_datum_size(early.value) - VARHDRSZ <= static_cast<Size>(plan.most_early_bytes) &&
         has_few_digits_if_numeric(early.value, early.ptype);
}

void check_early(const BorrowedPlan& plan, int number, const ParamExternData& early) {
  if (early.isnull) return;
  check_value_size(early.value, early.ptype);
  if (!list_member_int(plan.short_values, number)) return;
  check_short_value(toast_raw_datum_size(early.value) - VARHDRSZ, plan.most_early_bytes);
  check_short_number(early.value, early.ptype);
}

void warn_of_nulls() {
  ereport(WARNING,
          (errmsg("a value that follows from a subquery is too long, and counts as NULL"),
           errdetail("Rows are not compared with texts and numbers of so many bytes or digits."),
           errhint("Shorten it in the subquery: left(value, 30), round(value, 6).")));
}

// When a trial has been passed and parts are charged, what is too long follows from answers. It
// counts as NULL then, as values of rows that are too long do, so that what is charged is answered.
bool forget_long_value(const BorrowedPlan& plan, int number, Expr* expression,
                       ParamListInfo extended) {
  ParamExternData* early = &extended->params[plan.own_parameters + number];
  if (!parts_are_charged || may_be_compared(plan, number, *early)) return false;
  early->value = 0;
  early->isnull = true;
  // The plan has a parameter of the query itself, and not its early value.
  if (IsA(expression, Param)) extended->params[as<Param>(expression)->paramid - 1] = *early;
  return true;
}

// Each with each of its collations.
void check_patterns(const BorrowedPlan& plan, ParamListInfo extended) {
  const ListCell* number;
  const ListCell* collation;
  forboth(number, plan.patterns, collation, plan.pattern_collations) {
    const ParamExternData& early = extended->params[plan.own_parameters + lfirst_int(number)];
    if (!early.isnull) check_pattern_value(early.value, lfirst_oid(collation));
  }
}

}  // namespace

int largest_parameter(Query* query) {
  int largest = 0;
  visit_nodes(
      query,
      [&](const Node* node) {
        if (!IsA(node, Param) || as<Param>(node)->paramkind != PARAM_EXTERN) return;
        largest = Max(largest, as<Param>(node)->paramid);
      },
      kIntoQueries);
  return largest;
}

List* begin_with_answers(List* parameters) {
  List* before = earlier_answers;
  earlier_answers = parameters;
  return before;
}

StageRows begin_in_stages(StageRows rows) {
  const StageRows before = planned_rows;
  planned_rows = rows;
  return before;
}

StageRows rows_in_stages() {
  return planned_rows;
}

bool is_in_stages() {
  return planned_rows != StageRows::kNone;
}

RowLists begin_with_row_lists(RowLists lists) {
  const RowLists before = planned_lists;
  planned_lists = lists;
  return before;
}

RowLists row_lists() {
  return planned_lists;
}

void note_long_row_list() {
  if (planned_lists == RowLists::kTaken) planned_lists = RowLists::kTooLong;
}

bool begin_after_charge(bool is_charged) {
  const bool before = parts_are_charged;
  parts_are_charged = is_charged;
  return before;
}

bool is_after_charge() {
  return parts_are_charged;
}

const char* charge_of_refused_call() {
  return parts_are_charged ? "What the subqueries cost is charged, and nothing else. "
                           : "This call was not charged. ";
}

const List* parameters_of_answers() {
  return earlier_answers;
}

bool has_earlier_answer(const Node* expression) {
  return earlier_answers != NIL && any_node(expression, [](const Node* node) {
           return IsA(node, Param) && as<Param>(node)->paramkind == PARAM_EXTERN &&
                  list_member_int(earlier_answers, as<Param>(node)->paramid);
         });
}

ParamListInfo with_early_values(const BorrowedPlan& plan, ParamListInfo parameters) {
  ParamListInfo extended = copy_own(plan, parameters);
  ExprContext* context = CreateStandaloneExprContext();
  context->ecxt_param_list_info = extended;
  bool has_nulls = false;
  ListCell* cell;
  foreach (cell, plan.expressions) {
    const int number = foreach_current_index(cell);
    auto* expression = static_cast<Expr*>(lfirst(cell));
    ParamExternData* early = &extended->params[plan.own_parameters + number];
    *early = evaluate(expression, extended, context);
    has_nulls |= forget_long_value(plan, number, expression, extended);
    check_early(plan, number, *early);
    if (!early->isnull) early->value = value_in_memory(early->value, early->ptype);
  }
  if (has_nulls) warn_of_nulls();
  check_patterns(plan, extended);
  FreeExprContext(context, true);
  return extended;
}

void require_early_values(const BorrowedPlan& plan, ParamListInfo parameters) {
  const int count = list_length(plan.expressions);
  if (count == 0) return;
  if (parameters != nullptr && parameters->numParams == plan.own_parameters + count) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a private query was started without the values of its parameters"),
                  errdetail("Another extension started it with parameters of its own."),
                  errhint("This call was not charged. Ask without the other extension.")));
}

void check_value_size(Datum value, Oid type) {
  if (!is_too_large(value, type)) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a value that protected rows are compared with is too large"),
                  errdetail("It has more than %d elements or %d bytes.", kMaxElements,
                            static_cast<int>(kMaxValueBytes)),
                  errhint("%s", kSizeHint)));
}

void check_short_value(Size bytes, int most) {
  if (bytes <= static_cast<Size>(most)) return;
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("a parameter value used with protected rows is too long"),
           errdetail("It has %zu bytes; together with the functions of this query, %d are allowed.",
                     bytes, most),
           errhint("This call was not charged. Use a shorter value or fewer functions of texts, or "
                   "write it as a literal.")));
}

void check_short_number(Datum value, Oid type) {
  if (has_few_digits_if_numeric(value, type)) return;
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("a number used with protected rows has too many digits"),
                  errdetail("It has more than %d digits.", kMostNumericDigits),
                  errhint("This call was not charged. Use fewer digits, or double precision.")));
}

void check_pattern_value(Datum value, Oid collation) {
  const text* pattern = DatumGetTextPP(value);
  const int weight = regex_weight({VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)});
  if (weight == 0 || weight > kMostParameterWeight) {
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("a regular expression in a parameter is not supported over protected rows: it "
                    "may take long for some rows"),
             errhint("%s", weight == 0 ? kRegexHint
                                       : "This call was not charged. Use a shorter one, with fewer "
                                         "of *, ? and |, or write it as a literal.")));
  }
  (void)DirectFunctionCall2Coll(textregexeq, collation, CStringGetTextDatum(""),
                                PointerGetDatum(pattern));
}

Datum value_in_memory(Datum value, Oid type) {
  if (get_typlen(type) == -1) return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
  return datumCopy(value, get_typbyval(type), get_typlen(type));
}

bool is_too_large(Datum value, Oid type, Size most_bytes) {
  if (get_typlen(type) != -1) return false;
  if (toast_raw_datum_size(value) > most_bytes) return true;
  if (!OidIsValid(get_element_type(getBaseType(type)))) return false;
  const ArrayType* array = DatumGetArrayTypeP(value);
  return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) > kMaxElements;
}

}  // namespace dpquantile
