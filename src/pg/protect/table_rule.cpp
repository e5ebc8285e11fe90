#include "pg/protect/table_rule.hpp"

#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/protection_catalog.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_table(const QueryLevel* level, const char* reason, const char* hint) {
  refuse(level->statement->refused, kNowhere, reason, hint);
}

// Also for a role that no policy applies to.
bool has_row_security(Oid relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) return true;
  const bool has = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relrowsecurity;
  ReleaseSysCache(row);
  return has;
}

bool has_foreign_rows(Oid relation) {
  if (!has_subclass(relation)) return false;
  ListCell* cell;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) {
    if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE) return true;
  }
  return false;
}

// A view's own protection counts. It must not protect less than that of the table.
void check_view_protects_users(const QueryLevel* level, const RangeTblEntry* entry) {
  const ProtectedRelation* table = find_protected_relation(entry->relid);
  if (level->view == nullptr || table == nullptr || table->user_column == 0) return;
  const AttrNumber named = static_cast<AttrNumber>(level->view->user_column);
  const List* columns = level->query->targetList;
  if (named > 0 && named <= list_length(columns)) {
    const auto* column = static_cast<TargetEntry*>(list_nth(columns, named - 1));
    const auto* user = reinterpret_cast<const Var*>(column->expr);
    if (IsA(user, Var) && user->varlevelsup == 0 && user->varattno == table->user_column) return;
  }
  refuse_table(level, "it is a view of a table that protects users, and does not protect them",
               "Ask its owner to protect the view with the column of the users.");
}

}  // namespace

void check_protected_table(const QueryLevel* level, const RangeTblEntry* entry,
                           const BorrowedRelation* relation) {
  const bool is_table = entry->relkind == RELKIND_RELATION ||
                        entry->relkind == RELKIND_PARTITIONED_TABLE ||
                        entry->relkind == RELKIND_MATVIEW;
  if (!is_table) {
    refuse_table(level, "it is no table of this database",
                 accepted_aggregate(level->statement->refused));
  }
  if (entry->tablesample != nullptr) {
    refuse_table(level, "TABLESAMPLE chooses rows by their place", "Leave out TABLESAMPLE.");
  }
  if (entry->securityQuals != NIL || has_row_security(entry->relid)) {
    refuse_table(level, "it has row security", "Ask its owner for a view or another table.");
  }
  if (has_foreign_rows(entry->relid)) {
    refuse_table(level, "some of its rows are on another server",
                 "Ask its owner for a view of the other rows.");
  }
  check_view_protects_users(level, entry);
  if (relation->permissions->requiredPerms != ACL_SELECT) {
    refuse_table(level, "the query does more than read it", "Leave out FOR UPDATE.");
  }
}

bool is_joinable(const RangeTblEntry* entry) {
  return entry->relid >= FirstNormalObjectId && entry->relkind == RELKIND_RELATION &&
         entry->tablesample == nullptr && entry->securityQuals == NIL &&
         !has_subclass(entry->relid);
}

}  // namespace dpquantile
