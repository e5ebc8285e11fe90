#include "pg/facts/write_paths.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_rewrite.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr AclMode kChange = ACL_INSERT | ACL_UPDATE | ACL_DELETE;

ScanKeyData equals(AttrNumber column, Oid value) {
  ScanKeyData key;
  ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
  return key;
}

// Appends relation_of(row) of each row of a catalog that the keys select, if it is valid and new.
template <typename RelationOf>
List* append_from(List* relations, Oid catalog, Oid index, int count, ScanKeyData* keys,
                  RelationOf relation_of) {
  Relation opened = table_open(catalog, AccessShareLock);
  SysScanDesc scan = systable_beginscan(opened, index, true, nullptr, count, keys);
  while (true) {
    const HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const Oid relation = relation_of(row);
    if (OidIsValid(relation)) relations = list_append_unique_oid(relations, relation);
  }
  systable_endscan(scan);
  table_close(opened, AccessShareLock);
  return relations;
}

List* append_parents(List* relations, Oid table) {
  ScanKeyData key = equals(Anum_pg_inherits_inhrelid, table);
  return append_from(
      relations, InheritsRelationId, InheritsRelidSeqnoIndexId, 1, &key,
      [](HeapTuple row) { return reinterpret_cast<Form_pg_inherits>(GETSTRUCT(row))->inhparent; });
}

bool changes_rows(char action) {
  return action == FKCONSTR_ACTION_CASCADE || action == FKCONSTR_ACTION_SETNULL ||
         action == FKCONSTR_ACTION_SETDEFAULT;
}

List* append_referenced(List* relations, Oid table) {
  ScanKeyData key = equals(Anum_pg_constraint_conrelid, table);
  return append_from(
      relations, ConstraintRelationId, ConstraintRelidTypidNameIndexId, 1, &key, [](HeapTuple row) {
        const auto* constraint = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(row));
        const bool passes_on =
            constraint->contype == CONSTRAINT_FOREIGN &&
            (changes_rows(constraint->confupdtype) || changes_rows(constraint->confdeltype));
        return passes_on ? constraint->confrelid : InvalidOid;
      });
}

bool may_change(Oid table, Oid role) {
  return pg_class_aclcheck(table, role, kChange) == ACLCHECK_OK ||
         pg_attribute_aclcheck_all(table, role, kChange, ACLMASK_ANY) == ACLCHECK_OK;
}

bool is_invoker_view(HeapTuple row) {
  if (reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relkind != RELKIND_VIEW) return false;
  bool is_null = false;
  const Datum options = SysCacheGetAttr(RELOID, row, Anum_pg_class_reloptions, &is_null);
  if (is_null) return false;
  const auto* view = reinterpret_cast<ViewOptions*>(view_reloptions(options, false));
  return view != nullptr && view->security_invoker;
}

// Rules work with the rights of their relation's owner. A view with security_invoker works with
// those of its user, who may be the owner of another view.
enum class Way { kNone, kOfUser, kOfOwner };

Way way_through(Oid relation, Oid table) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) return Way::kNone;
  const auto* described = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  Way way = Way::kNone;
  if (described->relkind != RELKIND_MATVIEW) {
    if (may_change(table, described->relowner)) {
      way = Way::kOfOwner;
    } else if (is_invoker_view(row)) {
      way = Way::kOfUser;
    }
  }
  ReleaseSysCache(row);
  return way;
}

Oid relation_of_rule(Oid rule) {
  ScanKeyData key = equals(Anum_pg_rewrite_oid, rule);
  const List* found = append_from(
      NIL, RewriteRelationId, RewriteOidIndexId, 1, &key,
      [](HeapTuple row) { return reinterpret_cast<Form_pg_rewrite>(GETSTRUCT(row))->ev_class; });
  return found == NIL ? InvalidOid : linitial_oid(found);
}

// Views that work with the rights of their users go to `of_users` as well, unless they are there
// for another reason: who writes them needs a right on the table, too.
List* append_ruled(List* relations, Oid table, List** of_users) {
  ScanKeyData keys[] = {equals(Anum_pg_depend_refclassid, RelationRelationId),
                        equals(Anum_pg_depend_refobjid, table)};
  return append_from(relations, DependRelationId, DependReferenceIndexId, 2, keys,
                     [relations, table, of_users](HeapTuple row) {
                       const auto* entry = reinterpret_cast<Form_pg_depend>(GETSTRUCT(row));
                       if (entry->classid != RewriteRelationId) return InvalidOid;
                       const Oid relation = relation_of_rule(entry->objid);
                       const Way way =
                           relation == table ? Way::kNone : way_through(relation, table);
                       if (way == Way::kNone) return InvalidOid;
                       if (way == Way::kOfOwner) {
                         *of_users = list_delete_oid(*of_users, relation);
                       } else if (!list_member_oid(relations, relation)) {
                         *of_users = list_append_unique_oid(*of_users, relation);
                       }
                       return relation;
                     });
}

}  // namespace

List* write_paths(Oid table) {
  List* relations = list_make1_oid(table);
  List* of_users = NIL;
  for (int next = 0; next < list_length(relations); ++next) {
    const Oid relation = list_nth_oid(relations, next);
    relations = append_parents(relations, relation);
    relations = append_referenced(relations, relation);
    relations = append_ruled(relations, relation, &of_users);
  }
  return list_difference_oid(relations, of_users);
}

}  // namespace dpquantile
