#include "pg/protect/public_list.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/facts/unique_key.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/early_expressions.hpp"
#include "pg/protect/outside.hpp"
#include "pg/server/array_constant.hpp"
#include "pg/server/distinct_values.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr char kListHint[] =
    "Join VALUES of constants, generate_series or unnest of public values, or a table with a "
    "unique key.";

[[noreturn]] void refuse_list(const JudgedLevel* level, const Node* at, const char* reason,
                              const char* hint = kListHint) {
  refuse(level->statement->refused, at == nullptr ? kNowhere : exprLocation(at), reason, hint);
}

// ---- VALUES --------------------------------------------------------------------------------

// A constant has been counted where VALUES is a query of its own.
Node* constant_of(JudgedLevel* level, Node* value) {
  const int before = level->statement->node_count;
  check_outside(level, value, nullptr);
  if (IsA(value, Const)) level->statement->node_count = before;
  Node* folded = eval_const_expressions(nullptr, value);
  if (!IsA(folded, Const)) {
    refuse_list(level, value, "VALUES that are joined with protected rows must be constants");
  }
  check_constant(level, as<Const>(folded), exprLocation(value));
  return folded;
}

void fold_values(JudgedLevel* level, RangeTblEntry* entry, JudgedEntry* described) {
  if (list_length(entry->values_lists) > kMaxElements) {
    refuse_with_code(
        level->statement->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
        psprintf("VALUES that are joined with protected rows have more than %d rows", kMaxElements),
        kListHint);
  }
  for (auto* row : each<List>(entry->values_lists)) {
    ListCell* value;
    foreach (value, row) {
      Node* constant = constant_of(level, static_cast<Node*>(lfirst(value)));
      if (as<Const>(constant)->constisnull) described->may_have_nulls = true;
      lfirst(value) = constant;
    }
  }
}

// Whether values of the column can be compared by the default = of their type.
bool is_comparable(const RangeTblEntry* entry, int column) {
  const Oid type = list_nth_oid(entry->coltypes, column);
  if (!is_inside_type(type) || !OidIsValid(equality_family(type))) return false;
  return !type_is_collatable(type) ||
         is_inside_collation(list_nth_oid(entry->colcollations, column));
}

// The values of some columns of each row without a NULL in one of them.
struct Rows {
  Datum** values;
  int count;
  ComparedColumn* columns;
  size_t width;
};

Rows rows_of(const RangeTblEntry* entry, const Bitmapset* columns) {
  const auto width = static_cast<Size>(bms_num_members(columns));
  const auto most = static_cast<Size>(list_length(entry->values_lists));
  Rows rows = {static_cast<Datum**>(palloc((most + 1) * sizeof(Datum*))), 0,
               static_cast<ComparedColumn*>(palloc((width + 1) * sizeof(ComparedColumn))), width};
  int column = -1;
  for (int i = 0; (column = bms_next_member(columns, column)) >= 0; ++i) {
    rows.columns[i] = {list_nth_oid(entry->coltypes, column - 1),
                       list_nth_oid(entry->colcollations, column - 1)};
  }
  for (auto* row : each<List>(entry->values_lists)) {
    auto* values = static_cast<Datum*>(palloc((width + 1) * sizeof(Datum)));
    bool has_null = false;
    column = -1;
    for (int i = 0; (column = bms_next_member(columns, column)) >= 0; ++i) {
      const auto* value = static_cast<Const*>(list_nth(row, column - 1));
      values[i] = value->constvalue;
      has_null = has_null || value->constisnull;
    }
    if (!has_null) rows.values[rows.count++] = values;
  }
  return rows;
}

// Whether no two rows are equal in these columns. A row with a NULL in one of them equals none.
bool is_distinct(const RangeTblEntry* entry, const Bitmapset* columns) {
  const Rows rows = rows_of(entry, columns);
  return are_distinct_rows(rows.values, rows.count, {rows.columns, rows.width});
}

