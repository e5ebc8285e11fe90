#include "pg/grants/borrowed_relations.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// The same rule as PostgreSQL's: SELECT on the relation, on all columns that are read, or on any
// column if none is read.
bool may_select(const RelationPermissions* entry, Oid user) {
  if (pg_class_aclcheck(entry->relid, user, ACL_SELECT) == ACLCHECK_OK) return true;
  if (bms_is_empty(entry->selectedCols)) {
    return pg_attribute_aclcheck_all(entry->relid, user, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
  }
  int member = -1;
  while ((member = bms_next_member(entry->selectedCols, member)) >= 0) {
    const auto column = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
    const AclResult result =
        column == InvalidAttrNumber
            ? pg_attribute_aclcheck_all(entry->relid, user, ACL_SELECT, ACLMASK_ALL)
            : pg_attribute_aclcheck(entry->relid, column, user, ACL_SELECT);
    if (result != ACLCHECK_OK) return false;
  }
  return true;
}

BorrowedRelation borrowed_of(RelationPermissions* entry, const ProtectedRelation& protection) {
  BorrowedRelation borrowed{};
  borrowed.permissions = entry;
  borrowed.user_column = protection.user_column;
  borrowed.through = protection.through;
  borrowed.max_rows = protection.max_rows;
  borrowed.max_groups = protection.max_groups;
  borrowed.unit = protection.unit;
  borrowed.table = entry->relid;
  borrowed.table_users = "";
  return borrowed;
}

// Null if the entry is not borrowed.
BorrowedRelation* borrow(RelationPermissions* entry) {
  if ((entry->requiredPerms & ACL_SELECT) == 0 || !OidIsValid(entry->relid)) return nullptr;
  const Oid user = GetUserId();
  if (OidIsValid(entry->checkAsUser) && entry->checkAsUser != user) return nullptr;
  const ProtectedRelation* protection = find_protected_relation(entry->relid);
  if (protection == nullptr) return nullptr;
  const BorrowedRelation found = borrowed_of(entry, *protection);
  if (may_select(entry, user)) return nullptr;
  if (!private_access(entry->relid, user)) return nullptr;
  auto* borrowed = static_cast<BorrowedRelation*>(palloc(sizeof(BorrowedRelation)));
  *borrowed = found;
  return borrowed;
}

}  // namespace

BorrowedRelation* borrow_referenced(RelationPermissions* permissions) {
  const ProtectedRelation* protection = find_protected_relation(permissions->relid);
  if (protection == nullptr) return nullptr;
  auto* borrowed = static_cast<BorrowedRelation*>(palloc(sizeof(BorrowedRelation)));
  *borrowed = borrowed_of(permissions, *protection);
  borrowed->is_referenced = true;
  return borrowed;
}

List* find_borrowed_relations(Query* query) {
  List* borrowed = NIL;
  if (!any_protected_relation()) return NIL;
  visit_nodes(
      query,
      [&](Node* node) {
        if (!IsA(node, Query)) return;
        for (auto* permissions : each<RelationPermissions>(all_permissions(as<Query>(node)))) {
          BorrowedRelation* relation = borrow(permissions);
          if (relation != nullptr) borrowed = lappend(borrowed, relation);
        }
      },
      kIntoQueries);
  return borrowed;
}

List* borrowed_oids(Query* query) {
  List* relations = NIL;
  for (const auto* borrowed : each<const BorrowedRelation>(find_borrowed_relations(query))) {
    relations = list_append_unique_oid(relations, borrowed->permissions->relid);
  }
  return relations;
}

bool borrows(RelationPermissions* permissions) {
  return borrow(permissions) != nullptr;
}

BorrowedRelation* find_borrowed(const List* borrowed, const RelationPermissions* permissions) {
  if (permissions == nullptr) return nullptr;
  for (auto* relation : each<BorrowedRelation>(borrowed)) {
    if (relation->permissions == permissions) return relation;
  }
  return nullptr;
}

void lend_owners_rights(const BorrowedRelation* relation) {
  // An invalid owner leaves the user's own rights, which do not suffice.
  relation->permissions->checkAsUser = owner_of(relation->permissions->relid);
}

bool answers_plain_sql(const List* borrowed) {
  for (const auto* relation : each<const BorrowedRelation>(borrowed)) {
    const auto access = private_access(relation->permissions->relid, GetUserId());
    if (!access || !access->epsilon) return false;
  }
  return true;
}

const char* name_of(const BorrowedRelation* relation) {
  const char* name = get_rel_name(relation->permissions->relid);
  return name == nullptr ? "?" : name;
}

const char* user_of(const BorrowedRelation* relation) {
  if (relation->user_column == 0) return nullptr;
  return get_attname(relation->permissions->relid, relation->user_column, true);
}

}  // namespace dpquantile
