#include "pg/protect/table_rule.hpp"

#include "pg/facts/shared_rows.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/accepted_shape.hpp"
#include "pg/server/nodes.hpp"

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

[[noreturn]] void refuse_table(const JudgedLevel* level, const char* reason, const char* hint) {
  refuse(level->statement->refused, kNowhere, reason, hint);
}

const char* column_that_refers(Oid table) {
  const ProtectedRelation* protection = find_protected_relation(table);
  return protection == nullptr ? "" : pstrdup(NameStr(protection->user_column_name));
}

bool has_foreign_rows(Oid relation) {
  if (!has_subclass(relation)) return false;
  for (const Oid child : each_oid(find_all_inheritors(relation, AccessShareLock, nullptr))) {
    if (get_rel_relkind(child) == RELKIND_FOREIGN_TABLE) return true;
  }
  return false;
}

}  // namespace

bool has_row_security(Oid relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) return true;
  const bool has = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relrowsecurity;
  ReleaseSysCache(row);
  return has;
}

void check_protected_table(const JudgedLevel* level, const RangeTblEntry* entry,
                           const BorrowedRelation* relation) {
  const bool is_table = entry->relkind == RELKIND_RELATION ||
                        entry->relkind == RELKIND_PARTITIONED_TABLE ||
                        entry->relkind == RELKIND_MATVIEW;
  if (!is_table) {
    refuse_table(level,
                 psprintf("\"%s\" is neither a table nor a materialized view of this database",
                          get_rel_name(entry->relid)),
                 accepted_aggregate(level->statement->refused));
  }
  if (entry->tablesample != nullptr) {
    refuse_table(
        level, "TABLESAMPLE is not supported over protected tables: it chooses rows by their place",
        "Leave out TABLESAMPLE.");
  }
  if (entry->securityQuals != NIL || has_row_security(entry->relid)) {
    refuse_table(level,
                 psprintf("\"%s\" has row security, which is not supported for protected tables",
                          get_rel_name(entry->relid)),
                 "Ask its owner for a view or another table.");
  }
  if (has_foreign_rows(entry->relid)) {
    refuse_table(level,
                 psprintf("some rows of \"%s\" are on another server", get_rel_name(entry->relid)),
                 "Ask its owner for a view of the other rows.");
  }
  if (relation->permissions->requiredPerms != ACL_SELECT) {
    refuse_table(level,
                 psprintf("the query does more than read \"%s\"", get_rel_name(entry->relid)),
                 "Leave out FOR UPDATE.");
  }
}

void check_users_of_table(const JudgedLevel* level, Oid table, AttrNumber user_column,
                          BorrowedRelation* relation) {
  const char* name = user_column > 0 ? get_attname(table, user_column, true) : nullptr;
  relation->table = table;
  relation->table_users = name == nullptr ? "" : name;
  if (OidIsValid(relation->through)) relation->table_users = column_that_refers(table);
  check_users_of_shared_rows(level->statement->refused, table, relation->table_users,
                             relation->through);
}

void check_users_of_view(const JudgedLevel* level, Oid relation, AttrNumber user_column) {
  const ProtectedRelation* read = find_protected_relation(relation);
  if (level->view == nullptr || read == nullptr || read->user_column == 0 ||
      read->user_column == user_column) {
    return;
  }
  refuse_with_code(
      level->statement->refused, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
      psprintf("table \"%s\" protects persons, but the view of it that the query reads does not",
               get_rel_name(relation)),
      "Ask its owner to protect the view with the column that identifies the persons.");
}

bool is_joinable(const RangeTblEntry* entry) {
  return entry->relid >= FirstNormalObjectId && entry->relkind == RELKIND_RELATION &&
         entry->tablesample == nullptr && entry->securityQuals == NIL &&
         !has_subclass(entry->relid);
}

}  // namespace dpquantile