// Whether no two rows are equal in these columns, and at most two have one hash.
bool is_spread_by_hash(const RangeTblEntry* entry, const Bitmapset* columns) {
  const Rows rows = rows_of(entry, columns);
  const std::span<const ComparedColumn> compared(rows.columns, rows.width);
  return are_distinct_rows(rows.values, rows.count, compared) &&
         are_spread_by_hash(rows.values, rows.count, compared);
}

bool is_spread_by_hash(const RangeTblEntry* entry, int column) {
  const Rows rows = rows_of(entry, bms_make_singleton(column));
  auto* values = static_cast<Datum*>(palloc((static_cast<Size>(rows.count) + 1) * sizeof(Datum)));
  for (int i = 0; i < rows.count; ++i) values[i] = rows.values[i][0];
  return are_spread_by_hash(values, rows.count, rows.columns[0].type, rows.columns[0].collation);
}

void describe_rows(const JudgedLevel* level, const RangeTblEntry* entry, JudgedEntry* described) {
  described->most_rows = list_length(entry->values_lists);
  Bitmapset* comparable = nullptr;
  for (int column = 1; column <= list_length(entry->coltypes); ++column) {
    if (!is_comparable(entry, column - 1)) continue;
    comparable = bms_add_member(comparable, column);
    if (!is_distinct(entry, bms_make_singleton(column))) continue;
    described->distinct_columns = bms_add_member(described->distinct_columns, column);
    if (!is_spread_by_hash(entry, column)) continue;
    described->hashed_columns = bms_add_member(described->hashed_columns, column);
  }
  const bool is_distinct_in_one = described->distinct_columns != nullptr;
  if (is_distinct_in_one || (comparable != nullptr && is_distinct(entry, comparable))) {
    described->values = entry;
    described->compared_columns = comparable;
  }
  if (comparable == nullptr) {
    refuse_list(level, nullptr,
                "a list that is joined with protected rows has no column that can be compared",
                "Use columns of numbers, texts, dates or times.");
  }
  if (!is_list(*described)) {
    refuse_list(level, nullptr, "a list that is joined with protected rows has the same row twice",
                "Write each row once.");
  }
}

void describe_values(JudgedLevel* level, RangeTblEntry* entry, JudgedEntry* described) {
  fold_values(level, entry, described);
  describe_rows(level, entry, described);
}

// ---- VALUES in a derived table or a CTE ----------------------------------------------------

bool is_column(const TargetEntry* column, int number) {
  if (column->resjunk || !IsA(column->expr, Var)) return false;
  const auto* variable = as<Var>(column->expr);
  return variable->varno == 1 && variable->varlevelsup == 0 && variable->varattno == number;
}

// The entry with VALUES, if the query is nothing else.
RangeTblEntry* values_of(const Query* query) {
  const bool is_plain = query->commandType == CMD_SELECT && list_length(query->rtable) == 1 &&
                        query->jointree->quals == nullptr && query->sortClause == NIL &&
                        query->limitCount == nullptr && query->limitOffset == nullptr &&
                        query->distinctClause == NIL && query->groupClause == NIL &&
                        query->groupingSets == NIL && !query->hasAggs &&
                        query->havingQual == nullptr && query->cteList == NIL &&
                        query->setOperations == nullptr;
  auto* entry = is_plain ? static_cast<RangeTblEntry*>(linitial(query->rtable)) : nullptr;
  if (entry == nullptr || entry->rtekind != RTE_VALUES) return nullptr;
  const ListCell* cell;
  foreach (cell, query->targetList) {
    const int number = foreach_current_index(cell) + 1;
    if (!is_column(static_cast<TargetEntry*>(lfirst(cell)), number)) return nullptr;
  }
  return entry;
}

