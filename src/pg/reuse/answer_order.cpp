#include "pg/reuse/answer_order.hpp"

#include "pg/server/trees.hpp"

extern "C" {
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

void renumber_functions(Node* node, const ReferenceNumbers& numbers, Index levels_up) {
  if (IsA(node, GroupingFunc) && as<GroupingFunc>(node)->agglevelsup == levels_up) {
    renumber_list(as<GroupingFunc>(node)->refs, numbers);
  }
  const Index levels_below = levels_up + (IsA(node, Query) ? 1 : 0);
  (void)any_child(
      node,
      [&](Node* below) {
        renumber_functions(below, numbers, levels_below);
        return false;
      },
      kIntoQueries);
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

bool is_aggregate(const Node* node) {
  return IsA(node, Aggref) && as<Aggref>(node)->agglevelsup == 0;
}

// Whether there is an aggregate besides these.
bool has_other_aggregate(const Expr* expression, const List* aggregates) {
  return search(expression, [=](const Node* node) {
    if (!is_aggregate(node)) return Look::kBelow;
    return list_member(aggregates, node) ? Look::kPast : Look::kFound;
  });
}

List* aggregates_shown(const Query* query) {
  List* shown = NIL;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) continue;
    visit_nodes(column->expr, [&](Node* node) {
      if (is_aggregate(node)) shown = lappend(shown, node);
    });
  }
  return shown;
}

// The columns without those that are there to be sorted by, and need no aggregate besides `shown`.
List* columns_without_order(const Query* query, const ReferenceNumbers& numbers, List* shown) {
  List* columns = NIL;
  for (auto* column : each<TargetEntry>(query->targetList)) {
    column->ressortgroupref = number_of(numbers, column->ressortgroupref);
    const bool only_orders = column->resjunk && column->ressortgroupref == 0 &&
                             !has_other_aggregate(column->expr, shown);
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
  for (auto* column : each<Node>(query->targetList)) renumber_functions(column, numbers, 0);
  if (query->havingQual != nullptr) renumber_functions(query->havingQual, numbers, 0);
  query->groupClause = unordered(query->groupClause);
  // DISTINCT ON shows the first row in some order.
  if (!query->hasDistinctOn) query->distinctClause = unordered(query->distinctClause);
}

}  // namespace dpquantile
