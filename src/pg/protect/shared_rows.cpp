#include "pg/protect/shared_rows.hpp"

#include "pg/protect/borrowed_relations.hpp"
#include "pg/protect/protection_catalog.hpp"

extern "C" {
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

}  // namespace

bool share_rows(Oid one, Oid other) {
  return one == other || have_common(table_and_children(one), table_and_children(other));
}

void check_users_of_shared_rows(const RefusedQuery& query, Oid table, const char* user_column) {
  const ListCell* cell;
  foreach (cell, relations_that_protect_users()) {
    const Oid other = lfirst_oid(cell);
    const ProtectedRelation* protection = find_protected_relation(other);
    if (protection == nullptr || protection->user_column == 0) continue;
    const char* other_column = pstrdup(NameStr(protection->user_column_name));
    if (strcmp(other_column, user_column) == 0 || !share_rows(table, other)) continue;
    if (other == table) {
      refuse(query, kNowhere,
             "it is a view of a table that protects users, and does not protect them",
             "Ask its owner to protect the view with the column of the users.");
    }
    refuse(query, kNowhere,
           psprintf("its rows are also rows of %s, which protects all rows of a user of column "
                    "\"%s\"",
                    name_of_table(other), other_column),
           psprintf("Ask its owner to protect it with the same column: user_id => '%s'.",
                    other_column));
  }
}

void check_unit_of_shared_rows(const RefusedQuery& query, Oid table, const char* unit, Oid owner) {
  const ListCell* cell;
  foreach (cell, relations_that_protect_users()) {
    const Oid other = lfirst_oid(cell);
    const ProtectedRelation* protection = find_protected_relation(other);
    if (protection == nullptr || protection->user_column == 0) continue;
    const bool is_of_unit =
        strcmp(NameStr(protection->unit), unit) == 0 && owner_of(other) == owner;
    if (is_of_unit || !share_rows(table, other)) continue;
    refuse(query, kNowhere,
           psprintf("%s is joined with tables of unit %s, and its rows are also rows of %s, which "
                    "is not of this unit",
                    name_of_table(table), unit, name_of_table(other)),
           psprintf("Ask their owner to state one unit for both: dp_protect_table('%s', user_id => "
                    "..., unit => '%s').",
                    name_of_table(other), unit));
  }
}

}  // namespace dpquantile
