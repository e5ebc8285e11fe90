#include "pg/release/release_columns.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

bool is_group_key(const PlannerInfo* root, Index reference) {
  return reference != 0 &&
         get_sortgroupref_clause_noerr(reference, root->parse->groupClause) != nullptr;
}

bool is_leaf(const Node* expression) {
  return IsA(expression, Var) || IsA(expression, PlaceHolderVar) || IsA(expression, Aggref) ||
         IsA(expression, GroupingFunc);
}

// Adds the columns from which expressions can be computed. It does not look into a group key:
// what a key is computed from need not be known above the groups.
void add_columns_of(const List* expressions, PathTarget* target) {
  (void)search(expressions, [&](Node* node) {
    if (list_member(target->exprs, node)) return Look::kPast;
    if (!is_leaf(node)) return Look::kBelow;
    add_column_to_pathtarget(target, as<Expr>(node), 0);
    return Look::kPast;
  });
}

// GROUPING() of equal keys is not the same.
ReleaseColumns flat_columns(const GroupingLevel& level) {
  PathTarget* flat = create_empty_pathtarget();
  const PathTarget* target = level.groups->reltarget;
  List* rest = NIL;
  ListCell* cell;
  foreach (cell, target->exprs) {
    auto* expression = static_cast<Expr*>(lfirst(cell));
    const Index reference = get_pathtarget_sortgroupref(target, foreach_current_index(cell));
    if (is_group_key(level.root, reference)) {
      add_column_to_pathtarget(flat, expression, reference);
    } else if (IsA(expression, GroupingFunc)) {
      add_column_to_pathtarget(flat, expression, 0);
    } else if (IsA(expression, Aggref)) {
      add_new_column_to_pathtarget(flat, expression);
    } else {
      rest = lappend(rest, expression);
    }
  }
  const bool begin_with_target = list_length(flat->exprs) == list_length(target->exprs);
  rest = lappend(rest, level.having);
  add_columns_of(rest, flat);
  return {flat, begin_with_target, NIL, NIL};
}

// Keys are found by their references: two keys may be equal expressions.
int column_of_key(const PathTarget* columns, Index reference) {
  for (int i = 0; i < list_length(columns->exprs); ++i) {
    if (get_pathtarget_sortgroupref(columns, i) == reference) return i + 1;
  }
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a group key has no column")));
}

Expr* grouping_of(Expr* key, Index reference) {
  GroupingFunc* grouping = makeNode(GroupingFunc);
  grouping->args = list_make1(key);
  grouping->refs = list_make1_int(static_cast<int>(reference));
  grouping->location = -1;
  return as<Expr>(grouping);
}

void add_grouping_of_key(ReleaseColumns* columns, Index reference) {
  const int key = column_of_key(columns->target, reference);
  auto* expression = static_cast<Expr*>(list_nth(columns->target->exprs, key - 1));
  add_column_to_pathtarget(columns->target, grouping_of(expression, reference), 0);
  columns->grouping_of_keys =
      lappend_int(columns->grouping_of_keys, list_length(columns->target->exprs));
}

bool has_grouping_function(const List* expressions) {
  return any_node(expressions, [](const Node* node) { return IsA(node, GroupingFunc); });
}

bool has_equal_keys(const ReleaseColumns& columns) {
  List* seen = NIL;
  for (const int number : each_int(columns.keys)) {
    void* key = list_nth(columns.target->exprs, number - 1);
    if (list_member(seen, key)) return true;
    seen = lappend(seen, key);
  }
  return false;
}

// Before PostgreSQL 18 the planner takes GROUPING() of one key for that of another if the keys are
// equal expressions. A node that returns its columns as they are does not ask it.
void require_clear_grouping(const GroupingLevel& level, const ReleaseColumns& columns) {
  if (level.root->parse->groupingSets == NIL || !has_equal_keys(columns)) return;
  const List* target = level.groups->reltarget->exprs;
  const bool confused = has_grouping_function(level.having) ||
                        (!columns.begin_with_target && has_grouping_function(target));
  if (!confused) return;
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("GROUPING() cannot tell two keys apart that are the same expression"),
           errhint("Use GROUPING() only by itself in the SELECT list, and compute with it in "
                   "a query around this one.")));
}

void require_columns_fit(const PathTarget* columns) {
  const int count = list_length(columns->exprs);
  if (count <= MaxTupleAttributeNumber) return;
  ereport(ERROR, (errcode(ERRCODE_TOO_MANY_COLUMNS),
                  errmsg("the groups of private answers can have at most %d columns, got %d",
                         MaxTupleAttributeNumber, count),
                  errdetail("With GROUPING SETS, each key takes two columns."),
                  errhint("Group by fewer keys.")));
}

}  // namespace

ReleaseColumns release_columns(const GroupingLevel& level) {
  ReleaseColumns columns = flat_columns(level);
  for (auto* key : each<SortGroupClause>(DPQ_GROUP_CLAUSE(level.root))) {
    const Index reference = key->tleSortGroupRef;
    columns.keys = lappend_int(columns.keys, column_of_key(columns.target, reference));
    if (level.root->parse->groupingSets != NIL) add_grouping_of_key(&columns, reference);
  }
  require_clear_grouping(level, columns);
  require_columns_fit(columns.target);
  set_pathtarget_cost_width(level.root, columns.target);
  return columns;
}

}  // namespace dpquantile
