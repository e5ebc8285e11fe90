#include "pg/aggregate/user_hash.hpp"

#include "pg/aggregate/user_key.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_type(Oid type) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("values of type %s cannot be hashed", format_type_be(type)),
                  errdetail("The type has no 64-bit hash function for its equality."),
                  errhint("Cast them to a type that can be hashed, such as text or bigint.")));
}

// Also a type that casts to float8 without a function: it has no other hash function.
bool is_floating_point(Oid type) {
  const Oid hash = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;
  return hash == F_HASHFLOAT8EXTENDED || hash == F_HASHFLOAT4EXTENDED;
}

// Floating-point numbers are values, not ids. A whole row of a table would make every row a user of
// its own. The hash functions of the other types are known to give some different values one hash.
bool is_refused_type(Oid type) {
  const Oid base = getBaseType(type);
  if (base == INTERVALOID || base == JSONBOID || base == ACLITEMOID) return true;
  if (is_floating_point(base)) return true;
  const char kind = get_typtype(base);
  return kind == TYPTYPE_COMPOSITE || kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE;
}

void refuse_non_ids(Oid type) {
  if (!is_refused_type(type)) return;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("user_id must be an identifier, got a value of type %s", format_type_be(type)),
           errhint("user_id is the first argument. Cast an identifier to text or bigint.")));
}

// The server's hash functions of these types ignore the collation.
bool is_refused_collation(Oid type, Oid collation) {
  const Oid base = getBaseType(type);
  if (base != NAMEOID && base != BPCHAROID) return false;
  return OidIsValid(collation) && !get_collation_isdeterministic(collation);
}

void refuse_collation(Oid type, Oid collation) {
  if (!is_refused_collation(type, collation)) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("values of type %s cannot be hashed under a nondeterministic collation",
                         format_type_be(type)),
                  errhint("Cast them to text.")));
}

void require_collation(Oid type, Oid collation) {
  if (OidIsValid(collation) || !OidIsValid(get_typcollation(type))) return;
  ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                  errmsg("could not determine which collation to use for the values"),
                  errhint("Use the COLLATE clause to set the collation explicitly.")));
}

IdForm form_of(Oid type, Oid collation) {
  const Oid base = getBaseType(type);
  if (base == NUMERICOID) return IdForm::kNumeric;
  if (base == BPCHAROID) return IdForm::kBlanks;
  return is_bytewise(type, collation) ? IdForm::kBytes : IdForm::kOther;
}

uint64 hash_bytes_of(const UserHash* hasher, const void* bytes, std::size_t size) {
  return sip_hash(hasher->key, {static_cast<const std::uint8_t*>(bytes), size});
}

