#pragma once

#include "pg/protect/judged_level.hpp"

// The keys of a GROUP BY over protected rows. Each is a total function of one row, so that a row is
// in one group, and equal keys are written in one way, or one row would decide which of them is
// shown (Lemmas 34g and 34h of docs/privacy/relations.md). Keys of which a user could choose the
// hashes are grouped by a secret hash besides: else many rows with one hash would take quadratic
// time, and tell that they are there.
namespace dpquantile {

struct GroupKeys {
  JudgedLevel* level;
  List* asked;      // the keys as they were
  List* rewritten;  // and as they are computed for a row
  bool has_users;   // whether a key that is the user of the rows stays as it is, however long
};

// Checks and rewrites the keys of the level's query, and fills both lists.
void rewrite_keys(GroupKeys* keys);

// A copy of the rewritten key that an expression is; null if it is none.
Node* rewritten_key(const GroupKeys& keys, const Node* expression);

// Has the statement rely on the unique keys by which PostgreSQL knows that a column which is no key
// has one value in a group.
void rely_on_keys(const JudgedLevel* level);

// Adds the hashes of keys to GROUP BY: of all, or of those that no row has as they are. `groups` is
// the GROUP BY that the keys are of. The target list has been rewritten.
void group_by_hashes(const GroupKeys& keys, const List* groups, bool all_keys);

// Adds the hash of a person to the target list, under a secret of the plan, and returns the key
// that it is. By it the plan keeps the rows of the person together (ordered_persons.hpp in
// pg/borrowed).
SortGroupClause* add_person_hash(const JudgedLevel* level, const Node* person);

}  // namespace dpquantile
