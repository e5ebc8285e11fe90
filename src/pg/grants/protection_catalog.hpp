#pragma once

#include <optional>

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
}

// Which relations are protected, who may ask private queries about them, whose queries have failed
// while they read rows, and what is publicly known of their columns: the tables
// dpquantile.protected_table, dpquantile.private_grant, dpquantile.failed_read and
// dpquantile.column_domain, kept in a cache of the backend. The cache follows invalidations of
// these tables. Without the extension, or without its tables, no
// relation is protected and nobody borrows a right.
namespace dpquantile {

// The user column of a table that has none, because its rows refer to those of another table, which
// has one. No column has this number, so that none passes for it.
constexpr AttrNumber kUsersOfReference = -101;

struct ProtectedRelation {
  Oid relation;
  // The user column: it identifies the person all of whose rows are protected; 0 if each row is
  // protected; kUsersOfReference.
  AttrNumber user_column;
  // The name of this column, or of the one that refers.
  NameData user_column_name;
  // With kUsersOfReference: the column that refers to the row whose person is that of this row, and
  // the table of that row; it is protected, too. Else 0 and invalid.
  AttrNumber reference_column;
  Oid through;
  // How many rows of a user each release block sees; 0: aggregates over rows are refused.
  int max_rows;
  // In how many groups of a release block a user counts, where each has one row in a group:
  // max_rows, unless the owner states another number.
  int max_groups;
  // What kind of persons they are, by a name of the owner's: the tables of one owner with the same
  // name may be joined by their user columns. Empty: none.
  NameData unit;
};

// Makes the cache follow the catalog. Call it once, when the library is loaded.
void install_protection_catalog();

// Whether the database has a protected relation. Needs a transaction, as the functions below do.
bool any_protected_relation();

// Null if the relation is not protected. Valid until the next call of one of these functions.
const ProtectedRelation* find_protected_relation(Oid relation);

// The column that identifies the persons of a protected table: its user column, or that of the
// table at the end of its references. Both 0 if there is none.
struct UserColumn {
  Oid relation;
  AttrNumber number;
};
UserColumn column_of_users(Oid relation);

struct Reference;  // reference.hpp

// The reference by which a table is protected through another one, or null.
const Reference* reference_to_persons(Oid relation);

// Whether columns of a table have all of that reference: rows with one value of them are of one
// person.
bool refer_to_person(Oid relation, const Bitmapset* columns);

// Why the rows of a protected table do not lead to persons through the other table, or null if they
// do. The reason goes on after "its ". Then private access to the table is closed.
const char* problem_of_reference(const ProtectedRelation& protection);

// What a query of one of the relations does to name the person of a row, as a sentence for a hint:
// if one of them is protected through another table. Else null.
const char* hint_of_reference(const List* relations);

// The OIDs of all protected relations that protect persons.
List* relations_that_protect_users();

// What the user's grants on the relation allow together.
struct PrivateAccess {
  double smallest_epsilon;        // of a private aggregate
  double max_epsilon;             // of one; infinite: only budgets limit it
  std::optional<double> epsilon;  // of each standard aggregate; none: they are not answered
  std::optional<double> delta;    // of the choice of groups; none: keys must be public
  int64 reuse;       // how long answers are returned again, in microseconds; 0: not at all
  int most_cancels;  // how many queries may end while they read rows, before access closes
};

// None without a valid grant. A grant is valid for the members of a role, if the role still exists
// under the name to which the owner gave it, if the user column is still the same, and if a table
// that is protected through another one still leads to persons. Of several grants the smallest
// smallest_epsilon counts, the largest max_epsilon, the largest epsilon with the delta beside it,
// the longest reuse, and the most cancels.
std::optional<PrivateAccess> private_access(Oid relation, Oid user);

// The queries of the user that ended while they read rows of the relation.
struct FailedReads {
  int cancels;
  bool any_closes;  // one had an error that perhaps only a row can raise
};
FailedReads failed_reads(Oid relation, Oid user);

// The OIDs of all relations that the user has private access to.
List* relations_with_private_access(Oid user);

// What is publicly known of a column. The texts are read by the input function of `type`; an absent
// one is null.
struct ColumnDomain {
  Oid relation;
  AttrNumber column;
  NameData name;
  Oid type;
  const char* lower;
  const char* upper;
  const char* granularity;
  ArrayType* keys;  // text[]
  int other;        // the number of the key that stands for all others, from 1; 0 if none does
};

// Null if the column has no domain, or is not the one that got it: its number, name and type must
// be the same. Valid until the next call of one of these functions.
const ColumnDomain* find_domain(Oid relation, AttrNumber column);

}  // namespace dpquantile
