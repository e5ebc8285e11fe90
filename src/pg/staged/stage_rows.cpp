#include "pg/staged/stage_rows.hpp"

#include "pg/borrowed/made_up_values.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
}

namespace dpquantile {

void limit_rows(Stage* stage, std::optional<int> shown) {
  if (!shown) return;
  stage->most_rows = Min(stage->most_rows, *shown);
  if (*shown <= kMostStageRows) return;
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("a subquery beside protected rows may give more than %d rows", kMostStageRows),
           errdetail("It may give a row for each of its public keys."),
           errhint("%sAdd ORDER BY and LIMIT %d to the subquery, or to its WHERE a condition on "
                   "the keys.",
                   charge_of_refused_call(), kMostStageRows)));
}

namespace {

// The number of the first parameter in VALUES, or 0.
int first_parameter(const RangeTblEntry* entry) {
  if (entry->rtekind != RTE_VALUES) return 0;
  const auto* value =
      static_cast<Param*>(linitial(static_cast<List*>(linitial(entry->values_lists))));
  return IsA(value, Param) && value->paramkind == PARAM_EXTERN ? value->paramid : 0;
}

Const* null_of(const RangeTblEntry* table, int column) {
  return makeNullConst(list_nth_oid(table->coltypes, column),
                       list_nth_int(table->coltypmods, column),
                       list_nth_oid(table->colcollations, column));
}

// VALUES have a row at least.
List* row_of_nulls(const RangeTblEntry* table) {
  List* row = NIL;
  for (int i = 0; i < list_length(table->coltypes); ++i) row = lappend(row, null_of(table, i));
  return row;
}

Node* made_up(const RangeTblEntry* table, int column, int number) {
  return as<Node>(made_up_value(list_nth_oid(table->coltypes, column),
                                list_nth_int(table->coltypmods, column),
                                list_nth_oid(table->colcollations, column), number));
}

// Each column has its first value, and this one (counted from 1) that of this number.
List* made_up_row(const RangeTblEntry* table, int column, int number) {
  List* row = NIL;
  for (int i = 1; i <= list_length(table->coltypes); ++i) {
    row = lappend(row, made_up(table, i - 1, i == column ? number : 0));
  }
  return row;
}

// A key of which each row may have a value of its own, or 0. Without one there are few rows.
int key_of_many_rows(const RangeTblEntry* table, const Stage* stage) {
  for (const int key : each_int(stage->keys)) {
    const Oid type = list_nth_oid(table->coltypes, key - 1);
    if (count_made_up_values(type, kMostStageRows) == kMostStageRows) return key;
  }
  return 0;
}

// A row for each combination of values of keys that have few, and of NULL.
List* rows_of_few_values(const RangeTblEntry* table, const Stage* stage) {
  List* rows = list_make1(made_up_row(table, 0, 0));
  for (const int key : each_int(stage->keys)) {
    const int values = count_made_up_values(list_nth_oid(table->coltypes, key - 1), kMostStageRows);
    List* others = NIL;
    for (const auto* row : each<const List>(rows)) {
      for (int number = 1;
           number <= values && list_length(rows) + list_length(others) < stage->most_rows;
           ++number) {
        List* other = list_copy(row);
        lfirst(list_nth_cell(other, key - 1)) =
            number < values ? made_up(table, key - 1, number) : as<Node>(null_of(table, key - 1));
        others = lappend(others, other);
      }
    }
    rows = list_concat(rows, others);
  }
  return rows;
}

// As many rows as may come, which differ in all keys taken together, and in no fewer columns; and
// one with NULLs, so that nothing is left out because the others are none of its values. Public
// rows are looked at when they are there.
List* made_up_rows(const RangeTblEntry* table, const Stage* stage) {
  List* rows = list_make1(row_of_nulls(table));
  if (stage->most_rows == 1 || stage->is_public) return rows;
  const int key = key_of_many_rows(table, stage);
  if (key == 0) return list_concat(rows, rows_of_few_values(table, stage));
  rows = lappend(rows, made_up_row(table, 0, 0));
  for (const int other : each_int(stage->keys)) rows = lappend(rows, made_up_row(table, other, 1));
  for (int number = 2; list_length(rows) < stage->most_rows; ++number) {
    rows = lappend(rows, made_up_row(table, key, number));
  }
  return rows;
}

const Stage* stage_with(const StagedQuery* staged, int parameter) {
  for (const auto* stage : each<const Stage>(staged->stages)) {
    if (stage->place == StagePlace::kTable && stage->parameter + 1 == parameter) return stage;
  }
  return nullptr;
}

int index_of(const StagedQuery* staged, const Stage* stage) {
  int index = 0;
  for (const auto* other : each<const Stage>(staged->stages)) {
    if (other == stage) break;
    ++index;
  }
  return index;
}

}  // namespace

Query* with_rows(const StagedQuery* staged, const Query* query, const List* rows, StageRows* kind) {
  *kind = rows_in_stages() == StageRows::kMadeUp ? StageRows::kMadeUp : StageRows::kKnown;
  auto* copy = static_cast<Query*>(copyObjectImpl(query));
  visit_nodes(
      copy,
      [=](Node* node) {
        if (!IsA(node, RangeTblEntry)) return;
        auto* table = as<RangeTblEntry>(node);
        const int parameter = first_parameter(table);
        const Stage* stage = parameter == 0 ? nullptr : stage_with(staged, parameter);
        if (stage == nullptr) return;
        const int index = index_of(staged, stage);
        const bool is_known = index < list_length(rows);
        if (!is_known) *kind = StageRows::kMadeUp;
        List* found =
            is_known ? static_cast<List*>(list_nth(rows, index)) : made_up_rows(table, stage);
        table->values_lists = found == NIL ? list_make1(row_of_nulls(table)) : found;
      },
      kIntoQueries | QTW_EXAMINE_RTES_BEFORE);
  return copy;
}

ParamListInfo null_parameters(const StagedQuery* staged) {
  int count = staged->own_parameters;
  for (const auto* stage : each<const Stage>(staged->stages)) {
    count = Max(count, stage->parameter);
  }
  ParamListInfo parameters = makeParamList(count);
  for (int i = 0; i < count; ++i) parameters->params[i] = {0, true, 0, InvalidOid};
  for (const auto* stage : each<const Stage>(staged->stages)) {
    parameters->params[stage->parameter - 1].ptype = stage->type;
  }
  return parameters;
}

}  // namespace dpquantile
