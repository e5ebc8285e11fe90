#include "pg/aggregate/user_hash.hpp"

#include <span>

#include "pg/aggregate/user_key.hpp"

extern "C" {
#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_type(Oid type) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("users cannot be told apart by values of type %s", format_type_be(type)),
                  errdetail("The type has no 64-bit hash function."),
                  errhint("Cast the user to a type that can be hashed, such as text or bigint.")));
}

// Types whose own hash functions are known to take different values for the same, a number with a
// fraction, which is a value and no id, and a row of a table, which is one of its own.
bool is_no_id(Oid type) {
  const Oid base = getBaseType(type);
  if (base == FLOAT4OID || base == FLOAT8OID || base == INTERVALOID || base == JSONBOID)
    return true;
  const char kind = get_typtype(base);
  return kind == TYPTYPE_COMPOSITE || kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE;
}

void refuse_non_ids(Oid type) {
  if (!is_no_id(type)) return;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("the user must be an identifier, got a value of type %s", format_type_be(type)),
           errhint("The arguments come in the order user, value, epsilon, lower, upper. Cast "
                   "an identifier to text or bigint.")));
}

// The server's hash functions of these types leave the collation out.
void refuse_collation(Oid type, Oid collation) {
  const Oid base = getBaseType(type);
  if (base != NAMEOID && base != BPCHAROID) return;
  if (!OidIsValid(collation) || get_collation_isdeterministic(collation)) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("users of type %s cannot be told apart under a nondeterministic collation",
                         format_type_be(type)),
                  errhint("Cast the user to text.")));
}

void require_collation(Oid type, Oid collation) {
  if (OidIsValid(collation) || !OidIsValid(get_typcollation(type))) return;
  ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                  errmsg("could not determine which collation to use for the users"),
                  errhint("Use the COLLATE clause to set the collation explicitly.")));
}

// Whether equal values have equal bytes, as B-tree deduplication asks.
bool is_bytewise(const TypeCacheEntry* entry, Oid collation) {
  if (!OidIsValid(entry->btree_opf)) return false;
  const RegProcedure equal_image = get_opfamily_proc(entry->btree_opf, entry->btree_opintype,
                                                     entry->btree_opintype, BTEQUALIMAGE_PROC);
  return OidIsValid(equal_image) &&
         DatumGetBool(
             OidFunctionCall1Coll(equal_image, collation, ObjectIdGetDatum(entry->btree_opintype)));
}

IdForm form_of(Oid type, const TypeCacheEntry* entry, Oid collation) {
  if (getBaseType(type) == NUMERICOID) return IdForm::kNumeric;
  return is_bytewise(entry, collation) ? IdForm::kBytes : IdForm::kOther;
}

uint64 hash_bytes_of(const UserHash* how, const void* bytes, std::size_t size) {
  return sip_hash(how->key, {static_cast<const std::uint8_t*>(bytes), size});
}

uint64 hash_varlena(const UserHash* how, Datum user) {
  struct varlena* plain = PG_DETOAST_DATUM_PACKED(user);
  const uint64 hash = hash_bytes_of(how, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain));
  if (plain != reinterpret_cast<struct varlena*>(DatumGetPointer(user))) pfree(plain);
  return hash;
}

uint64 hash_bytewise(const UserHash* how, Datum user) {
  if (how->by_value) {
    // Whatever is in the unused bytes of the datum does not count.
    const int unused = 64 - 8 * how->type_length;
    const uint64 used = static_cast<uint64>(user) << unused >> unused;
    return hash_bytes_of(how, &used, sizeof used);
  }
  if (how->type_length == -1) return hash_varlena(how, user);
  return hash_bytes_of(how, DatumGetPointer(user), static_cast<std::size_t>(how->type_length));
}

// As decimal digits without trailing zeros.
uint64 hash_numeric_id(const UserHash* how, Datum user) {
  Numeric number = DatumGetNumeric(user);
  char* digits = numeric_normalize(number);
  const uint64 hash = hash_bytes_of(how, digits, strlen(digits));
  pfree(digits);
  if (PointerGetDatum(number) != user) pfree(number);
  return hash;
}

// Two hashes of 64 bits, in case that one of them does not use all of its bits well. The type's
// function does not see the key.
uint64 hash_by_type(UserHash* how, Datum user) {
  uint64 hashes[2];
  for (uint8 i = 0; i < 2; ++i) {
    const uint64 seed = hash_bytes_of(how, &i, sizeof i);
    hashes[i] = DatumGetUInt64(
        FunctionCall2Coll(&how->extended_hash, how->collation, user, UInt64GetDatum(seed)));
  }
  return hash_bytes_of(how, hashes, sizeof hashes);
}

}  // namespace

UserHash* make_user_hash(const Aggref* call, MemoryContext context) {
  if (call->args == NIL) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("an aggregate call without a user")));
  }
  const auto* user =
      reinterpret_cast<const Node*>(static_cast<TargetEntry*>(linitial(call->args))->expr);
  const Oid type = exprType(user);
  refuse_non_ids(type);
  auto* how = static_cast<UserHash*>(MemoryContextAllocZero(context, sizeof(UserHash)));
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_EXTENDED_PROC);
  how->collation = exprCollation(user);
  require_collation(type, how->collation);
  refuse_collation(type, how->collation);
  how->type_length = entry->typlen;
  how->by_value = entry->typbyval;
  how->form = form_of(type, entry, how->collation);
  if (how->form == IdForm::kOther) {
    // None for anonymous records either, whose columns are only known row by row.
    if (!OidIsValid(entry->hash_extended_proc)) refuse_type(type);
    fmgr_info_cxt(entry->hash_extended_proc, &how->extended_hash, context);
  }
  how->key = read_user_key();
  how->key_check = sip_hash(how->key, {});
  return how;
}

uint64 hash_user(UserHash* how, Datum user) {
  switch (how->form) {
    case IdForm::kBytes:
      return hash_bytewise(how, user);
    case IdForm::kNumeric:
      return hash_numeric_id(how, user);
    default:
      return hash_by_type(how, user);
  }
}

}  // namespace dpquantile
