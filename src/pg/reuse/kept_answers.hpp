#pragma once

#include "pg/reuse/answer_key.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// The answers that are kept, in shared memory, which exists only if the library is in
// shared_preload_libraries. They are forgotten when the server stops. When memory is short, the
// oldest answers go first.
namespace dpquantile {

// The most relations that a query whose answers are kept may read.
inline constexpr int kRelationsOfAnswer = 4;

// Call it in _PG_init. Defines the setting; answers are kept if the library is being preloaded.
void install_kept_answers();

// The most bytes of answers that are kept; 0 without shared memory.
Size most_kept_bytes();

// What the answers of an execution were.
struct KeptAnswers {
  char* bytes;
  Size size;
};

// Call it before an execution reads a row: its answers are not kept if others are forgotten
// meanwhile (forget_kept_answers).
void begin_to_keep_answers();

// Looks for the answers of an earlier execution with this key, by the role that pays, that are not
// older than `most_age` microseconds. Returns a palloc'd copy, and counts the reuse; no bytes if
// there are none.
KeptAnswers find_kept_answers(const AnswerKey& key, int64 most_age);

// What is kept about an answer besides.
struct AnswerOrigin {
  List* relations;     // OIDs of the protected relations, at most kRelationsOfAnswer
  int64 first_charge;  // the number of its first charge among those of the budget (dp_ledger)
  int charges;
};

// Keeps the answers of this execution, from now on, for the role that pays. Does nothing if there
// are none. They have at most most_kept_bytes(). Raises no error: they have been paid for.
void keep_answers(const AnswerKey& key, const AnswerOrigin& origin, KeptAnswers answers);

// Forgets the answers of queries over this relation. Returns their number.
int forget_kept_answers(Oid relation);

// A kept answer, for views.
struct KeptAnswer {
  Oid role;
  uint64 role_version;  // catalog_version.hpp
  int64 first_charge;
  int charges;
  int64 reuses;
};

// Those of this database and of roles that are still the same, palloc'd, and their number.
KeptAnswer* list_kept_answers(int* count);

}  // namespace dpquantile
