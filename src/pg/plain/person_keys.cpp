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

// The columns of an entry that are keys of GROUP BY.
Bitmapset* keys_of_entry(const Query* query, int number) {
  Bitmapset* columns = nullptr;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) == nullptr) {
      continue;
    }
    const auto* key = as<Var>(column->expr);
    const bool is_of_entry = IsA(key, Var) && static_cast<int>(key->varno) == number &&
                             key->varlevelsup == 0 && key->varattno > 0;
    if (is_of_entry) columns = bms_add_member(columns, key->varattno);
  }
  return columns;
}

// The person of the rows of a table of which GROUP BY has a unique key, or null.
Node* person_of_key(const Level* level) {
  const Query* query = level->query;
  for (int number = 1; number <= list_length(query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    if (!entry.is_in_from || entry.borrowed == nullptr || entry.below != nullptr) continue;
    const ProtectedRelation* protection = find_protected_relation(entry.relation);
    if (protection == nullptr || protection->user_column < 1) continue;
    if (nulling_joins(as<Node>(query->jointree), number) != nullptr) continue;
    if (!are_unique(entry.relation, keys_of_entry(query, number))) continue;
    Oid type = InvalidOid;
    Oid collation = InvalidOid;
    int32 modifier = -1;
    get_atttypetypmodcoll(entry.relation, protection->user_column, &type, &modifier, &collation);
    return column_of_entry(level, number, protection->user_column, type, modifier, collation);
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

bool may_be_person_group(const Level* level) {
  const Query* query = level->query;
  const bool groups_rows = level->borrowed_rows != NIL && !level->groups_persons &&
                           !level->has_public_side && query->groupClause != NIL &&
                           query->groupingSets == NIL && query->setOperations == nullptr &&
                           !query->hasDistinctOn;
  if (!groups_rows || !is_derived_table(level)) return false;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (column->resjunk) return false;
  }
  for (const auto* call : each<const Aggref>(level->aggregates)) {
    if (call->aggfnoid >= FirstUnpinnedObjectId) return false;
  }
  return true;
}

}  // namespace

bool group_by_person_of_key(const Level* level) {
  if (!may_be_person_group(level)) return false;
  Node* person = person_of_key(level);
  if (person == nullptr) return false;
  show_key(level, person);
  return true;
}

bool group_by_persons_of_keys(const Level* level) {
  bool changes = group_by_person_of_key(level);
  for (const auto* below : each<const Level>(level->below)) {
    changes |= group_by_persons_of_keys(below);
  }
  return changes;
}

}  // namespace dpquantile
