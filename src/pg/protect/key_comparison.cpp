#include "pg/protect/key_comparison.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A UNION ALL has rows of a table as often as its queries do, so its key chooses no row.
bool is_of_union(const Level* level, const Var* column) {
  if (definitions_in_branches(level, column) != NIL) return true;
  const auto definition = definition_of(level, column);
  return definition && IsA(definition->expression, Var) &&
         is_of_union(definition->level, as<Var>(definition->expression));
}

// Whether a column is one of rows that the query borrows. Rows of a protected table that the user
// may read are public: what they refer to says nothing of the person of the row that they are
// joined with.
bool is_of_borrowed(const Level* level, const Var* column) {
  if (const auto definition = definition_of(level, column)) {
    return IsA(definition->expression, Var) &&
           is_of_borrowed(definition->level, as<Var>(definition->expression));
  }
  level = around(level, column->varlevelsup);
  return level != nullptr && entry_of(level, column->varno).borrowed != nullptr;
}

// The entry is 0 if an expression shows no column of a borrowed table as it is.
ShownColumn column_behind(const Level* level, const Node* expression) {
  while (IsA(expression, RelabelType)) {
    expression = as<Node>(as<RelabelType>(expression)->arg);
  }
  const auto origin = origin_of(level, expression);
  if (!origin || as<Var>(expression)->varlevelsup > 0) return {};
  if (is_of_union(level, as<Var>(expression))) return {};
  const Node* merged = merged_column(level->query, as<Var>(expression));
  if (merged != nullptr) return column_behind(level, merged);
  if (!is_of_borrowed(level, as<Var>(expression))) return {};
  return {static_cast<int>(as<Var>(expression)->varno), *origin};
}

bool is_of(const KeyComparison& comparison, const Reference& reference, int column,
           const Entries& entries) {
  return comparison.operation == reference.equality[column] &&
         comparison.key.entry == entries.referenced && comparison.own.entry == entries.referring &&
         comparison.key.origin.relation == reference.referenced &&
         comparison.own.origin.relation == reference.relation &&
         comparison.key.origin.column == reference.key[column] &&
         comparison.own.origin.column == reference.own[column];
}

bool shows(const ShownColumn& shown, const ReferringEntry& entry, int column) {
  return shown.entry == entry.entry && shown.origin.relation == entry.reference->relation &&
         shown.origin.column == entry.reference->own[column];
}

// Whether a comparison is one of columns that refer to the same column of the key, by which both do
// so.
bool compares(const KeyComparison& comparison, const ReferringEntry& one, int column,
              const ReferringEntry& other) {
  const Reference& reference = *one.reference;
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(reference.referenced, reference.key[column], &type, &modifier, &collation);
  const bool is_by_reference = comparison.operation == reference.equality[column] &&
                               comparison.collation == collation &&
                               shows(comparison.key, one, column);
  if (!is_by_reference) return false;
  for (int i = 0; i < other.reference->columns; ++i) {
    if (other.reference->key[i] == reference.key[column] &&
        other.reference->equality[i] == reference.equality[column] &&
        shows(comparison.own, other, i)) {
      return true;
    }
  }
  return false;
}

Expr* as_operand(Node* value, Oid type) {
  if (exprType(value) == type || IsPolymorphicType(type)) return as<Expr>(value);
  return as<Expr>(
      makeRelabelType(as<Expr>(value), type, -1, exprCollation(value), COERCE_IMPLICIT_CAST));
}

Expr* column_of_table(const ShownColumn& shown) {
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(shown.origin.relation, shown.origin.column, &type, &modifier, &collation);
  return as<Expr>(makeVar(shown.entry, shown.origin.column, type, modifier, collation, 0));
}

}  // namespace

Node* equality_of(Oid operation, Node* key, Node* own) {
  Oid key_type;
  Oid own_type;
  op_input_types(operation, &key_type, &own_type);
  auto* equality =
      as<OpExpr>(make_opclause(operation, BOOLOID, false, as_operand(key, key_type),
                               as_operand(own, own_type), InvalidOid, exprCollation(key)));
  set_opfuncid(equality);
  return as<Node>(equality);
}

List* terms_of(Node* condition) {
  if (condition == nullptr) return NIL;
  if (IsA(condition, List)) return as<List>(condition);
  if (!is_andclause(condition)) return list_make1(condition);
  List* terms = NIL;
  for (auto* node : each<Node>(as<BoolExpr>(condition)->args)) {
    terms = list_concat(terms, terms_of(node));
  }
  return terms;
}

KeyComparison comparison_in(const Level* level, const Node* condition) {
  if (!IsA(condition, OpExpr) || list_length(as<OpExpr>(condition)->args) != 2) return {};
  const auto* compared = as<OpExpr>(condition);
  const KeyComparison comparison = {
      compared->opno, compared->inputcollid,
      column_behind(level, static_cast<const Node*>(linitial(compared->args))),
      column_behind(level, static_cast<const Node*>(lsecond(compared->args)))};
  return comparison.key.entry == 0 || comparison.own.entry == 0 ? KeyComparison{} : comparison;
}

KeyComparison turned(const KeyComparison& comparison) {
  return {get_commutator(comparison.operation), comparison.collation, comparison.own,
          comparison.key};
}

Node* comparison_of_key(const Level* level, const Reference& reference, int column,
                        const Entries& entries, const List* conditions) {
  for (const auto* condition : each<const Node>(conditions)) {
    const KeyComparison comparison = comparison_in(level, condition);
    if (!OidIsValid(comparison.operation)) continue;
    for (const KeyComparison& one : {comparison, turned(comparison)}) {
      if (!is_of(one, reference, column, entries)) continue;
      return as<Node>(make_opclause(one.operation, BOOLOID, false, column_of_table(one.key),
                                    column_of_table(one.own), InvalidOid, one.collation));
    }
  }
  return nullptr;
}

bool refer_to_one_row(const Level* level, const ReferringEntry& one, const ReferringEntry& other,
                      const List* conditions) {
  if (one.reference->referenced != other.reference->referenced) return false;
  for (int i = 0; i < one.reference->columns; ++i) {
    bool is_compared = false;
    for (const auto* condition : each<const Node>(conditions)) {
      const KeyComparison comparison = comparison_in(level, condition);
      if (!OidIsValid(comparison.operation)) continue;
      is_compared = is_compared || compares(comparison, one, i, other) ||
                    compares(turned(comparison), one, i, other);
    }
    if (!is_compared) return false;
  }
  return true;
}

}  // namespace dpquantile
