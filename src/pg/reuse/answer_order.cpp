#include "pg/reuse/answer_order.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
}

namespace dpquantile {

namespace {

// ---- References ----------------------------------------------------------------------------

constexpr Index kUnnumbered = ~Index{0};

Index count_references(const List* columns) {
  Index most = 0;
  for (const auto* entry : each<const TargetEntry>(columns)) {
    most = Max(most, entry->ressortgroupref);
  }
  return most + 1;
}

void mark(const List* clauses, Index* numbers) {
  for (const auto* key : each<const SortGroupClause>(clauses)) {
    numbers[key->tleSortGroupRef] = kUnnumbered;
  }
}

void number_marked(const List* columns, Index* numbers, Index* last) {
  for (const auto* entry : each<const TargetEntry>(columns)) {
    Index* number = &numbers[entry->ressortgroupref];
    if (*number == kUnnumbered) *number = ++*last;
  }
}

// What the other clauses refer to, as far as it has no number.
void mark_others(const Query* query, Index* numbers) {
  const Index count = count_references(query->targetList);
  auto* others = static_cast<Index*>(palloc0(count * sizeof(Index)));
  mark(query->distinctClause, others);
  for (const auto* window : each<const WindowClause>(query->windowClause)) {
    mark(window->partitionClause, others);
    mark(window->orderClause, others);
  }
  for (Index i = 0; i < count; ++i) {
    if (numbers[i] == 0) numbers[i] = others[i];
  }
  pfree(others);
}

// ---- Clauses -------------------------------------------------------------------------------

void renumber_clauses(List* clauses, const ReferenceNumbers& numbers) {
  for (auto* clause : each<SortGroupClause>(clauses)) {
    clause->tleSortGroupRef = number_of(numbers, clause->tleSortGroupRef);
  }
}

// GROUPING() of a key, and the keys of a grouping set
void renumber_list(List* references, const ReferenceNumbers& numbers) {
  ListCell* cell;
  foreach (cell, references) {
    lfirst_int(cell) = static_cast<int>(number_of(numbers, static_cast<Index>(lfirst_int(cell))));
  }
}

void renumber_sets(List* sets, const ReferenceNumbers& numbers) {
  for (auto* set : each<GroupingSet>(sets)) {
    if (set->kind == GROUPING_SET_SIMPLE) {
      renumber_list(set->content, numbers);
    } else {
      renumber_sets(set->content, numbers);
    }
  }
}

struct Renumbering {
  const ReferenceNumbers* numbers;
  Index levels_up;
};

// For expression_tree_walker() and query_tree_walker(). `context` is a Renumbering*.
bool renumber_functions(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* renumbering = static_cast<Renumbering*>(context);
  if (IsA(node, GroupingFunc)) {
    auto* function = as<GroupingFunc>(node);
    if (function->agglevelsup == renumbering->levels_up) {
      renumber_list(function->refs, *renumbering->numbers);
    }
  }
  if (IsA(node, Query)) {
    Renumbering below = {renumbering->numbers, renumbering->levels_up + 1};
    return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(renumber_functions), &below, 0);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(renumber_functions), context);
}

int compare_references(const ListCell* one, const ListCell* other) {
  const Index first = static_cast<const SortGroupClause*>(lfirst(one))->tleSortGroupRef;
  const Index second = static_cast<const SortGroupClause*>(lfirst(other))->tleSortGroupRef;
  return first < second ? -1 : first > second ? 1 : 0;
}

// Which values are equal counts, how they are sorted does not.
List* unordered(const List* clauses) {
  List* kept = NIL;
  for (const auto* clause : each<const SortGroupClause>(clauses)) {
    SortGroupClause* equality = makeNode(SortGroupClause);
    equality->tleSortGroupRef = clause->tleSortGroupRef;
    equality->eqop = clause->eqop;
    equality->hashable = clause->hashable;
    kept = lappend(kept, equality);
  }
  list_sort(kept, compare_references);
  return kept;
}

// ---- Columns -------------------------------------------------------------------------------

// For expression_tree_walker(). Collects the aggregates of a level. `context` is a List**.
bool collect_aggregates(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Aggref) && as<Aggref>(node)->agglevelsup == 0) {
    auto** aggregates = static_cast<List**>(context);
    *aggregates = lappend(*aggregates, node);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(collect_aggregates), context);
}

// For expression_tree_walker(). Whether there is an aggregate besides these (const List*).
bool has_other_aggregate(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Aggref) && as<Aggref>(node)->agglevelsup == 0) {
    return !list_member(static_cast<const List*>(context), node);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(has_other_aggregate), context);
}

List* aggregates_shown(const Query* query) {
  List* shown = NIL;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    (void)collect_aggregates(as<Node>(column->expr), &shown);
  }
  return shown;
}

// The columns without those that are there to be sorted by, and need no aggregate besides `shown`.
List* columns_without_order(const Query* query, const ReferenceNumbers& numbers, List* shown) {
  List* columns = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    column->ressortgroupref = number_of(numbers, column->ressortgroupref);
    const bool only_orders = column->resjunk && column->ressortgroupref == 0 &&
                             !has_other_aggregate(as<Node>(column->expr), shown);
    if (only_orders) continue;
    columns = lappend(columns, column);
    column->resno = static_cast<AttrNumber>(list_length(columns));
  }
  return columns;
}

}  // namespace

ReferenceNumbers number_references(const Query* query) {
  const Index count = count_references(query->targetList);
  auto* numbers = static_cast<Index*>(palloc0(count * sizeof(Index)));
  Index last = 0;
  mark(query->groupClause, numbers);
  number_marked(query->targetList, numbers, &last);
  mark_others(query, numbers);
  number_marked(query->targetList, numbers, &last);
  return {count, numbers};
}

void forget_order(Query* query, bool shows_all_columns) {
  DPQ_RESOLVE_GROUP_KEYS(query);
  for (auto* table : each<RangeTblEntry>(query->rtable)) DPQ_FORGET_GROUP_ENTRY(table);
  const ReferenceNumbers numbers = number_references(query);
  query->sortClause = NIL;
  query->limitOffset = nullptr;
  query->limitCount = nullptr;
  query->limitOption = LIMIT_OPTION_COUNT;
  query->targetList =
      columns_without_order(query, numbers, shows_all_columns ? aggregates_shown(query) : NIL);
  renumber_clauses(query->groupClause, numbers);
  renumber_clauses(query->distinctClause, numbers);
  for (const auto* window : each<const WindowClause>(query->windowClause)) {
    renumber_clauses(window->partitionClause, numbers);
    renumber_clauses(window->orderClause, numbers);
  }
  renumber_sets(query->groupingSets, numbers);
  Renumbering renumbering = {&numbers, 0};
  (void)renumber_functions(as<Node>(query->targetList), &renumbering);
  (void)renumber_functions(query->havingQual, &renumbering);
  query->groupClause = unordered(query->groupClause);
  // DISTINCT ON shows the first row in some order.
  if (!query->hasDistinctOn) query->distinctClause = unordered(query->distinctClause);
}

}  // namespace dpquantile
