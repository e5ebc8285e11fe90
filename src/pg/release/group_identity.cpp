#include "pg/release/group_identity.hpp"

extern "C" {
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

void look_up_hash(Oid type, FmgrInfo* hash) {
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_EXTENDED_PROC);
  if (!OidIsValid(entry->hash_extended_proc)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("keys of type %s cannot be hashed", format_type_be(type)),
                    errhint("Cast the key to a type that can be hashed, such as text.")));
  }
  fmgr_info(entry->hash_extended_proc, hash);
}

}  // namespace

GroupIdentity make_group_identity(const ReleasePlan& plan, TupleDesc columns) {
  GroupIdentity identity{};
  identity.count = list_length(plan.sort_columns);
  identity.columns = static_cast<AttrNumber*>(palloc0(identity.count * sizeof(AttrNumber) + 1));
  identity.collations = static_cast<Oid*>(palloc0(identity.count * sizeof(Oid) + 1));
  identity.hashes = static_cast<FmgrInfo*>(palloc0(identity.count * sizeof(FmgrInfo) + 1));
  for (int i = 0; i < identity.count; ++i) {
    const int column = list_nth_int(plan.sort_columns, i);
    identity.columns[i] = static_cast<AttrNumber>(column);
    identity.collations[i] = list_nth_oid(plan.collations, i);
    look_up_hash(TupleDescAttr(columns, column - 1)->atttypid, &identity.hashes[i]);
  }
  return identity;
}

uint64 identity_of(GroupIdentity& identity, TupleTableSlot* group) {
  uint64 combined = 0;
  for (int i = 0; i < identity.count; ++i) {
    bool is_null;
    const Datum key = slot_getattr(group, identity.columns[i], &is_null);
    const uint64 hash =
        is_null ? 0
                : DatumGetUInt64(FunctionCall2Coll(&identity.hashes[i], identity.collations[i], key,
                                                   UInt64GetDatum(1)));
    combined = hash_combine64(combined, hash);
  }
  return combined;
}

}  // namespace dpquantile
