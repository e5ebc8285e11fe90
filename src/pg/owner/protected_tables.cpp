// The functions by which owners protect tables, and the trigger that tells other sessions of
// changes.
#include "pg/aggregate/user_hash.hpp"
#include "pg/facts/shared_rows.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/owner/own_relation.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/postgres.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr AttrNumber kRelationColumn = 1;

// Calls the internal function with the arguments of the called one and the caller.
Datum call_for_owner(FunctionCallInfo fcinfo, const char* name) {
  lock_own_relation(fcinfo);
  Oid* types;
  int count;
  get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
  InternalCall call(name);
  for (int i = 0; i < count; ++i) call.add(types[i], fcinfo->args[i]);
  call.add(OIDOID, {ObjectIdGetDatum(GetUserId()), false});
  return call.result();
}

void require_object(SysCacheIdentifier cache, Oid object, const char* kind) {
  if (SearchSysCacheExists1(cache, ObjectIdGetDatum(object))) return;
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no %s with OID %u", kind, object),
           errhint("Give the type and the collation of a column, as in pg_attribute.")));
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

// (relation regclass, user_id name, max_rows integer, unit name, through regclass) returns void
DPQ_FUNCTION(dpq_protect_table) {
  return call_for_owner(fcinfo, "set_protection");
}

// (relation regclass) returns void
DPQ_FUNCTION(dpq_unprotect_table) {
  return call_for_owner(fcinfo, "end_protection");
}

// (relation regclass, role regrole, smallest_epsilon float8, epsilon float8, delta float8, reuse
// interval, most_cancels integer, max_epsilon float8) returns void
DPQ_FUNCTION(dpq_grant_private_access) {
  return call_for_owner(fcinfo, "set_private_grant");
}

// (relation regclass, role text) returns void
DPQ_FUNCTION(dpq_revoke_private_access) {
  return call_for_owner(fcinfo, "end_private_grant");
}

// (relation regclass, role regrole) returns void
DPQ_FUNCTION(dpq_open_private_access) {
  return call_for_owner(fcinfo, "open_private_access");
}

// (relation regclass, user_column name) returns regclass: the protected table because of whose
// users queries of a materialized view, or of a view of one, are refused, or NULL.
DPQ_FUNCTION(dpq_table_with_other_users) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  const char* user_column = PG_ARGISNULL(1) ? "" : NameStr(*PG_GETARG_NAME(1));
  const Oid table = table_with_other_users(PG_GETARG_OID(0), user_column);
  if (!OidIsValid(table)) PG_RETURN_NULL();
  PG_RETURN_OID(table);
}

// (index oid) returns text: why the predicate of an index closes its table, or NULL.
DPQ_FUNCTION(dpq_problem_of_predicate) {
  const char* problem = problem_of_predicate(PG_GETARG_OID(0));
  if (problem == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(problem));
}

// (relation regclass, user_id name, through regclass, unit name) returns text: why the rows of a
// table that is protected so do not lead to persons, or NULL.
DPQ_FUNCTION(dpq_problem_of_reference) {
  ProtectedRelation protection{};
  protection.relation = PG_GETARG_OID(0);
  protection.user_column = kUsersOfReference;
  protection.user_column_name = *PG_GETARG_NAME(1);
  protection.reference_column =
      get_attnum(protection.relation, NameStr(protection.user_column_name));
  protection.through = PG_GETARG_OID(2);
  protection.unit = *PG_GETARG_NAME(3);
  const char* problem = problem_of_reference(protection);
  if (problem == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(problem));
}

// (user_id "any", max_rows integer) returns boolean: a mark in FILTER, whose value a node of the
// plan gives (pg/limits/row_limit.hpp). Elsewhere it fails for the first row, whatever the row is.
DPQ_FUNCTION(dpq_limited_row) {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("dpquantile.limited_row() must be a condition in FILTER of a private aggregate"),
           errhint("Queries over tables that are protected with max_rows get it by themselves.")));
  PG_RETURN_NULL();
}

// (key "any", secret bigint, bigint) returns bigint: a hash of a key of a group.
DPQ_FUNCTION(dpq_group_hash) {
  FmgrInfo* function = fcinfo->flinfo;
  if (unlikely(function->fn_extra == nullptr)) {
    const auto* call = as<FuncExpr>(function->fn_expr);
    if (call == nullptr || !IsA(call, FuncExpr)) {
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("dpquantile.group_hash() must be called in a query")));
    }
    const int64 halves[] = {PG_GETARG_INT64(1), PG_GETARG_INT64(2)};
    SipKey key;
    static_assert(sizeof(halves) == sizeof(key));
    memcpy(key.data(), halves, sizeof(halves));
    function->fn_extra =
        make_value_hash(static_cast<const Node*>(linitial(call->args)), key, function->fn_mcxt);
  }
  const uint64 hash = hash_user(static_cast<UserHash*>(function->fn_extra), PG_GETARG_DATUM(0));
  PG_RETURN_INT64(static_cast<int64>(hash));
}

// (type oid, collation oid) returns boolean: whether the user argument takes such a column
DPQ_FUNCTION(dpq_identifies_users) {
  const Oid type = PG_GETARG_OID(0);
  const Oid collation = PG_GETARG_OID(1);
  require_object(TYPEOID, type, "type");
  if (OidIsValid(collation)) require_object(COLLOID, collation, "collation");
  PG_RETURN_BOOL(identifies_users(type, collation));
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
  PG_RETURN_POINTER(static_cast<void*>(nullptr));
}