// Puts VALUES itself in the place of a derived table or a CTE with nothing else. Returns the entry.
RangeTblEntry* pull_up_values(const JudgedLevel* level, int number) {
  ListCell* cell = list_nth_cell(level->query->rtable, number - 1);
  auto* entry = static_cast<RangeTblEntry*>(lfirst(cell));
  CommonTableExpr* cte = entry->rtekind == RTE_CTE ? entry_of(level->read, number).cte : nullptr;
  const auto* query = cte == nullptr ? entry->subquery : as<Query>(cte->ctequery);
  const RangeTblEntry* values = query == nullptr ? nullptr : values_of(query);
  if (values == nullptr) return entry;
  auto* pulled_up = static_cast<RangeTblEntry*>(copyObjectImpl(values));
  pulled_up->alias = entry->alias;
  pulled_up->eref = entry->eref;
  pulled_up->inFromCl = entry->inFromCl;
  lfirst(cell) = pulled_up;
  if (cte != nullptr) --cte->cterefcount;
  return pulled_up;
}

// ---- Functions -----------------------------------------------------------------------------

Node* call(const char* name, const Oid* types, List* arguments, Oid result, Oid collation) {
  const Oid function = own_function(name, buildoidvector(types, list_length(arguments)));
  if (!OidIsValid(function)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("function dpquantile.%s of the extension is missing", name),
                    errhint("Have its owner run ALTER EXTENSION dpquantile UPDATE.")));
  }
  return as<Node>(
      makeFuncExpr(function, result, arguments, collation, collation, COERCE_EXPLICIT_CALL));
}

Node* one_of_type(Oid type) {
  const Datum one = type == INT4OID   ? Int32GetDatum(1)
                    : type == INT8OID ? Int64GetDatum(1)
                                      : DirectFunctionCall1(int4_numeric, Int32GetDatum(1));
  return as<Node>(
      makeConst(type, -1, InvalidOid, get_typlen(type), one, false, get_typbyval(type)));
}

Node* call_series(List* arguments) {
  const Oid type = exprType(static_cast<Node*>(linitial(arguments)));
  if (list_length(arguments) == 2) arguments = lappend(list_copy(arguments), one_of_type(type));
  const Oid types[] = {type, type, exprType(static_cast<Node*>(lthird(arguments)))};
  return call("series", types, arguments, get_array_type(type), InvalidOid);
}

// The array with the values of a function, or null if the function is another.
Node* array_of(const FuncExpr* function) {
  const FunctionRule* rule = find_rule(function->funcid);
  if (rule != nullptr && rule->is_series) return call_series(function->args);
  return function->funcid == F_UNNEST_ANYARRAY ? static_cast<Node*>(linitial(function->args))
                                               : nullptr;
}

void check_elements(const JudgedLevel* level, const FuncExpr* function) {
  const Oid type = function->funcresulttype;
  const bool is_comparable =
      is_inside_type(type) && OidIsValid(equality_family(type)) &&
      (!type_is_collatable(type) || is_inside_collation(function->funccollid));
  if (is_comparable) return;
  refuse_list(level, as<Node>(function),
              psprintf("a list of values of type %s cannot be joined with protected rows",
                       format_type_be(type)));
}

int count_elements(const Const* array) {
  const ArrayType* value = DatumGetArrayTypeP(array->constvalue);
  return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
}

// How many elements an array may have. The value of a parameter must not decide about it.
int most_elements(Node* array) {
  Node* folded = eval_const_expressions(nullptr, array);
  if (!IsA(folded, Const)) return kMaxElements;
  const auto* constant = as<Const>(folded);
  return constant->constisnull ? 0 : count_elements(constant);
}

// Has the list computed before the first row is read.
Node* early_list(JudgedLevel* level, const FuncExpr* original, Node* array) {
  const Oid types[] = {ANYARRAYOID};
  Node* distinct =
      call("distinct_values", types, list_make1(array), exprType(array), original->funccollid);
  Node* list = early_value(level->statement, distinct);
  FuncExpr* unnest = makeFuncExpr(F_UNNEST_ANYARRAY, original->funcresulttype, list_make1(list),
                                  original->funccollid, original->funccollid, COERCE_EXPLICIT_CALL);
  unnest->funcretset = true;
  unnest->location = original->location;
  return as<Node>(unnest);
}

