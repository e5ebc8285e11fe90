#pragma once

#include "pg/grants/relation_permissions.hpp"

// A borrowed relation is a protected relation that a user without SELECT on it asks private queries
// about. The query reads it with the rights of its owner.
namespace dpquantile {

struct BorrowedRelation {
  RelationPermissions* permissions;  // those of one entry of a range table
  AttrNumber user_column;            // as in ProtectedRelation
  Oid through;                       // as in ProtectedRelation
  int max_rows;                      // as in ProtectedRelation
  int max_groups;                    // as in ProtectedRelation
  NameData unit;                     // as in ProtectedRelation
  // The table that its rows are of, once the validator has found it; invalid: those of several in a
  // view.
  Oid table;
  const char* table_users;  // the column of that table that names the users; empty: none does
  bool is_validated;        // whether only private answers are computed from it
  // Whether the query reads it for the persons of another one alone, which is protected through it.
  // The user needs no grant.
  bool is_referenced;
  // The protected view whose query reads it, or null: the user needs a grant on that one alone.
  const BorrowedRelation* view;
};

// Whether the user needs a grant on the relation: the query names it.
inline bool is_named(const BorrowedRelation* relation) {
  return !relation->is_referenced && relation->view == nullptr;
}

// The borrowed relations of a query, at all levels: BorrowedRelation. An entry is borrowed if it
// needs SELECT and is checked as the current user, the relation is protected, the user has no
// SELECT on what it reads, and has a valid grant. So are the protected relations that a borrowed
// view reads, unless its rows are those of one table (view_query.hpp). NIL if there is none;
// PostgreSQL itself refuses the entries of users without SELECT and grant. `lent`: a protected view
// that counts as borrowed, whoever asks.
List* find_borrowed_relations(Query* query, Oid lent = InvalidOid);

// Whether the role has SELECT on what an entry with these permissions reads.
bool may_select(const RelationPermissions* permissions, Oid role);

// The relation of an entry that the query does not name, from which the persons of a borrowed one
// are read. Null if it is not protected.
BorrowedRelation* borrow_referenced(RelationPermissions* permissions);

// The OIDs of the borrowed relations of a query.
List* borrowed_oids(Query* query);

// Whether an entry with these permissions is borrowed.
bool borrows(RelationPermissions* permissions);

// The one with these permissions, or null.
BorrowedRelation* find_borrowed(const List* borrowed, const RelationPermissions* permissions);

// Makes PostgreSQL check the rights of the relation's owner; of what a view reads it checks those
// of the view's owner anyway.
void lend_owners_rights(const BorrowedRelation* relation);

// Whether the grants on all of them state an epsilon, without which standard aggregates are
// refused.
bool answers_plain_sql(const List* borrowed);

// Whether these grants state a delta, too, by which keys without a list are chosen privately.
bool chooses_keys(const List* borrowed);

// The name of the relation.
const char* name_of(const BorrowedRelation* relation);

// The name of its user column, or null if each row is protected.
const char* user_of(const BorrowedRelation* relation);

}  // namespace dpquantile
