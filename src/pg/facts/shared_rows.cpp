#include "pg/facts/shared_rows.hpp"

#include <optional>

#include "pg/facts/stored_rows.hpp"
#include "pg/grants/borrowed_relations.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// The table and all below it, by OIDs that ascend. Nothing is read from them, so no lock is needed.
List* table_and_children(Oid table) {
  if (!has_subclass(table)) return list_make1_oid(table);
  List* all = find_all_inheritors(table, NoLock, nullptr);
  list_sort(all, list_oid_cmp);
  return all;
}

bool have_common(const List* one, const List* other) {
  int i = 0;
  int j = 0;
  while (i < list_length(one) && j < list_length(other)) {
    const Oid left = list_nth_oid(one, i);
    const Oid right = list_nth_oid(other, j);
    if (left == right) return true;
    ++(left < right ? i : j);
  }
  return false;
}

const char* name_of_table(Oid table) {
  const char* name = get_rel_name(table);
  return name == nullptr ? "?" : name;
}

bool share_rows_with_one(const List* relations, Oid other) {
  for (const Oid relation : each_oid(relations)) {
    if (share_rows(relation, other)) return true;
  }
  return false;
}

bool names_users(const StoredColumn& column, const ProtectedRelation& other) {
  const char* name = get_attname(column.relation, column.number, true);
  return name != nullptr && !OidIsValid(other.through) &&
         strcmp(name, NameStr(other.user_column_name)) == 0 &&
         share_rows(column.relation, other.relation);
}

bool names_users_of_unit(const StoredColumn& column, const ProtectedRelation& other) {
  const ProtectedRelation* protection = find_protected_relation(column.relation);
  return protection != nullptr && protection->user_column == column.number &&
         NameStr(other.unit)[0] != '\0' &&
         strcmp(NameStr(protection->unit), NameStr(other.unit)) == 0 &&
         owner_of(column.relation) == owner_of(other.relation);
}

// `columns`: what the column of the users shows (columns_stored_in).
bool protects_users_of(const List* columns, const ProtectedRelation& other) {
  for (const auto* shown : each<const StoredColumn>(columns)) {
    const auto& column = *shown;
    if (names_users(column, other) || names_users_of_unit(column, other)) return true;
  }
  return false;
}

// A materialized view has the rows of what it was read from, and calls columns as it likes.
std::optional<ProtectedRelation> other_users_of_stored_rows(Oid view, const char* user_column) {
  const AttrNumber number = get_attnum(view, user_column);
  List* read = list_delete_oid(relations_stored_in(view), view);
  const List* columns =
      number > 0 ? list_delete_first(columns_stored_in(view, number)) : static_cast<List*>(NIL);
  for (const Oid oid : each_oid(relations_that_protect_users())) {
    const ProtectedRelation* found = find_protected_relation(oid);
    if (found == nullptr || found->user_column == 0) continue;
    const ProtectedRelation other = *found;
    if (share_rows_with_one(read, other.relation) && !protects_users_of(columns, other)) {
      return other;
    }
  }
  return std::nullopt;
}

void check_users_of_stored_rows(const RefusedQuery& query, Oid view, const char* user_column) {
  const auto other = other_users_of_stored_rows(view, user_column);
  if (!other) return;
  refuse_with_code(
      query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
      psprintf(
          "the rows of \"%s\" come from \"%s\", which protects the persons of its column \"%s\"",
          name_of_table(view), name_of_table(other->relation), NameStr(other->user_column_name)),
      OidIsValid(other->through)
          ? psprintf(
                "Ask the owner of \"%s\" to protect it with a column that shows the persons, as "
                "\"%s\" has them.",
                name_of_table(view), name_of_table(other->through))
          : psprintf("Ask the owner of \"%s\" to protect it with the column that shows this one.",
                     name_of_table(view)));
}

}  // namespace

Oid table_with_other_users(Oid view, const char* user_column) {
  if (get_rel_relkind(view) == RELKIND_MATVIEW) {
    const auto other = other_users_of_stored_rows(view, user_column);
    return other ? other->relation : InvalidOid;
  }
  const AttrNumber number = get_attnum(view, user_column);
  if (get_rel_relkind(view) != RELKIND_VIEW || number <= 0) return InvalidOid;
  for (const auto* shown : each<const StoredColumn>(columns_stored_in(view, number))) {
    const auto& column = *shown;
    const ProtectedRelation* protection = find_protected_relation(column.relation);
    if (protection != nullptr && OidIsValid(protection->through)) return column.relation;
    if (get_rel_relkind(column.relation) != RELKIND_MATVIEW) continue;
    return table_with_other_users(column.relation,
                                  get_attname(column.relation, column.number, false));
  }
  return InvalidOid;
}

bool share_rows(Oid one, Oid other) {
  return one == other || have_common(table_and_children(one), table_and_children(other));
}

void check_users_of_shared_rows(const RefusedQuery& query, Oid table, const char* user_column,
                                Oid through) {
  if (get_rel_relkind(table) == RELKIND_MATVIEW)
    check_users_of_stored_rows(query, table, user_column);
  for (const Oid other : each_oid(relations_that_protect_users())) {
    const ProtectedRelation* protection = find_protected_relation(other);
    if (protection == nullptr || protection->user_column == 0) continue;
    const char* other_column = pstrdup(NameStr(protection->user_column_name));
    const Oid other_table = protection->through;
    const bool is_same = strcmp(other_column, user_column) == 0 && other_table == through;
    if (is_same || !share_rows(table, other)) continue;
    if (other == table) {
      refuse_with_code(
          query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
          psprintf(
              "table \"%s\" protects persons, but the view of it that the query reads does not",
              name_of_table(table)),
          OidIsValid(other_table)
              ? "Name the table itself in FROM: it is protected through another one, as no view is."
              : "Ask its owner to protect the view with the column that identifies the persons.");
    }
    refuse_with_code(
        query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
        psprintf("rows of \"%s\" are also rows of \"%s\", which protects the persons of its column "
                 "\"%s\"",
                 name_of_table(table), name_of_table(other), other_column),
        psprintf("Ask the owner of \"%s\" to protect it with the same column: user_id => '%s'%s.",
                 name_of_table(table), other_column,
                 OidIsValid(other_table) ? psprintf(", through => '%s'", name_of_table(other_table))
                                         : ""));
  }
}

void check_unit_of_shared_rows(const RefusedQuery& query, Oid table, const char* unit, Oid owner) {
  for (const Oid other : each_oid(relations_that_protect_users())) {
    const ProtectedRelation* protection = find_protected_relation(other);
    if (protection == nullptr || protection->user_column == 0) continue;
    const bool is_of_unit =
        strcmp(NameStr(protection->unit), unit) == 0 && owner_of(other) == owner;
    if (is_of_unit || !share_rows(table, other)) continue;
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     psprintf("\"%s\" is joined as a table of unit \"%s\", but has rows in common "
                              "with \"%s\", which is not of this unit",
                              name_of_table(table), unit, name_of_table(other)),
                     psprintf("Ask their owner to state one unit for both: dp_protect_table('%s', "
                              "user_id => ..., unit => '%s').",
                              name_of_table(other), unit));
  }
}

}  // namespace dpquantile