// ---- Arrays --------------------------------------------------------------------------------

// The constant array whose elements a function gives; null if the function is another.
Const* constant_array(const RangeTblFunction* function) {
  const auto* call = as<FuncExpr>(function->funcexpr);
  if (!IsA(call, FuncExpr) || call->funcid != F_UNNEST_ANYARRAY) return nullptr;
  auto* array = static_cast<Const*>(linitial(call->args));
  return IsA(array, Const) && !array->constisnull ? array : nullptr;
}

// unnest() of several arrays gives as many rows as the longest has elements.
int count_rows(const List* arrays) {
  int rows = 0;
  for (const auto* array : each<const Const>(arrays)) rows = Max(rows, count_elements(array));
  return rows;
}

void check_size_of_arrays(const JudgedLevel* level, const List* arrays) {
  Size bytes = 0;
  for (const auto* array : each<const Const>(arrays)) {
    bytes += toast_raw_datum_size(array->constvalue);
  }
  const int rows = count_rows(arrays);
  constexpr int kColumns = 4;
  const bool has_few_values = rows <= kColumns * kMostListed / list_length(arrays);
  if (rows <= kMostListed && has_few_values && bytes <= kMostListedBytes) return;
  refuse_with_code(
      level->statement->refused, ERRCODE_PROGRAM_LIMIT_EXCEEDED, kNowhere,
      psprintf("a list that is joined with protected rows has more than %d rows of %d columns, or "
               "more than %d bytes",
               kMostListed, kColumns, static_cast<int>(kMostListedBytes)),
      kListHint);
}

// The elements of an array as constants, and NULL for those that it has less than others.
List* constants_of(const JudgedLevel* level, const Const* array, int count) {
  List* constants = elements_of_array(array);
  const Oid type = get_element_type(array->consttype);
  while (list_length(constants) < count)
    constants = lappend(constants, makeNullConst(type, -1, array->constcollid));
  for (const auto* constant : each<const Const>(constants)) {
    check_constant(level, constant, array->location);
  }
  return constants;
}

// VALUES with the same rows.
RangeTblEntry* rows_of_arrays(const JudgedLevel* level, const List* arrays,
                              JudgedEntry* described) {
  auto* rows = makeNode(RangeTblEntry);
  rows->rtekind = RTE_VALUES;
  const int count = count_rows(arrays);
  for (int i = 0; i < count; ++i) rows->values_lists = lappend(rows->values_lists, NIL);
  for (const auto* array : each<const Const>(arrays)) {
    rows->coltypes = lappend_oid(rows->coltypes, get_element_type(array->consttype));
    rows->colcollations = lappend_oid(rows->colcollations, array->constcollid);
    ListCell* row = list_head(rows->values_lists);
    for (auto* value : each<Const>(constants_of(level, array, count))) {
      described->may_have_nulls |= value->constisnull;
      lfirst(row) = lappend(static_cast<List*>(lfirst(row)), value);
      row = lnext(rows->values_lists, row);
    }
  }
  return rows;
}

// Returns whether FROM has unnest() of constant arrays: of several, or of one that is longer than
// a value may be.
bool describe_arrays(const JudgedLevel* level, const RangeTblEntry* entry, JudgedEntry* described) {
  List* arrays = NIL;
  for (const auto* function : each<const RangeTblFunction>(entry->functions)) {
    Const* array = constant_array(function);
    if (array == nullptr) return false;
    arrays = lappend(arrays, array);
  }
  if (list_length(arrays) == 1 && count_rows(arrays) <= kMaxElements) return false;
  check_size_of_arrays(level, arrays);
  for (const auto* function : each<const RangeTblFunction>(entry->functions)) {
    check_elements(level, as<FuncExpr>(function->funcexpr));
  }
  describe_rows(level, rows_of_arrays(level, arrays, described), described);
  return true;
}

