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
  return {static_cast<int>(as<Var>(expression)->varno), *origin, as<Var>(expression)};
}

// Whether two columns of a level are of one row of a table: at each step down to it they are of one
// entry. A table that is read twice gives pairs of its rows, also those of one person.
bool are_of_one_row(const Level* level, const Node* one, const Node* other) {
  if (!IsA(one, Var) || !IsA(other, Var)) return false;
  if (const Node* merged = merged_column(level->query, as<Var>(one))) {
    return are_of_one_row(level, merged, other);
  }
  if (const Node* merged = merged_column(level->query, as<Var>(other))) {
    return are_of_one_row(level, one, merged);
  }
  const bool is_own = as<Var>(one)->varlevelsup == 0 && as<Var>(other)->varlevelsup == 0;
  if (!is_own || as<Var>(one)->varno != as<Var>(other)->varno) return false;
  const Entry& entry = entry_of(level, as<Var>(one)->varno);
  if (OidIsValid(entry.relation)) return true;
  const auto first = definition_of(level, as<Var>(one));
  const auto second = definition_of(level, as<Var>(other));
  return first && second && are_of_one_row(first->level, first->expression, second->expression);
}

// Whether a comparison is one of the two rows that another one compares.
bool is_of_rows(const Level* level, const KeyComparison& comparison, const KeyComparison& rows) {
  return are_of_one_row(level, as<Node>(comparison.key.column), as<Node>(rows.key.column)) &&
         are_of_one_row(level, as<Node>(comparison.own.column), as<Node>(rows.own.column));
}

bool shows(const ShownColumn& shown, Oid table, AttrNumber column) {
  return shown.origin.relation == table && shown.origin.column == column;
}

bool is_of(const KeyComparison& comparison, const Reference& reference, int column) {
  return comparison.operation == reference.equality[column] &&
         shows(comparison.key, reference.referenced, reference.key[column]) &&
         shows(comparison.own, reference.relation, reference.own[column]);
}

// Whether a comparison is one of columns that refer to the same column of the key, by which both do
// so.
bool compares(const KeyComparison& comparison, const References& references, int column) {
  const Reference& reference = *references.of_key;
  const Reference& other = *references.of_own;
  Oid type;
  int32 modifier;
  Oid collation;
  get_atttypetypmodcoll(reference.referenced, reference.key[column], &type, &modifier, &collation);
  const bool is_by_reference = comparison.operation == reference.equality[column] &&
                               comparison.collation == collation &&
                               shows(comparison.key, reference.relation, reference.own[column]);
  if (!is_by_reference) return false;
  for (int i = 0; i < other.columns; ++i) {
    if (other.key[i] == reference.key[column] && other.equality[i] == reference.equality[column] &&
        shows(comparison.own, other.relation, other.own[i])) {
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
                        const KeyComparison& rows, const List* conditions) {
  for (const auto* condition : each<const Node>(conditions)) {
    const KeyComparison comparison = comparison_in(level, condition);
    if (!OidIsValid(comparison.operation)) continue;
    for (const KeyComparison& one : {comparison, turned(comparison)}) {
      if (!is_of(one, reference, column) || !is_of_rows(level, one, rows)) continue;
      return as<Node>(make_opclause(one.operation, BOOLOID, false, column_of_table(one.key),
                                    column_of_table(one.own), InvalidOid, one.collation));
    }
  }
  return nullptr;
}

bool refer_to_one_row(const Level* level, const References& references, const KeyComparison& rows,
                      const List* conditions) {
  if (references.of_key->referenced != references.of_own->referenced) return false;
  for (int i = 0; i < references.of_key->columns; ++i) {
    bool is_compared = false;
    for (const auto* condition : each<const Node>(conditions)) {
      const KeyComparison comparison = comparison_in(level, condition);
      if (!OidIsValid(comparison.operation)) continue;
      for (const KeyComparison& one : {comparison, turned(comparison)}) {
        is_compared |= compares(one, references, i) && is_of_rows(level, one, rows);
      }
    }
    if (!is_compared) return false;
  }
  return true;
}

}  // namespace dpquantile
