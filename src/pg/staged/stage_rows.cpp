#include "pg/staged/stage_rows.hpp"

#include "pg/server/nodes.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
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

const char* made_up_label(Oid type, int number) {
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  const char* label = nullptr;
  if (labels->n_members > 0) {
    auto* tuple = &labels->members[number % labels->n_members]->tuple;
    label = pstrdup(NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->enumlabel));
  }
  ReleaseSysCacheList(labels);
  return label;
}

}  // namespace

const char* made_up_text(Oid type, int number) {
  if (type_is_enum(type)) return made_up_label(type, number);
  if (type >= FirstNormalObjectId) return nullptr;
  if (type == TIMEOID || type == TIMETZOID) {
    return psprintf("00:%02d:%02d", number / 60, number % 60);
  }
  if (type == UUIDOID) return psprintf("00000000-0000-0000-0000-%012d", number);
  char category;
  bool is_preferred;
  get_type_category_preferred(type, &category, &is_preferred);
  switch (category) {
    case TYPCATEGORY_NUMERIC:
      return psprintf("%d", number);
    case TYPCATEGORY_STRING:
      return psprintf("a%d", number);
    case TYPCATEGORY_DATETIME:
      return psprintf("%d-01-01", 2000 + number);
    case TYPCATEGORY_TIMESPAN:
      return psprintf("%d days", number);
    case TYPCATEGORY_BOOLEAN:
      return number % 2 == 0 ? "false" : "true";
    default:
      return nullptr;
  }
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
  const Oid type = list_nth_oid(table->coltypes, column);
  Const* made = null_of(table, column);
  const char* text = made_up_text(type, number);
  if (text == nullptr) return as<Node>(made);
  Oid input;
  Oid element;
  getTypeInputInfo(type, &input, &element);
  made->constvalue = OidInputFunctionCall(input, pstrdup(text), element, -1);
  made->constisnull = false;
  return as<Node>(made);
}

// Each column has its first value, and this one (counted from 1) that of this number.
List* made_up_row(const RangeTblEntry* table, int column, int number) {
  List* row = NIL;
  for (int i = 1; i <= list_length(table->coltypes); ++i) {
    row = lappend(row, made_up(table, i - 1, i == column ? number : 0));
  }
  return row;
}

bool has_many_values(Oid type) {
  return !type_is_enum(type) && type != BOOLOID && made_up_text(type, 0) != nullptr;
}

// A key of which each row may have a value of its own, or 0. Without one there are few rows.
int key_of_many_rows(const RangeTblEntry* table, const Stage* stage) {
  for (const int key : each_int(stage->keys)) {
    if (has_many_values(list_nth_oid(table->coltypes, key - 1))) return key;
  }
  return 0;
}

// As many rows as may come, which differ in all keys taken together, and in no fewer columns; and
// one with NULLs, so that nothing is left out because the others are none of its values. Public
// rows are looked at when they are there.
List* made_up_rows(const RangeTblEntry* table, const Stage* stage) {
  List* rows = list_make1(row_of_nulls(table));
  if (stage->most_rows == 1 || stage->is_public) return rows;
  rows = lappend(rows, made_up_row(table, 0, 0));
  for (const int key : each_int(stage->keys)) rows = lappend(rows, made_up_row(table, key, 1));
  const int key = key_of_many_rows(table, stage);
  const int most = key == 0 ? 0 : stage->most_rows;
  for (int number = 2; list_length(rows) < most; ++number) {
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

Query* with_rows(const StagedQuery* staged, const Query* query, const List* rows) {
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
