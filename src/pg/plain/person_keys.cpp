#include "pg/plain/person_keys.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/transam.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Those of GROUP BY or DISTINCT.
List* keys_of(const Query* query) {
  return query->groupClause != NIL ? query->groupClause : query->distinctClause;
}

// Columns of a table that are keys.
struct KeyColumns {
  Oid table;
  Bitmapset* columns;
};

// Those of the first table of which an entry, also a derived table, shows one.
KeyColumns keys_of_entry(const Level* level, int number) {
  const Query* query = level->query;
  KeyColumns keys = {InvalidOid, nullptr};
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, keys_of(query)) == nullptr) continue;
    const auto* key = as<Var>(column->expr);
    const bool is_of_entry = IsA(key, Var) && static_cast<int>(key->varno) == number &&
                             key->varlevelsup == 0 && key->varattno > 0;
    const auto origin = is_of_entry ? origin_of(level, as<Node>(key)) : std::nullopt;
    if (!origin || (OidIsValid(keys.table) && origin->relation != keys.table)) continue;
    keys.table = origin->relation;
    keys.columns = bms_add_member(keys.columns, origin->column);
  }
  return keys;
}

// Whether an entry has rows of persons, and each row of FROM has one of them.
bool has_persons(const Level* level, int number) {
  const Entry& entry = entry_of(level, number);
  const bool has_rows = entry.borrowed != nullptr
                            ? entry.below == nullptr
                            : entry.below != nullptr && entry.below->borrowed_rows != NIL;
  return entry.is_in_from && has_rows &&
         nulling_joins(as<Node>(level->query->jointree), number) == nullptr;
}

// The user column of an entry, or null if it has none.
Node* users_of_entry(const Level* level, int number) {
  const Oid relation = entry_of(level, number).relation;
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection == nullptr || protection->user_column < 1) return nullptr;
  Oid type = InvalidOid;
  Oid collation = InvalidOid;
  int32 modifier = -1;
  get_atttypetypmodcoll(relation, protection->user_column, &type, &modifier, &collation);
  return column_of_entry(level, number, protection->user_column, type, modifier, collation);
}

// The person of the rows of a level that has a table with a reference: that of a table of persons
// which it joins, or else the column that the table gets when the query is judged.
Node* person_of_reference(const Level* level, Oid table) {
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    Node* users = has_persons(level, number) ? users_of_entry(level, number) : nullptr;
    if (users != nullptr) return users;
  }
  return show_users(level, table);
}

// The person of the rows of a table of which the keys have a unique key, or the columns by which it
// refers to another one; else null.
Node* person_of_key(const Level* level) {
  const Query* query = level->query;
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    if (!has_persons(level, number)) continue;
    const KeyColumns keys = keys_of_entry(level, number);
    if (!OidIsValid(keys.table)) continue;
    if (refer_to_person(keys.table, keys.columns)) return person_of_reference(level, keys.table);
    if (!are_unique(keys.table, keys.columns)) continue;
    const bool is_derived = entry_of(level, number).below != nullptr;
    Node* users = is_derived ? show_users(level, keys.table) : users_of_entry(level, number);
    if (users != nullptr) return users;
  }
  return nullptr;
}

// Whether a level around reads the groups in FROM.
bool is_derived_table(const Level* level) {
  if (level->parent == nullptr) return false;
  for (const auto* cte : each<const Level>(level->parent->ctes)) {
    if (cte == level) return true;
  }
  for (int number = 1; number <= list_length(level->parent->query->rtable); ++number) {
    const Entry& entry = entry_of(level->parent, number);
    if (entry.is_in_from && entry.below == level && entry.borrowed == nullptr) return true;
  }
  return false;
}

bool is_in_expression(const Level* level) {
  if (level->parent == nullptr || list_member_ptr(level->parent->ctes, level)) return false;
  for (int number = 1; number <= list_length(level->parent->query->rtable); ++number) {
    if (entry_of(level->parent, number).below == level) return false;
  }
  return true;
}

bool hides_columns(const Query* query) {
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) return true;
  }
  return false;
}

bool has_groups_of_rows(const Level* level) {
  const Query* query = level->query;
  const bool has_groups = level->borrowed_rows != NIL && !level->groups_persons &&
                          !level->has_public_side && keys_of(query) != NIL &&
                          query->groupingSets == NIL && query->setOperations == nullptr &&
                          !query->hasDistinctOn;
  if (!has_groups) return false;
  // These are computed before DISTINCT.
  if (query->groupClause == NIL && (query->hasWindowFuncs || query->hasAggs)) return false;
  for (const auto* call : each<const Aggref>(level->aggregates)) {
    if (call->aggfnoid >= FirstUnpinnedObjectId) return false;
  }
  return true;
}

}  // namespace

bool group_by_person_of_key(const Level* level) {
  if (!has_groups_of_rows(level) || !is_derived_table(level)) return false;
  if (hides_columns(level->query)) return false;
  Node* person = person_of_key(level);
  // Without the rights of an entry its column of the persons is one as any other.
  if (person == nullptr || !is_person(level, person)) return false;
  Query* query = level->query;
  if (query->groupClause == NIL) {
    query->groupClause = query->distinctClause;
    query->distinctClause = NIL;
  }
  show_key(level, person);
  return true;
}

void note_subqueries_by_key(Level* level) {
  level->is_by_key =
      has_groups_of_rows(level) && is_in_expression(level) && person_of_key(level) != nullptr;
  for (auto* below : each<Level>(level->below)) note_subqueries_by_key(below);
}

bool group_by_persons_of_keys(const Level* level) {
  bool changes = group_by_person_of_key(level);
  for (const auto* below : each<const Level>(level->below)) {
    changes |= group_by_persons_of_keys(below);
  }
  return changes;
}

}  // namespace dpquantile
