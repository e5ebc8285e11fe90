#include "pg/protect/unit_join.hpp"

#include "pg/facts/shared_rows.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/reference_rule.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

bool has_usual_collation(const Node* id) {
  return !type_is_collatable(exprType(id)) || is_inside_collation(exprCollation(id));
}

namespace {

[[noreturn]] void refuse_join(const JudgedLevel* level, const UnitJoin& join, const char* reason,
                              const char* hint) {
  refuse(level->statement->refused, join.at == nullptr ? kNowhere : exprLocation(join.at), reason,
         hint);
}

// ---- The unit ------------------------------------------------------------------------------

List* relations_of(const JudgedLevel* level, const Bitmapset* entries) {
  List* relations = NIL;
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    relations = list_concat(relations, relations_of_entry(level, number));
  }
  return relations;
}

List* limiting_tables_of(const JudgedLevel* level, const Bitmapset* entries) {
  List* tables = NIL;
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    tables = list_concat(tables, limiting_tables_of_entry(level, number));
  }
  return tables;
}

// The units of two owners have nothing in common, whatever their names are. A table has the persons
// of itself, whether a unit is stated or not.
bool are_of_one_unit(const BorrowedRelation* one, const BorrowedRelation* other) {
  const Oid owner = owner_of(one->permissions->relid);
  if (one->permissions->relid == other->permissions->relid && one->user_column != 0) return true;
  return one->user_column != 0 && other->user_column != 0 && *NameStr(one->unit) != '\0' &&
         strcmp(NameStr(one->unit), NameStr(other->unit)) == 0 && OidIsValid(owner) &&
         owner == owner_of(other->permissions->relid);
}

const char* unit_to_state(const BorrowedRelation* one, const BorrowedRelation* other) {
  if (*NameStr(one->unit) != '\0') return NameStr(one->unit);
  return *NameStr(other->unit) != '\0' ? NameStr(other->unit) : "person";
}

// dp_protect_table() replaces all that the owner has stated, so the call says it again.
const char* call_that_states_unit(const BorrowedRelation* relation, const char* unit) {
  const Oid oid = relation->permissions->relid;
  const char* name =
      quote_qualified_identifier(get_namespace_name(get_rel_namespace(oid)), name_of(relation));
  const char* persons = "user_id => ..., max_rows => ...";
  const ProtectedRelation* protection = find_protected_relation(oid);
  if (relation->user_column != 0 && protection != nullptr) {
    persons = psprintf("user_id => %s", quote_literal_cstr(NameStr(protection->user_column_name)));
    if (relation->max_rows > 0) {
      persons = psprintf("%s, max_rows => %d", persons, relation->max_rows);
    }
    if (relation->max_groups != relation->max_rows) {
      persons = psprintf("%s, max_groups => %d", persons, relation->max_groups);
    }
  }
  return psprintf("dp_protect_table(%s, %s, unit => %s)", quote_literal_cstr(name), persons,
                  quote_literal_cstr(unit));
}

const char* hint_for_unit(const BorrowedRelation* one, const BorrowedRelation* other) {
  const char* unit = unit_to_state(one, other);
  return psprintf("If they do, ask the owner of both to state it: SELECT %s, %s.",
                  call_that_states_unit(one, unit), call_that_states_unit(other, unit));
}

void check_units(const JudgedLevel* level, const UnitJoin& join) {
  const auto* one = static_cast<const BorrowedRelation*>(linitial(relations_of(level, join.left)));
  for (const auto* other : each<const BorrowedRelation>(relations_of(level, join.right))) {
    if (are_of_one_unit(one, other)) continue;
    refuse_join(level, join,
                psprintf("tables \"%s\" and \"%s\" are not known to protect the same persons, so "
                         "they cannot be %s",
                         name_of(one), name_of(other), join.is_union ? "combined" : "joined"),
                hint_for_unit(one, other));
  }
}

// One row of a person would be joined with the others: their number would be squared. Where one
// side has one row of each person it is not.
void check_no_self_join(const JudgedLevel* level, const UnitJoin& join) {
  const List* others = limiting_tables_of(level, join.right);
  for (const Oid left : each_oid(limiting_tables_of(level, join.left))) {
    for (const Oid right : each_oid(others)) {
      if (!share_rows(left, right)) continue;
      refuse_join(
          level, join,
          left == right
              ? psprintf("table \"%s\" protects persons, so it cannot be joined with itself",
                         get_rel_name(left))
              : psprintf("tables \"%s\" and \"%s\" have rows in common, so they cannot be joined",
                         get_rel_name(left), get_rel_name(right)),
          "For persons with rows of two kinds write EXISTS or INTERSECT for each kind, for the row "
          "before or after one lag() or lead() OVER (PARTITION BY person ORDER BY day).");
    }
  }
}

// Whether a row meets at most one row of what is joined: then nothing is squared, either.
bool meets_once(const JudgedLevel* level, const UnitJoin& join) {
  int entry = 0;
  return bms_get_singleton_member(join.right, &entry) && entry_of(level->read, entry).is_met_once;
}

// Who is protected by another table with the same rows must be of the same unit, too.
void check_shared_rows(const JudgedLevel* level, const Bitmapset* entries) {
  for (const auto* relation : each<const BorrowedRelation>(relations_of(level, entries))) {
    if (!OidIsValid(relation->table)) continue;  // the tables in a view have been looked at
    check_unit_of_shared_rows(level->statement->refused, relation->table, NameStr(relation->unit),
                              owner_of(relation->permissions->relid));
  }
}

// ---- The condition -------------------------------------------------------------------------

