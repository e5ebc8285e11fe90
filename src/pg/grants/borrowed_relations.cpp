#include "pg/grants/borrowed_relations.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/view_query.hpp"
#include "pg/server/group_keys.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

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

BorrowedRelation* copy_of(const BorrowedRelation& relation) {
  auto* copy = static_cast<BorrowedRelation*>(palloc(sizeof(BorrowedRelation)));
  *copy = relation;
  return copy;
}

// Null if the entry is not borrowed.
BorrowedRelation* borrow(RelationPermissions* entry, Oid lent = InvalidOid) {
  if ((entry->requiredPerms & ACL_SELECT) == 0 || !OidIsValid(entry->relid)) return nullptr;
  const Oid user = GetUserId();
  if (OidIsValid(entry->checkAsUser) && entry->checkAsUser != user) return nullptr;
  const ProtectedRelation* protection = find_protected_relation(entry->relid);
  if (protection == nullptr) return nullptr;
  const BorrowedRelation found = borrowed_of(entry, *protection);
  if (entry->relid == lent) return copy_of(found);
  if (may_select(entry, user)) return nullptr;
  return private_access(entry->relid, user) ? copy_of(found) : nullptr;
}

// ---- What views read -----------------------------------------------------------------------

void borrow_tables_of_view(Query* query, const BorrowedRelation* view, List** borrowed);

// What a borrowed view reads, unless its rows are those of one table. `entry` shows the view.
void borrow_below(const RangeTblEntry* entry, const BorrowedRelation* view, List** borrowed) {
  if (entry->rtekind == RTE_SUBQUERY && !shows_one_table(entry->subquery)) {
    borrow_tables_of_view(entry->subquery, view, borrowed);
  }
}

// Null if the entry is not protected. The entries by which a view's query names the view itself,
// until PostgreSQL 15, show nothing.
BorrowedRelation* borrow_for_view(const RangeTblEntry* entry, RelationPermissions* permissions,
                                  const BorrowedRelation* view) {
  const bool shows_nothing = entry->rtekind == RTE_RELATION && entry->relkind == RELKIND_VIEW;
  if (permissions == nullptr || shows_nothing) return nullptr;
  const ProtectedRelation* protection = find_protected_relation(permissions->relid);
  if (protection == nullptr) return nullptr;
  BorrowedRelation* relation = copy_of(borrowed_of(permissions, *protection));
  relation->view = view;
  return relation;
}

void borrow_tables_of_view(Query* query, const BorrowedRelation* view, List** borrowed) {
  check_stack_depth();
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    BorrowedRelation* relation = borrow_for_view(entry, permissions_of(query, entry), view);
    if (relation != nullptr) {
      *borrowed = lappend(*borrowed, relation);
      borrow_below(entry, relation, borrowed);
    } else if (entry->rtekind == RTE_SUBQUERY) {
      borrow_tables_of_view(entry->subquery, view, borrowed);
    }
  }
  const auto borrow_in_expressions = [&](Node* node) {
    if (!IsA(node, Query) || node == as<Node>(query)) return Look::kBelow;
    borrow_tables_of_view(as<Query>(node), view, borrowed);
    return Look::kPast;
  };
  (void)search(query, borrow_in_expressions,
               kIntoQueries | QTW_IGNORE_RT_SUBQUERIES | DPQ_IGNORE_GROUP_KEYS);
}

void borrow_tables_of_views(Query* query, List** borrowed) {
  const List* named = list_copy(*borrowed);
  visit_nodes(
      query,
      [&](Node* node) {
        if (!IsA(node, Query)) return;
        for (auto* entry : each<RangeTblEntry>(as<Query>(node)->rtable)) {
          const BorrowedRelation* view =
              find_borrowed(named, permissions_of(as<Query>(node), entry));
          if (view != nullptr) borrow_below(entry, view, borrowed);
        }
      },
      kIntoQueries);
}

}  // namespace

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

BorrowedRelation* borrow_referenced(RelationPermissions* permissions) {
  const ProtectedRelation* protection = find_protected_relation(permissions->relid);
  if (protection == nullptr) return nullptr;
  BorrowedRelation* borrowed = copy_of(borrowed_of(permissions, *protection));
  borrowed->is_referenced = true;
  return borrowed;
}

namespace {

List* relations_borrowed_by(Query* query, Oid lent) {
  List* borrowed = NIL;
  visit_nodes(
      query,
      [&](Node* node) {
        if (!IsA(node, Query)) return;
        for (auto* permissions : each<RelationPermissions>(all_permissions(as<Query>(node)))) {
          BorrowedRelation* relation = borrow(permissions, lent);
          if (relation != nullptr) borrowed = lappend(borrowed, relation);
        }
      },
      kIntoQueries);
  return borrowed;
}

// Those of grouping sets stay until the levels are read. Returns whether any query changed.
bool resolve_all_group_keys(Query* query) {
  bool changed = false;
  visit_nodes(
      query,
      [&](Node* node) {
        const bool has_sets = !IsA(node, Query) || as<Query>(node)->groupingSets != NIL;
        if (!has_sets && resolve_group_keys(as<Query>(node))) changed = true;
      },
      kIntoQueries);
  return changed;
}

bool all_grants_state(const List* borrowed, std::optional<double> PrivateAccess::*amount) {
  for (const auto* relation : each<const BorrowedRelation>(borrowed)) {
    if (!is_named(relation)) continue;
    const auto access = private_access(relation->permissions->relid, GetUserId());
    if (!access || !((*access).*amount)) return false;
  }
  return true;
}

}  // namespace

// A copied key has copies of the relations that its queries read.
List* find_borrowed_relations(Query* query, Oid lent) {
  if (!any_protected_relation()) return NIL;
  List* borrowed = relations_borrowed_by(query, lent);
  if (borrowed == NIL) return NIL;
  if (resolve_all_group_keys(query)) borrowed = relations_borrowed_by(query, lent);
  borrow_tables_of_views(query, &borrowed);
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
  if (relation->view != nullptr) return;
  // An invalid owner leaves the user's own rights, which do not suffice.
  relation->permissions->checkAsUser = owner_of(relation->permissions->relid);
}

bool answers_plain_sql(const List* borrowed) {
  return all_grants_state(borrowed, &PrivateAccess::epsilon);
}

bool chooses_keys(const List* borrowed) {
  return all_grants_state(borrowed, &PrivateAccess::delta);
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