uint64 hash_varlena(const UserHash* hasher, Datum user) {
  struct varlena* plain = PG_DETOAST_DATUM_PACKED(user);
  const uint64 hash = hash_bytes_of(hasher, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
  if (plain != reinterpret_cast<struct varlena*>(DatumGetPointer(user))) pfree(plain);
  return hash;
}

// PostgreSQL passes 8 bytes by reference on processors of 32 bits.
bool is_integer(const UserHash* hasher) {
  return hasher->by_value || hasher->type_length == sizeof(int64);
}

uint64 integer_of(const UserHash* hasher, Datum user) {
  if (hasher->type_length == sizeof(int64)) return static_cast<uint64>(DatumGetInt64(user));
  // The unused bytes of the datum may hold anything.
  const int unused = 64 - 8 * hasher->type_length;
  return static_cast<uint64>(user) << unused >> unused;
}

uint64 hash_bytewise(const UserHash* hasher, Datum user) {
  // An integer is hashed as a number, because processors keep its bytes in different orders.
  if (is_integer(hasher)) return sip_hash_of_number(hasher->key, integer_of(hasher, user));
  if (hasher->type_length == -1) return hash_varlena(hasher, user);
  return hash_bytes_of(hasher, DatumGetPointer(user),
                       static_cast<std::size_t>(hasher->type_length));
}

// Equal numbers, such as 1 and 1.0, have the same normalized digits.
uint64 hash_numeric_id(const UserHash* hasher, Datum user) {
  Numeric number = DatumGetNumeric(user);
  char* digits = numeric_normalize(number);
  const uint64 hash = hash_bytes_of(hasher, digits, strlen(digits));
  pfree(digits);
  if (PointerGetDatum(number) != user) pfree(number);
  return hash;
}

// Combines two hashes of 64 bits, because the type's hash function may not use all bits of one
// well. That function does not see the key.
uint64 hash_by_type(UserHash* hasher, Datum user) {
  uint64 hashes[2];
  for (uint8 i = 0; i < 2; ++i) {
    const uint64 seed = hash_bytes_of(hasher, &i, sizeof i);
    hashes[i] = DatumGetUInt64(
        FunctionCall2Coll(&hasher->extended_hash, hasher->collation, user, UInt64GetDatum(seed)));
  }
  return hash_bytes_of(hasher, hashes, sizeof hashes);
}

const Node* first_argument(const Aggref* call) {
  if (call->args == NIL) {
    ereport(ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the aggregate call has no arguments")));
  }
  return as<Node>(static_cast<TargetEntry*>(linitial(call->args))->expr);
}

UserHash* make_hash(const Node* user, const SipKey& key, MemoryContext context) {
  const Oid type = exprType(user);
  auto* hasher = static_cast<UserHash*>(MemoryContextAllocZero(context, sizeof(UserHash)));
  // If the type's equality is known, the cache gives only a hash function that agrees with it.
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
  hasher->collation = exprCollation(user);
  require_collation(type, hasher->collation);
  refuse_collation(type, hasher->collation);
  hasher->type_length = entry->typlen;
  hasher->by_value = entry->typbyval;
  hasher->form = form_of(type, hasher->collation);
  if (hasher->form == IdForm::kBlanks || hasher->form == IdForm::kOther) {
    // Anonymous records have no such function either: only each row tells their columns.
    if (!OidIsValid(entry->hash_extended_proc)) refuse_type(type);
    fmgr_info_cxt(entry->hash_extended_proc, &hasher->extended_hash, context);
  }
  hasher->key = key;
  hasher->key_check = sip_hash(hasher->key, {});
  return hasher;
}

}  // namespace

bool identifies_users(Oid type, Oid collation) {
  if (type_is_array_domain(type) || is_refused_type(type)) return false;
  if (is_refused_collation(type, collation)) return false;
  if (form_of(type, collation) != IdForm::kOther) return true;
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
  return OidIsValid(entry->hash_extended_proc);
}

UserHash* make_user_hash(const Node* user, MemoryContext context) {
  refuse_non_ids(exprType(user));
  return make_hash(user, user_key(), context);
}

UserHash* make_user_hash(const Aggref* call, MemoryContext context) {
  return make_user_hash(first_argument(call), context);
}

UserHash* make_value_hash(const Aggref* call, MemoryContext context) {
  return make_hash(first_argument(call), user_key(), context);
}

UserHash* make_value_hash(const Node* value, const SipKey& key, MemoryContext context) {
  return make_hash(value, key, context);
}

uint64 hash_user(UserHash* hasher, Datum user) {
  switch (hasher->form) {
    case IdForm::kBytes:
      return hash_bytewise(hasher, user);
    case IdForm::kNumeric:
      return hash_numeric_id(hasher, user);
    default:
      return hash_by_type(hasher, user);
  }
}

bool stands_for_itself(const UserHash* hasher) {
  return hasher->form == IdForm::kBytes && is_integer(hasher);
}

uint64 integer_of_user(const UserHash* hasher, Datum user) {
  return integer_of(hasher, user);
}

bool bytes_stand_for_ids(const UserHash* hasher) {
  return hasher->form == IdForm::kBlanks || (hasher->form == IdForm::kBytes && !is_integer(hasher));
}

std::span<const uint8> bytes_of_user(const UserHash* hasher, Datum user) {
  if (hasher->type_length != -1) {
    return {reinterpret_cast<const uint8*>(DatumGetPointer(user)),
            static_cast<std::size_t>(hasher->type_length)};
  }
  const void* plain = DatumGetPointer(user);
  if (is_stored_apart(hasher, user)) plain = PG_DETOAST_DATUM_PACKED(user);
  char* bytes = VARDATA_ANY(plain);
  int size = static_cast<int>(VARSIZE_ANY_EXHDR(plain));
  if (hasher->form == IdForm::kBlanks) size = bpchartruelen(bytes, size);
  return {reinterpret_cast<const uint8*>(bytes), static_cast<std::size_t>(size)};
}

}  // namespace dpquantile