void describe_function(JudgedLevel* level, const RangeTblEntry* entry, JudgedEntry* described) {
  if (entry->funcordinality || describe_arrays(level, entry, described)) return;
  if (list_length(entry->functions) != 1) return;
  auto* function = static_cast<RangeTblFunction*>(linitial(entry->functions));
  if (!IsA(function->funcexpr, FuncExpr)) return;
  const auto* original = as<FuncExpr>(function->funcexpr);
  Node* array = array_of(original);
  if (array == nullptr) return;
  if (reads_columns(array)) {
    refuse_list(level, function->funcexpr,
                "a list that is joined with protected rows depends on a column");
  }
  check_elements(level, original);
  check_outside(level, array, nullptr);
  described->most_rows = most_elements(array);
  function->funcexpr = early_list(level, original, array);
  described->distinct_columns = bms_make_singleton(1);
  described->hashed_columns = bms_make_singleton(1);
  described->may_have_nulls = true;
}

Oid type_of_column(const RangeTblEntry* list, int column) {
  if (list->rtekind == RTE_VALUES) return list_nth_oid(list->coltypes, column - 1);
  return exprType(static_cast<RangeTblFunction*>(list_nth(list->functions, column - 1))->funcexpr);
}

}  // namespace

bool is_list(const JudgedEntry& entry) {
  return entry.distinct_columns != nullptr || entry.values != nullptr;
}

void describe_list(JudgedLevel* level, int number) {
  RangeTblEntry* entry = pull_up_values(level, number);
  JudgedEntry* described = &entry_of(level, number);
  if (entry->rtekind == RTE_VALUES) describe_values(level, entry, described);
  if (entry->rtekind == RTE_FUNCTION) describe_function(level, entry, described);
}

bool chooses_row_of_list(const JudgedEntry& entry, const Bitmapset* columns) {
  if (bms_overlap(entry.distinct_columns, columns)) return true;
  if (entry.values == nullptr || entry.most_rows <= 1) return entry.most_rows == 1;
  const Bitmapset* compared = bms_intersect(entry.compared_columns, columns);
  return compared != nullptr && is_distinct(entry.values, compared);
}

int count_listed_groups(const JudgedLevel* level) {
  const Query* query = level->query;
  Bitmapset* lists = nullptr;
  for (auto* key : each<SortGroupClause>(query->groupClause)) {
    const Node* expression = get_sortgroupclause_expr(key, query->targetList);
    if (!IsA(expression, Var) || as<Var>(expression)->varlevelsup > 0) continue;
    const int number = static_cast<int>(as<Var>(expression)->varno);
    if (is_list(entry_of(level, number))) lists = bms_add_member(lists, number);
  }
  if (lists == nullptr) return 0;
  int64 groups = 1;
  int number = -1;
  while ((number = bms_next_member(lists, number)) >= 0) {
    groups = Min(groups * entry_of(level, number).most_rows, int64{PG_INT32_MAX});
  }
  return static_cast<int>(groups);
}