// Integers of several widths are the same numbers, and texts have the same bytes.
Oid kind_of_id(Oid type) {
  const Oid base = getBaseType(type);
  if (base == INT2OID || base == INT4OID) return INT8OID;
  return base == VARCHAROID ? static_cast<Oid>(TEXTOID) : base;
}

// Whether an operator is the = of the type, by which ids are one user. `type` is that of an
// operand.
bool is_equality(Oid operation, Oid type) {
  const Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
  return OidIsValid(family) && passes_gate(OperatorFamilyRelationId, family) &&
         get_op_opfamily_strategy(operation, family) == BTEqualStrategyNumber;
}

// Whether ids are equal if and only if they name one user: the hash of a user is that of its
// column. A cast of text to character, which ignores blanks at the end, is a mere relabelling, too.
bool compares_ids(const OpExpr* equality, const Node* left, const Node* right) {
  const Oid kind = kind_of_id(exprType(left));
  if (kind != kind_of_id(exprType(right))) return false;
  for (const auto* node : each<const Node>(equality->args)) {
    if (kind_of_id(exprType(node)) != kind) return false;
  }
  return is_equality(equality->opno,
                     exprType(static_cast<const Node*>(linitial(equality->args)))) &&
         has_usual_collation(left) && has_usual_collation(right);
}

bool joins_users(const JudgedLevel* level, const UnitJoin& join, Node* condition) {
  if (!IsA(condition, OpExpr)) return false;
  const auto* equality = as<OpExpr>(condition);
  if (list_length(equality->args) != 2) return false;
  Node* left = without_relabel(static_cast<Node*>(linitial(equality->args)));
  Node* right = without_relabel(static_cast<Node*>(lsecond(equality->args)));
  const int one = user_entry_of(level, left);
  const int other = user_entry_of(level, right);
  if (one == 0 || other == 0) return false;
  const bool is_between = (bms_is_member(one, join.left) && bms_is_member(other, join.right)) ||
                          (bms_is_member(one, join.right) && bms_is_member(other, join.left));
  return is_between && compares_ids(equality, left, right);
}

// Whether each row is joined with rows of its person alone.
bool joins_persons(const JudgedLevel* level, const UnitJoin& join) {
  for (auto* node : each<Node>(join.conditions)) {
    if (joins_users(level, join, node)) return true;
  }
  return joins_by_reference(level, {join.left, join.right, join.conditions, join.type});
}

// The column of one of these entries that tells whose its rows are, as the query names it; null if
// it cannot name one.
const char* column_of_persons(const JudgedLevel* level, const Bitmapset* entries) {
  int number = -1;
  while ((number = bms_next_member(entries, number)) >= 0) {
    const JudgedEntry& entry = entry_of(level, number);
    if (entry.relation == nullptr || entry.user_column == 0 || !is_named(entry.relation) ||
        OidIsValid(entry.relation->through)) {
      continue;
    }
    RangeTblEntry* table = rt_fetch(number, level->query->rtable);
    return psprintf("%s.%s", quote_identifier(table->eref->aliasname),
                    quote_identifier(get_rte_attribute_name(table, entry.user_column)));
  }
  return nullptr;
}

const char* hint_for_persons(const JudgedLevel* level, const UnitJoin& join) {
  const char* left = column_of_persons(level, join.left);
  const char* right = column_of_persons(level, join.right);
  const char* condition = left == nullptr || right == nullptr ? "visits.patient = patients.id"
                                                              : psprintf("%s = %s", left, right);
  return psprintf("Join them by these columns, of one type, also beside other conditions: ON %s.",
                  condition);
}

}  // namespace

void check_one_unit(const JudgedLevel* level, const UnitJoin& join) {
  check_units(level, join);
  check_shared_rows(level, join.left);
  check_shared_rows(level, join.right);
}

void check_unit_join(const JudgedLevel* level, const UnitJoin& join) {
  const bool joins = joins_persons(level, join);
  if (!joins || !meets_once(level, join)) check_no_self_join(level, join);
  check_one_unit(level, join);
  if (joins) return;
  refuse_join(level, join,
              "the join of protected tables does not compare the columns that identify the persons",
              hint_for_persons(level, join));
}

bool are_ids_of_one_kind(Oid one, Oid other) {
  return kind_of_id(one) == kind_of_id(other);
}

bool groups_ids(Oid equality, const Node* id) {
  return is_equality(equality, exprType(id)) && has_usual_collation(id);
}

List* relations_of_entry(const JudgedLevel* level, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.relation != nullptr) return list_make1(entry.relation);
  return entry.source == nullptr ? NIL : list_copy(entry.source->relations);
}

// A source may be read by several entries.
List* tables_of_entry(const JudgedLevel* level, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.relation != nullptr) {
    if (entry.relation->is_referenced) return NIL;
    return list_make1_oid(rt_fetch(number, level->query->rtable)->relid);
  }
  return entry.source == nullptr ? NIL : list_copy(entry.source->tables);
}

List* limiting_relations_of_entry(const JudgedLevel* level, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  if (has_one_row(entry)) return NIL;
  return entry.source == nullptr ? relations_of_entry(level, number)
                                 : list_copy(entry.source->limiting_relations);
}

List* limiting_tables_of_entry(const JudgedLevel* level, int number) {
  const JudgedEntry& entry = entry_of(level, number);
  if (has_one_row(entry)) return NIL;
  return entry.source == nullptr ? tables_of_entry(level, number)
                                 : list_copy(entry.source->limiting_tables);
}

}  // namespace dpquantile
