#include "pg/protect/copied_persons.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/key_comparison.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/makefuncs.h"
}

namespace dpquantile {

namespace {

// A join of two parts of FROM.
struct Join {
  const Level* level;
  const Bitmapset* left;
  const Bitmapset* right;
  const List* conditions;  // without which there is no joined row
  const Node* parts[2];    // what is joined
};

AttrNumber user_column_of(Oid table) {
  const ProtectedRelation* protection = find_protected_relation(table);
  return protection == nullptr ? InvalidAttrNumber : protection->user_column;
}

// The number of the column of a reference that copies the person; -1 if none does.
int copy_in(const Reference& reference) {
  const AttrNumber own = user_column_of(reference.relation);
  const AttrNumber key = user_column_of(reference.referenced);
  for (int i = 0; i < reference.columns; ++i) {
    if (reference.own[i] == own && reference.key[i] == key) return i;
  }
  return -1;
}

// Whether the conditions choose the row that the reference refers to, without the persons.
bool follows(const Join& join, const Reference& reference, const KeyComparison& rows, int copy) {
  List* comparisons = NIL;
  for (int i = 0; i < reference.columns; ++i) {
    Node* comparison = comparison_of_key(join.level, reference, i, rows, join.conditions);
    if (comparison == nullptr) continue;
    if (i == copy) return false;
    comparisons = lappend(comparisons, comparison);
  }
  return OidIsValid(index_that_fixes_row(comparisons, reference.referenced, rows.key.entry,
                                         bms_make_singleton(rows.own.entry)));
}

// Null if the entry does not show the column.
Node* column_of(const Join& join, int entry, const ColumnOrigin& origin) {
  Node* column = show_column(join.level, entry, origin);
  if (column == nullptr) return nullptr;
  DPQ_SET_NULLING_JOINS(as<Var>(column), bms_union(nulling_joins(join.parts[0], entry),
                                                   nulling_joins(join.parts[1], entry)));
  return column;
}

// Null if the entries do not show the persons.
Node* comparison_of_persons(const Join& join, const Reference& reference, const KeyComparison& rows,
                            int copy) {
  Node* key = column_of(join, rows.key.entry, {reference.referenced, reference.key[copy]});
  Node* own = column_of(join, rows.own.entry, {reference.relation, reference.own[copy]});
  if (key == nullptr || own == nullptr) return nullptr;
  return equality_of(reference.equality[copy], key, own);
}

bool is_between(const Join& join, const KeyComparison& rows) {
  return (bms_is_member(rows.key.entry, join.left) && bms_is_member(rows.own.entry, join.right)) ||
         (bms_is_member(rows.own.entry, join.left) && bms_is_member(rows.key.entry, join.right));
}

// The comparison of persons that a comparison of keys implies; null if it implies none, or another
// condition says it.
Node* implied_by(const Join& join, const KeyComparison& comparison) {
  if (!is_between(join, comparison)) return nullptr;
  const List* references =
      references_between(comparison.own.origin.relation, comparison.key.origin.relation);
  for (const auto* reference : each<const Reference>(references)) {
    const int copy = copy_in(*reference);
    if (copy < 0 || !reference->is_checked || !follows(join, *reference, comparison, copy))
      continue;
    return comparison_of_persons(join, *reference, comparison, copy);
  }
  return nullptr;
}

void complete(const Join& join, Node** condition) {
  for (const auto* term : each<const Node>(join.conditions)) {
    const KeyComparison comparison = comparison_in(join.level, term);
    if (!OidIsValid(comparison.operation)) continue;
    Node* implied = implied_by(join, comparison);
    if (implied == nullptr) implied = implied_by(join, turned(comparison));
    if (implied == nullptr) continue;
    *condition =
        *condition == nullptr ? implied : as<Node>(make_andclause(list_make2(*condition, implied)));
    return;
  }
}

// ---- FROM ----------------------------------------------------------------------------------

// Returns the entries of a part of FROM. `where`: the conditions of WHERE that hold for its rows.
const Bitmapset* complete_part(const Level* level, Node* part, const List* where) {
  if (IsA(part, RangeTblRef)) return bms_make_singleton(as<RangeTblRef>(part)->rtindex);
  if (!IsA(part, JoinExpr)) return nullptr;
  auto* join = as<JoinExpr>(part);
  const List* below = join->jointype == JOIN_INNER ? where : NIL;
  const Bitmapset* left = complete_part(level, join->larg, below);
  const Bitmapset* right = complete_part(level, join->rarg, below);
  const List* conditions = list_concat_copy(terms_of(join->quals), below);
  complete({level, left, right, conditions, {join->larg, join->rarg}}, &join->quals);
  return bms_union(left, right);
}

void complete_from(const Level* level, FromExpr* from) {
  const List* where = terms_of(from->quals);
  Bitmapset* before = nullptr;
  for (auto* part : each<Node>(from->fromlist)) {
    const Bitmapset* entries = complete_part(level, part, where);
    complete({level, before, entries, where, {as<Node>(from), nullptr}}, &from->quals);
    before = bms_add_members(before, entries);
  }
}

}  // namespace

void compare_copied_persons(const Level* level) {
  if (list_length(level->borrowed_rows) > 1) complete_from(level, level->query->jointree);
  for (const auto* below : each<const Level>(level->below)) compare_copied_persons(below);
}

}  // namespace dpquantile