namespace {

// Those of the columns that are not NULL in a row.
Bitmapset* known_columns(const List* row, const Bitmapset* columns) {
  Bitmapset* known = nullptr;
  int column = -1;
  while ((column = bms_next_member(columns, column)) >= 0) {
    const auto* value = static_cast<Const*>(list_nth(row, column - 1));
    if (!value->constisnull) known = bms_add_member(known, column);
  }
  return known;
}

// Whether no two rows are the same in these columns, if NULL is the same as NULL: those with NULL
// in other columns are not.
bool is_distinct_with_nulls(const RangeTblEntry* entry, const Bitmapset* columns) {
  List* rows = list_copy(entry->values_lists);
  while (rows != NIL) {
    const Bitmapset* known = known_columns(static_cast<List*>(linitial(rows)), columns);
    RangeTblEntry alike = *entry;
    alike.values_lists = NIL;
    List* others = NIL;
    for (auto* row : each<List>(rows)) {
      List** to = bms_equal(known_columns(row, columns), known) ? &alike.values_lists : &others;
      *to = lappend(*to, row);
    }
    const bool are_distinct =
        known == nullptr ? list_length(alike.values_lists) == 1 : is_distinct(&alike, known);
    if (!are_distinct) return false;
    rows = others;
  }
  return true;
}

// The columns of the list that conditions say to be equal to expressions over the entries `known`.
Bitmapset* fixed_columns(const JudgedLevel* level, const List* conditions, int number,
                         const Bitmapset* known) {
  const RangeTblEntry* list = rt_fetch(number, level->query->rtable);
  const JudgedEntry& entry = entry_of(level, number);
  Bitmapset* fixed = nullptr;
  const Bitmapset* compared = bms_union(entry.distinct_columns, entry.compared_columns);
  int column = -1;
  while ((column = bms_next_member(compared, column)) >= 0) {
    const Oid family = equality_family(type_of_column(list, column));
    if (conditions_fix_column(conditions, number, known, static_cast<AttrNumber>(column), family)) {
      fixed = bms_add_member(fixed, column);
    }
  }
  return fixed;
}

// The conditions with = in the place of IS NOT DISTINCT FROM.
List* as_equalities(const List* conditions) {
  List* changed = NIL;
  for (auto* condition : each<Node>(conditions)) {
    Node* same = condition;
    if (is_notclause(condition) && IsA(get_notclausearg(condition), DistinctExpr)) {
      same = static_cast<Node*>(copyObjectImpl(get_notclausearg(condition)));
      same->type = T_OpExpr;
    }
    changed = lappend(changed, same);
  }
  return changed;
}

}  // namespace

bool fixes_row_of_list(const JudgedLevel* level, const List* conditions, int number,
                       const Bitmapset* known) {
  const JudgedEntry& entry = entry_of(level, number);
  Bitmapset* fixed = fixed_columns(level, conditions, number, known);
  if (chooses_row_of_list(entry, fixed)) return true;
  if (entry.values == nullptr || entry.most_rows > kMaxElements) return false;
  fixed = fixed_columns(level, as_equalities(conditions), number, known);
  return fixed != nullptr && is_distinct_with_nulls(entry.values, fixed);
}

namespace {

// The column of the list that a condition says is equal to an expression over other entries, by an
// = that can be hashed. 0 if there is none.
int column_compared(const JudgedLevel* level, Node* condition, int number,
                    const Bitmapset* columns) {
  const RangeTblEntry* list = rt_fetch(number, level->query->rtable);
  Bitmapset* others = bms_add_range(nullptr, 1, list_length(level->query->rtable));
  others = bms_del_member(others, number);
  int column = -1;
  while ((column = bms_next_member(columns, column)) >= 0) {
    const Oid family = equality_family(type_of_column(list, column));
    if (conditions_fix_column(list_make1(condition), number, others,
                              static_cast<AttrNumber>(column), family)) {
      return column;
    }
  }
  return 0;
}

}  // namespace

bool hash_finds_row_of_list(const JudgedLevel* level, const List* conditions, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  if (list_length(conditions) == 1) {
    auto* only = static_cast<Node*>(linitial(conditions));
    if (column_compared(level, only, number, entry.hashed_columns) > 0) return true;
  }
  Bitmapset* compared = nullptr;
  for (auto* condition : each<Node>(conditions)) {
    const int column = column_compared(level, condition, number, entry.compared_columns);
    if (column == 0 || bms_is_member(column, compared)) return false;
    const auto* equality = as<OpExpr>(condition);
    if (!op_hashjoinable(equality->opno, exprType(static_cast<Node*>(linitial(equality->args))))) {
      return false;
    }
    compared = bms_add_member(compared, column);
  }
  return compared != nullptr && is_spread_by_hash(entry.values, compared);
}

}  // namespace dpquantile
