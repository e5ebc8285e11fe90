#pragma once

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// How users are told apart: by a keyed 64-bit hash of their id (core/contributions/user_rows.hpp
// says what a collision does), the same for ids that are equal. Types of which the server cannot
// say that equal ids have equal bytes are hashed by their own hash function first, and collide
// where that does; those for which this is known (composite types, jsonb, ranges, intervals) are
// refused.
namespace dpquantile {

enum class IdForm : uint8 {
  kBytes,    // ids are equal if and only if their bytes are
  kNumeric,  // numeric, whose own hash leaves out the sign
  kOther,    // by the type's own hash
};

// How the ids of one aggregate call are hashed. Plain data.
struct UserHash {
  SipKey key;
  uint64 key_check;  // a hash of nothing: the same for the same key
  IdForm form;
  int16 type_length;  // as in pg_type
  bool by_value;
  Oid collation;
  FmgrInfo extended_hash;  // for IdForm::kOther: the type's own
};

// How to hash the first argument of a call, palloc'd in the context. ereports for a type that
// cannot be hashed, from the type alone, and where the key is missing.
UserHash* make_user_hash(const Aggref* call, MemoryContext context);

// The hash of a user id. Leaves nothing behind in the current memory context.
uint64 hash_user(UserHash* how, Datum user);

}  // namespace dpquantile
