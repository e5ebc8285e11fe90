// The functions by which owners protect tables, and the trigger that tells other sessions of
// changes.
#include "pg/aggregate/user_hash.hpp"
#include "pg/protect/own_function.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr int kMaxArguments = 4;
constexpr AttrNumber kRelationColumn = 1;

// The current user counts, not the role that is charged: code of others may run for a table's
// owner, for example as a function of an index.
void require_owner(Oid relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist", relation)));
  }
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relowner;
  ReleaseSysCache(row);
  if (has_privs_of_role(GetUserId(), owner)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("must be owner of relation %s", get_rel_name(relation)),
                  errhint("The owner of a table protects it and grants private access to it.")));
}

// Until the end of the transaction nobody drops or renames the relation, or changes its columns.
void lock_own_relation(Oid relation) {
  require_owner(relation);
  LockRelationOid(relation, AccessShareLock);
  require_owner(relation);
}

// The function of schema dpquantile with the arguments of the called one and the caller.
Oid find_internal(const char* name, Oid called) {
  Oid* types;
  int count;
  get_func_signature(called, &types, &count);
  Oid with_caller[kMaxArguments];
  memcpy(with_caller, types, count * sizeof(Oid));
  with_caller[count] = OIDOID;
  const Oid function = own_function(name, buildoidvector(with_caller, count + 1));
  if (!OidIsValid(function)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("function dpquantile.%s of the extension is missing", name)));
  }
  return function;
}

// Calls the internal function, which runs with the rights of the extension's owner and which no
// other role may call.
Datum call_for_owner(FunctionCallInfo fcinfo, const char* name) {
  if (PG_ARGISNULL(0)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("relation must be a table or a view, got NULL"),
                    errhint("Name it as in SQL, for example 'staff'.")));
  }
  lock_own_relation(PG_GETARG_OID(0));
  FmgrInfo function;
  fmgr_info(find_internal(name, fcinfo->flinfo->fn_oid), &function);
  LOCAL_FCINFO(call, kMaxArguments);
  const auto count = static_cast<short>(PG_NARGS());
  InitFunctionCallInfoData(*call, &function, count + 1, InvalidOid, nullptr, nullptr);
  memcpy(call->args, fcinfo->args, count * sizeof(NullableDatum));
  call->args[count] = {ObjectIdGetDatum(GetUserId()), false};
  return FunctionCallInvoke(call);
}

// Plans that read the relation are made anew. It may be gone.
void invalidate_plans(HeapTuple row, TupleDesc columns) {
  bool is_null = false;
  const Datum relation = heap_getattr(row, kRelationColumn, columns, &is_null);
  HeapTuple found = SearchSysCache1(RELOID, relation);
  if (!HeapTupleIsValid(found)) return;
  CacheInvalidateRelcacheByTuple(found);
  ReleaseSysCache(found);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (relation regclass, user_id name) returns void
DPQ_FUNCTION(dpq_protect_table) {
  return call_for_owner(fcinfo, "set_protection");
}

// (relation regclass) returns void
DPQ_FUNCTION(dpq_unprotect_table) {
  return call_for_owner(fcinfo, "end_protection");
}

// (relation regclass, role regrole, smallest_epsilon float8) returns void
DPQ_FUNCTION(dpq_grant_private_access) {
  return call_for_owner(fcinfo, "set_private_grant");
}

// (relation regclass, role text) returns void
DPQ_FUNCTION(dpq_revoke_private_access) {
  return call_for_owner(fcinfo, "end_private_grant");
}

// (type oid, collation oid) returns boolean: whether the user argument takes such a column
DPQ_FUNCTION(dpq_identifies_users) {
  PG_RETURN_BOOL(identifies_users(PG_GETARG_OID(0), PG_GETARG_OID(1)));
}

// () returns trigger of the tables of protected tables and of private grants: sessions read these
// tables again, and plan again what reads the tables that changed rows name.
DPQ_FUNCTION(dpq_protection_changed) {
  if (!CALLED_AS_TRIGGER(fcinfo)) {
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("protection_changed() must be called as a trigger")));
  }
  const auto* data = reinterpret_cast<const TriggerData*>(fcinfo->context);
  CacheInvalidateRelcache(data->tg_relation);
  const TupleDesc columns = RelationGetDescr(data->tg_relation);
  if (data->tg_trigtuple != nullptr) invalidate_plans(data->tg_trigtuple, columns);
  if (data->tg_newtuple != nullptr) invalidate_plans(data->tg_newtuple, columns);
  PG_RETURN_POINTER(nullptr);
}
