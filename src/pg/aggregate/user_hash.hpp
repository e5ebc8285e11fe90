#pragma once

#include <span>

#include "core/base/sip_hash.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// A keyed 64-bit hash of the user's id stands for the user. Equal ids have equal hashes.
// core/contributions/user_rows.hpp says what a collision does. The hash is one of the id's bytes
// for the types of which it is known that equal ids have equal bytes. That of a numeric is one of
// its normalized digits. For any other type the type's own hash function comes first, and ids
// collide where that function collides. Types whose hash function is known to collide (composite
// types, jsonb, ranges, intervals) are refused. So are floating-point types, which hold values and
// not ids.
namespace dpquantile {

enum class IdForm : uint8 {
  kBytes,    // ids are equal if and only if their bytes are equal
  kBlanks,   // the same without the blanks at their ends: character(n)
  kNumeric,  // numeric: the type's own hash ignores the sign
  kOther,    // hashed by the type's own hash function first
};

// The hash of the ids of one aggregate call. Plain data.
struct UserHash {
  SipKey key;
  uint64 key_check;  // the hash of no bytes: equal for equal keys
  IdForm form;
  int16 type_length;  // as in pg_type
  bool by_value;
  Oid collation;
  FmgrInfo extended_hash;  // for kBlanks and kOther: the type's own hash function
};

// Whether a column of the type and collation can be the user argument of a call: make_user_hash()
// makes a hash of it, and it is no array.
bool identifies_users(Oid type, Oid collation);

// Makes the hash of the first argument of a call, palloc'd in the context. ereports if the
// argument's type or collation cannot be hashed (the data play no part), or if read_user_key()
// finds no key.
UserHash* make_user_hash(const Aggref* call, MemoryContext context);
// The same for an expression.
UserHash* make_user_hash(const Node* user, MemoryContext context);
// The same for values that are no ids. Where the type's own hash function collides, different
// values have one hash.
UserHash* make_value_hash(const Aggref* call, MemoryContext context);
// The same for an expression, and under another key.
UserHash* make_value_hash(const Node* value, const SipKey& key, MemoryContext context);

// The hash of a user's id. It leaves no memory allocated in the current memory context, apart from
// what the type's own hash function leaves. ereports what that function reports.
uint64 hash_user(UserHash* hasher, Datum user);

// Whether ids are integers of at most 8 bytes, or are stored as such.
bool stands_for_itself(const UserHash* hasher);

// The id itself as a number, if it stands for itself: no two ids have one number.
uint64 integer_of_user(const UserHash* hasher, Datum user);

// Whether ids are equal if and only if bytes_of_user() are.
bool bytes_stand_for_ids(const UserHash* hasher);

// The bytes that stand for the id, if bytes_stand_for_ids(). They stay as long as the id or,
// if that is compressed or out of line, what is allocated in the current memory context. ereports
// if it cannot be read.
std::span<const uint8> bytes_of_user(const UserHash* hasher, Datum user);

// Whether the id must be copied to read its bytes.
inline bool is_stored_apart(const UserHash* hasher, Datum user) {
  if (hasher->type_length != -1) return false;
  const void* id = DatumGetPointer(user);
  return VARATT_IS_EXTERNAL(id) || VARATT_IS_COMPRESSED(id);
}

}  // namespace dpquantile
