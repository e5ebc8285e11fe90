#include "pg/protect/reference_rule.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/query/column.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A column of a table that an entry of FROM shows, also through derived tables and CTEs.
struct ShownColumn {
  int entry;  // 0 if an expression is none
  ColumnOrigin origin;
};

// What a condition compares, the row that is referred to first.
struct Comparison {
  Oid operation;
  Oid collation;
  ShownColumn key;
  ShownColumn own;
};

// Of a pair of entries: that of the rows that are referred to, and that of those that refer.
struct Entries {
  int referenced;
  int referring;
};

ShownColumn column_behind(const JudgedLevel* level, const Node* expression) {
  while (IsA(expression, RelabelType)) {
    expression = as<Node>(as<RelabelType>(expression)->arg);
  }
  const auto origin = origin_of(level->read, expression);
  if (!origin || as<Var>(expression)->varlevelsup > 0) return {};
  const Node* merged = merged_column(level->query, as<Var>(expression));
  if (merged != nullptr) return column_behind(level, merged);
  return {static_cast<int>(as<Var>(expression)->varno), *origin};
}

Comparison turned(const Comparison& comparison) {
  return {get_commutator(comparison.operation), comparison.collation, comparison.own,
          comparison.key};
}

// `operation` is invalid if the condition is none.
Comparison comparison_in(const JudgedLevel* level, const Node* condition) {
  if (!IsA(condition, OpExpr) || list_length(as<OpExpr>(condition)->args) != 2) return {};
  const auto* compared = as<OpExpr>(condition);
  const Comparison comparison = {
      compared->opno, compared->inputcollid,
      column_behind(level, static_cast<const Node*>(linitial(compared->args))),
      column_behind(level, static_cast<const Node*>(lsecond(compared->args)))};
  return comparison.key.entry == 0 || comparison.own.entry == 0 ? Comparison{} : comparison;
}

// The reference by which a table is protected through the other one, or null.
const Reference* reference_between(Oid table, Oid other) {
  const ProtectedRelation* protection = find_protected_relation(table);
  if (protection == nullptr || !OidIsValid(other) || protection->through != other) return nullptr;
  const char* problem = nullptr;
  return find_reference(table, protection->reference_column, other, &problem);
}

bool is_of_reference(const Comparison& comparison, const Reference& reference, int column,
                     const Entries& entries) {
  return comparison.operation == reference.equality[column] &&
         comparison.key.entry == entries.referenced && comparison.own.entry == entries.referring &&
         comparison.key.origin.relation == reference.referenced &&
         comparison.own.origin.relation == reference.relation &&
         comparison.key.origin.column == reference.key[column] &&
         comparison.own.origin.column == reference.own[column];
}

// The comparison as a condition on the table itself.
Node* condition_on_table(const Comparison& comparison) {
  const auto column = [](const ShownColumn& shown) {
    Oid type;
    int32 modifier;
    Oid collation;
    get_atttypetypmodcoll(shown.origin.relation, shown.origin.column, &type, &modifier, &collation);
    return as<Expr>(makeVar(shown.entry, shown.origin.column, type, modifier, collation, 0));
  };
  return as<Node>(make_opclause(comparison.operation, BOOLOID, false, column(comparison.key),
                                column(comparison.own), InvalidOid, comparison.collation));
}

// Null if none of the conditions compares this column of the reference.
Node* condition_on_column(const JudgedLevel* level, const Reference& reference, int column,
                          const Entries& entries, const List* conditions) {
  for (const auto* condition : each<const Node>(conditions)) {
    const Comparison comparison = comparison_in(level, condition);
    if (!OidIsValid(comparison.operation)) continue;
    for (const Comparison& one : {comparison, turned(comparison)}) {
      if (is_of_reference(one, reference, column, entries)) return condition_on_table(one);
    }
  }
  return nullptr;
}

// Whether the conditions compare all columns of the reference, and so choose one row.
bool follows(const JudgedLevel* level, const Reference& reference, const Entries& entries,
             const List* conditions) {
  List* on_table = NIL;
  for (int i = 0; i < reference.columns; ++i) {
    Node* condition = condition_on_column(level, reference, i, entries, conditions);
    if (condition == nullptr) return false;
    on_table = lappend(on_table, condition);
  }
  const Bitmapset* known = bms_make_singleton(entries.referring);
  const Oid index = index_that_fixes_row(on_table, reference.referenced, entries.referenced, known);
  if (!OidIsValid(index) || !can_be_hashed(on_table, entries.referenced, known)) return false;
  List** indexes = &level->statement->indexes;
  *indexes = list_append_unique_oid(*indexes, index);
  return true;
}

// The rows of the table itself have no persons yet: it gets them of the left part.
bool may_join(const JudgedLevel* level, const ReferenceJoin& join, const Entries& entries) {
  const bool is_left = bms_is_member(entries.referenced, join.left);
  const bool is_between = is_left ? bms_is_member(entries.referring, join.right)
                                  : bms_is_member(entries.referring, join.left) &&
                                        bms_is_member(entries.referenced, join.right);
  const bool has_persons = entry_of(level, entries.referring).relation == nullptr;
  return is_between && (has_persons || (is_left && join.takes_persons_of_left));
}

bool is_along_reference(const JudgedLevel* level, const ReferenceJoin& join,
                        const Comparison& comparison) {
  const Entries entries = {comparison.key.entry, comparison.own.entry};
  if (!may_join(level, join, entries)) return false;
  const Reference* reference =
      reference_between(comparison.own.origin.relation, comparison.key.origin.relation);
  return reference != nullptr && follows(level, *reference, entries, join.conditions);
}

}  // namespace

bool joins_by_reference(const JudgedLevel* level, const ReferenceJoin& join) {
  for (const auto* condition : each<const Node>(join.conditions)) {
    const Comparison comparison = comparison_in(level, condition);
    if (!OidIsValid(comparison.operation)) continue;
    if (is_along_reference(level, join, comparison)) return true;
    if (is_along_reference(level, join, turned(comparison))) return true;
  }
  return false;
}

}  // namespace dpquantile
