#include "pg/facts/table_writers.hpp"

#include "pg/facts/write_paths.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr AclMode kWrite = ACL_INSERT | ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE;

// A protected relation, and a table that is joined with it.
struct Join {
  const RefusedQuery* query;
  Oid table;
  Oid relation;
  Oid path = InvalidOid;  // the relation whose writers also write the table, if it is another one
};

[[noreturn]] void refuse_writer(const Join& join, const char* writer) {
  const char* table = get_rel_name(join.table);
  const char* relation = get_rel_name(join.relation);
  const char* written = join.path == join.table
                            ? table
                            : psprintf("%s\", and so \"%s", get_rel_name(join.path), table);
  refuse_with_code(
      *join.query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
      psprintf("%s may write \"%s\", which is joined with \"%s\", but may not read the latter",
               writer, written, relation),
      psprintf("Join a table that only readers of \"%s\" may write.", relation));
}

void check_writer(const Join& join, Oid role) {
  if (role == ACL_ID_PUBLIC) refuse_writer(join, "every role");
  if (pg_class_aclcheck(join.relation, role, ACL_SELECT) == ACLCHECK_OK) return;
  refuse_writer(join, psprintf("role %s", GetUserNameFromId(role, true)));
}

void check_grantees(const Join& join, HeapTuple row, SysCacheIdentifier cache, AttrNumber column) {
  bool is_null;
  const Datum value = SysCacheGetAttr(cache, row, column, &is_null);
  if (is_null) return;
  const Acl* grants = DatumGetAclP(value);
  const AclItem* items = ACL_DAT(grants);
  for (int i = 0; i < ACL_NUM(grants); ++i) {
    if ((ACLITEM_GET_PRIVS(items[i]) & kWrite) != 0) check_writer(join, items[i].ai_grantee);
  }
}

void check_columns(const Join& join, int count) {
  for (int i = 1; i <= count; ++i) {
    HeapTuple row =
        SearchSysCache2(ATTNUM, ObjectIdGetDatum(join.path), Int16GetDatum(static_cast<int16>(i)));
    if (!HeapTupleIsValid(row)) continue;
    check_grantees(join, row, ATTNUM, Anum_pg_attribute_attacl);
    ReleaseSysCache(row);
  }
}

// The members of a role may become this role, and then read what it may read.
void check_path(const Join& join) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(join.path));
  if (!HeapTupleIsValid(row)) return;
  const auto* path = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  check_writer(join, path->relowner);
  check_grantees(join, row, RELOID, Anum_pg_class_relacl);
  check_columns(join, path->relnatts);
  ReleaseSysCache(row);
}

void check_join(const Join& join) {
  for (const Oid oid : each_oid(write_paths(join.table))) {
    check_path({join.query, join.table, join.relation, oid});
  }
  if (is_member_of_role(GetUserId(), ROLE_PG_WRITE_ALL_DATA)) {
    check_writer({join.query, join.table, join.relation, join.table}, GetUserId());
  }
}

}  // namespace

void check_writers(const RefusedQuery& query, const List* tables, const List* relations) {
  for (const Oid table : each_oid(tables)) {
    if (list_member_oid(relations, table)) continue;
    const ListCell* relation;
    foreach (relation, relations) check_join({&query, table, lfirst_oid(relation)});
  }
}

void check_joined_writers(const RefusedQuery& query, const List* tables) {
  for (const Oid table : each_oid(tables)) {
    const ListCell* part;
    foreach (part, find_all_inheritors(table, AccessShareLock, nullptr)) {
      const ListCell* other;
      foreach (other, tables) {
        if (lfirst_oid(other) == table) continue;
        check_join({&query, lfirst_oid(part), lfirst_oid(other)});
      }
    }
  }
}

}  // namespace dpquantile
