#include "pg/protect/table_rule.hpp"

#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/shared_rows.hpp"

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

// The number of the column of the view's table, or of a query in the view's query, that the view
// names its users by; 0 if it is computed.
AttrNumber user_column_below(const QueryLevel* level) {
  const bool is_below = level->parent != nullptr && level->parent->view == level->view;
  const int named = is_below ? user_column_below(level->parent) : level->view->user_column;
  const List* columns = level->query->targetList;
  if (named < 1 || named > list_length(columns)) return 0;
  const auto* column = static_cast<TargetEntry*>(list_nth(columns, named - 1));
  const auto* user = reinterpret_cast<const Var*>(column->expr);
  return IsA(user, Var) && user->varlevelsup == 0 ? user->varattno : AttrNumber{0};
}

// A view's own protection counts. It must not protect less than that of the table.
void check_users(const QueryLevel* level, const RangeTblEntry* entry, BorrowedRelation* relation) {
  const AttrNumber user = level->view == nullptr ? relation->user_column : user_column_below(level);
  const char* name = user > 0 ? get_attname(entry->relid, user, true) : nullptr;
  relation->table = entry->relid;
  relation->table_users = name == nullptr ? "" : name;
  check_users_of_shared_rows(level->statement->refused, relation->table, relation->table_users);
}

}  // namespace

void check_protected_table(const QueryLevel* level, const RangeTblEntry* entry,
                           BorrowedRelation* relation) {
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
  check_users(level, entry, relation);
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
