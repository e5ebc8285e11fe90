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

namespace {

// One of the first two labels of an enum, or its only one.
const char* made_up_label(Oid type, bool is_second) {
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  const int number = is_second && labels->n_members > 1 ? 1 : 0;
  const char* label = nullptr;
  if (labels->n_members > 0) {
    const auto* entry = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&labels->members[number]->tuple));
    label = pstrdup(NameStr(entry->enumlabel));
  }
  ReleaseSysCacheList(labels);
  return label;
}

}  // namespace

const char* made_up_text(Oid type, bool is_second) {
  if (type_is_enum(type)) return made_up_label(type, is_second);
  if (type >= FirstNormalObjectId) return nullptr;
  if (type == TIMEOID || type == TIMETZOID) return is_second ? "01:00" : "00:00";
  if (type == UUIDOID) {
    return is_second ? "00000000-0000-0000-0000-000000000001"
                     : "00000000-0000-0000-0000-000000000000";
  }
  char category;
  bool is_preferred;
  get_type_category_preferred(type, &category, &is_preferred);
  switch (category) {
    case TYPCATEGORY_NUMERIC:
      return is_second ? "1" : "0";
    case TYPCATEGORY_STRING:
      return is_second ? "b" : "a";
    case TYPCATEGORY_DATETIME:
      return is_second ? "2001-01-01" : "2000-01-01";
    case TYPCATEGORY_TIMESPAN:
      return is_second ? "2 days" : "1 day";
    case TYPCATEGORY_BOOLEAN:
      return is_second ? "true" : "false";
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

Node* made_up(const RangeTblEntry* table, int column, bool is_second) {
  const Oid type = list_nth_oid(table->coltypes, column);
  Const* made = null_of(table, column);
  const char* text = made_up_text(type, is_second);
  if (text == nullptr) return as<Node>(made);
  Oid input;
  Oid element;
  getTypeInputInfo(type, &input, &element);
  made->constvalue = OidInputFunctionCall(input, pstrdup(text), element, -1);
  made->constisnull = false;
  return as<Node>(made);
}

// Rows that differ in all keys taken together, and in no fewer columns; and one with NULLs, so that
// nothing is left out because the others are none of its values. Public rows are looked at when
// they are there.
List* made_up_rows(const RangeTblEntry* table, const Stage* stage) {
  List* rows = list_make1(row_of_nulls(table));
  if (stage->has_one_row || stage->is_public) return rows;
  for (int other = 0; other <= list_length(stage->keys); ++other) {
    const int changed = other == 0 ? 0 : list_nth_int(stage->keys, other - 1);
    List* row = NIL;
    for (int i = 1; i <= list_length(table->coltypes); ++i) {
      row = lappend(row, made_up(table, i - 1, i == changed));
    }
    rows = lappend(rows, row);
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
