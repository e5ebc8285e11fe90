#include "pg/owner/own_relation.hpp"

#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

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

}  // namespace

Oid lock_own_relation(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) {
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("relation must be a table or a view, got NULL"),
                    errhint("Name it as in SQL, for example 'staff'.")));
  }
  const Oid relation = PG_GETARG_OID(0);
  require_owner(relation);
  LockRelationOid(relation, AccessShareLock);
  require_owner(relation);
  return relation;
}

void InternalCall::add(Oid type, NullableDatum value) {
  if (count_ == kMost) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("function %s has too many arguments", function_),
                    errhint("Report this to the maintainers of dpquantile.")));
  }
  types_[count_] = type;
  values_[count_++] = value;
}

void InternalCall::add_text(const char* value) {
  const bool is_null = value == nullptr;
  add(TEXTOID, {is_null ? 0 : CStringGetTextDatum(value), is_null});
}

Datum InternalCall::result() const {
  const Oid oid = own_function(function_, buildoidvector(types_, count_));
  if (!OidIsValid(oid)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("function dpquantile.%s of the extension is missing", function_)));
  }
  FmgrInfo function;
  fmgr_info(oid, &function);
  LOCAL_FCINFO(call, kMost);
  InitFunctionCallInfoData(*call, &function, static_cast<short>(count_), InvalidOid, nullptr,
                           nullptr);
  memcpy(call->args, values_, static_cast<Size>(count_) * sizeof(NullableDatum));
  return FunctionCallInvoke(call);
}

}  // namespace dpquantile
